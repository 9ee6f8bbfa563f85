// @module-tag slow
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFolderWorld, type FolderWorld } from '../support/prompt-folder.ts';

let world: FolderWorld;
beforeEach(async () => {
  world = await startFolderWorld();
});
afterEach(() => world.close());

const issues = async () =>
  (await world.folder()).issues.map(({ path, kind, promptName }) => `${kind} ${path} ${promptName}`);

test('a linked folder appears in the library with its subfolders, and unreadable files with their reasons', async () => {
  world.write('greeting.prompt', '---\nname: Greeting\ntouchstone.tags: [a]\n---\nHello {{name}}\n');
  world.write('support/mail/reply.prompt', 'Dear {{name}}\n');
  world.write('broken.prompt', '---\nname: [\n---\nx');
  world.write('_partial.prompt', 'I am included');
  world.write('notes.txt', 'not a prompt');
  world.write('.git/hidden.prompt', 'hidden');
  world.write('node_modules/a/hidden.prompt', 'hidden');
  const folder = await world.link('Team');
  expect([folder.state, folder.folder, folder.files]).toEqual(['watching', 'Team', 2]);
  expect(await world.library()).toEqual(['Team/Greeting: Hello {{name}}', 'Team/support/mail/reply: Dear {{name}}']);
  expect(folder.issues.map(({ path, kind, message }) => [path, kind, message])).toEqual([
    ['_partial.prompt', 'partial', expect.stringContaining('include')],
    ['broken.prompt', 'broken', expect.stringContaining('YAML')],
  ]);
});

test('changes on disk appear automatically: new, changed, moved and deleted files', async () => {
  world.write('a.prompt', 'First');
  await world.link('Team');
  world.write('sub/b.prompt', 'New');
  world.write('a.prompt', 'Second');
  await world.until(async () => expect(await world.library()).toEqual(['Team/a: Second', 'Team/sub/b: New']));
  expect((await world.versions('a')).map(({ promptText, note }) => [promptText, note])).toEqual([
    ['Second', 'Read from a.prompt'],
    ['First', 'Read from a.prompt'],
  ]);
  const { id } = await world.prompt('a');
  mkdirSync(join(world.root, 'moved'));
  renameSync(join(world.root, 'a.prompt'), join(world.root, 'moved/c.prompt'));
  await world.until(async () => expect(await world.library()).toEqual(['Team/moved/c: Second', 'Team/sub/b: New']));
  expect((await world.prompt('c')).id).toBe(id);
  rmSync(join(world.root, 'moved'), { recursive: true });
  await world.until(async () => expect(await issues()).toEqual(['file-missing moved/c.prompt c']));
  expect(await world.library()).toEqual(['Team/moved/c: Second', 'Team/sub/b: New']);
});

test('renaming a folder with files of equal text keeps every prompt', async () => {
  for (const name of ['a', 'b', 'c']) world.write(`old/${name}.prompt`, 'Same text');
  await world.link('Team');
  const ids = async (...names: string[]) => Promise.all(names.map(async (name) => (await world.prompt(name)).id));
  const before = await ids('a', 'b', 'c');
  // One file gets another name, which sorts first.
  renameSync(join(world.root, 'old/c.prompt'), join(world.root, 'old/0.prompt'));
  renameSync(join(world.root, 'old'), join(world.root, 'new'));
  await world.scan();
  expect(await world.library()).toEqual(['Team/new/0: Same text', 'Team/new/a: Same text', 'Team/new/b: Same text']);
  expect(await ids('a', 'b', '0')).toEqual(before);
});

test('a rename in the library survives a move of the file', async () => {
  world.write('a.prompt', '---\nname: A\n---\nText');
  await world.link('Team');
  const away = `${world.root}-away`;
  renameSync(world.root, away);
  await world.ask('PATCH', `/prompts/${(await world.prompt('A')).id}`, { name: 'Renamed' });
  mkdirSync(join(away, 'sub'));
  renameSync(join(away, 'a.prompt'), join(away, 'sub/a.prompt'));
  renameSync(away, world.root);
  await world.scan();
  expect([world.read('sub/a.prompt'), await world.library()]).toEqual([
    '---\nname: Renamed\n---\nText',
    ['Team/sub/Renamed: Text'],
  ]);
});

test('prompts with long or reserved names, or a space at the end, get a file', async () => {
  await world.link('Team');
  const create = (name: string, folder: string) => world.ask('POST', '/prompts', { name, folder, promptText: 'Hi' });
  await create('客'.repeat(80), 'Team');
  await create('😀'.repeat(80), 'Team');
  await create('x', 'Team/node_modules');
  await create('Name ', 'Team');
  await world.scan();
  const { issues: found, files } = await world.scan();
  expect([found, files]).toEqual([[], 4]);
});

test('a file over the limit is not overwritten, for that reason', async () => {
  world.write('a.prompt', 'First');
  await world.link('Team');
  world.write('a.prompt', 'x'.repeat(1_100_000));
  await world.scan();
  expect(await world.resolveConflict('a.prompt', 'mine')).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('larger than 1 MB') } },
  });
});

test('saving a version writes the file and keeps its other fields', async () => {
  const text =
    '---\n# ours\nmodel: unknown/one # later\nowner.team: [a,  b]\n---\n{{role "system"}}\nBrief.\n\n{{role "user"}}\nHello\n';
  world.write('a.prompt', text);
  chmodSync(join(world.root, 'a.prompt'), 0o640);
  await world.link('Team');
  await world.save('a', { promptText: 'Hello {{name}}', systemMessage: 'Brief.' });
  await world.until(async () => expect(world.read('a.prompt')).toBe(text.replace('Hello', 'Hello {{name}}')));
  expect(readdirSync(world.root)).toEqual(['a.prompt']);
  await world.scan();
  expect((await world.versions('a')).length).toBe(2);
  expect(await issues()).toEqual([]);
});

test('a new prompt in the folder gets a file, and its changes of name or folder move the file', async () => {
  await world.link('Team');
  await world.ask('POST', '/prompts', { name: 'A: b?', folder: 'Team/x', promptText: 'Hi {{name}}' });
  await world.until(async () => expect(world.read('x/A- b.prompt')).toBe('---\nname: "A: b?"\n---\nHi {{name}}\n'));
  await world.until(async () => expect((await world.folder()).files).toBe(1));
  const { id } = await world.prompt('A: b?');
  await world.ask('PATCH', `/prompts/${id}`, { name: 'Renamed', folder: 'Team/y' });
  await world.until(async () => expect(world.read('y/A- b.prompt')).toBe('---\nname: "Renamed"\n---\nHi {{name}}\n'));
  await world.until(async () => expect(existsSync(join(world.root, 'x/A- b.prompt'))).toBe(false));
  await world.ask('PATCH', `/prompts/${id}`, { folder: 'Elsewhere' });
  await world.scan();
  expect([await world.library(), await issues()]).toEqual([['Elsewhere/Renamed: Hi {{name}}'], []]);
  expect(world.read('y/A- b.prompt')).toContain('Hi');
});

async function conflict(): Promise<void> {
  world.write('a.prompt', 'Base\n');
  await world.link('Team');
  await world.changeBoth('a', '---\ndescription: Theirs\n---\nTheir text\n', { promptText: 'My text' });
  expect(await issues()).toEqual(['conflict a.prompt a']);
}

test('conflicting changes are shown side by side, and nothing is overwritten', async () => {
  await conflict();
  const { mine, file } = await world.sides('a.prompt');
  expect([mine?.promptText, file?.prompt?.promptText, file?.prompt?.description]).toEqual([
    'My text',
    'Their text',
    'Theirs',
  ]);
  expect([world.read('a.prompt'), await world.library()]).toEqual([
    '---\ndescription: Theirs\n---\nTheir text\n',
    ['Team/a: My text'],
  ]);
});

test('a conflict is resolved with the prompt, with the file, or with a merged text', async () => {
  await conflict();
  expect((await world.resolveConflict('a.prompt', 'mine')).status).toBe(200);
  expect([world.read('a.prompt'), await issues()]).toEqual(['My text\n', []]);

  await world.changeBoth('a', 'Their second\n', { promptText: 'My second' });
  expect(await issues()).toEqual(['conflict a.prompt a']);
  expect((await world.resolveConflict('a.prompt', 'file')).status).toBe(200);
  expect([await world.library(), await issues()]).toEqual([['Team/a: Their second'], []]);

  await world.changeBoth('a', '---\nowner.of: me\n---\nTheir third\n', { promptText: 'My third' });
  expect(await issues()).toEqual(['conflict a.prompt a']);
  const prompt = { name: 'a', promptText: 'Third of both', description: 'Merged' };
  expect((await world.resolveConflict('a.prompt', 'merged', { prompt })).status).toBe(200);
  expect([world.read('a.prompt'), await world.library(), await issues()]).toEqual([
    '---\nowner.of: me\ndescription: Merged\n---\nThird of both\n',
    ['Team/a: Third of both'],
    [],
  ]);
});

test('rejects a decision about sides that have changed since', async () => {
  await conflict();
  const { versionId, file } = await world.sides('a.prompt');
  const seen = { path: 'a.prompt', versionId, hash: file!.hash };
  const { id } = await world.folder();
  world.write('a.prompt', 'Changed again\n');
  expect((await world.ask('POST', `/window/prompt-folders/${id}/settle`, { ...seen, choice: 'mine' })).status).toBe(
    409,
  );
  expect(world.read('a.prompt')).toBe('Changed again\n');
  await world.save('a', { promptText: 'Mine again' });
  const hash = (await world.sides('a.prompt')).file!.hash;
  const stale = { ...seen, hash, choice: 'file' };
  expect((await world.ask('POST', `/window/prompt-folders/${id}/settle`, stale)).status).toBe(409);
  expect(await world.library()).toEqual(['Team/a: Mine again']);
});

test('a missing file and a file of a deleted prompt wait for a decision', async () => {
  world.write('a.prompt', 'A');
  world.write('b.prompt', 'B');
  world.write('c.prompt', 'C');
  await world.link('Team');
  rmSync(join(world.root, 'a.prompt'));
  rmSync(join(world.root, 'c.prompt'));
  await world.ask('DELETE', `/prompts/${(await world.prompt('b')).id}`);
  await world.until(async () =>
    expect(await issues()).toEqual(['file-missing a.prompt a', 'prompt-deleted b.prompt b', 'file-missing c.prompt c']),
  );
  await world.resolveConflict('a.prompt', 'mine');
  await world.resolveConflict('b.prompt', 'mine');
  await world.resolveConflict('c.prompt', 'file');
  expect([readdirSync(world.root), await world.library(), await issues()]).toEqual([['a.prompt'], ['Team/a: A'], []]);
  await world.ask('DELETE', `/prompts/${(await world.prompt('a')).id}`);
  await world.until(async () => expect(await issues()).toEqual(['prompt-deleted a.prompt a']));
  await world.resolveConflict('a.prompt', 'file');
  expect([await world.library(), await issues()]).toEqual([['Team/a: A'], []]);
});

test('a new prompt that could not be written is written or stays, and is never deleted', async () => {
  await world.link('Team');
  writeFileSync(join(world.root, 'sub'), 'a file with the name of a folder');
  await world.ask('POST', '/prompts', { name: 'a', folder: 'Team/sub', promptText: 'Hello' });
  await world.scan();
  expect(await issues()).toEqual(['not-written sub/a.prompt a']);
  expect((await world.folder()).issues[0]?.message).toBe('A file has the name of its folder');
  expect((await world.resolveConflict('sub/a.prompt', 'file')).status).toBe(409);
  expect(await world.library()).toEqual(['Team/sub/a: Hello']);
  // Nothing reports this: the watcher ignores files that aren't prompts.
  rmSync(join(world.root, 'sub'));
  expect((await world.resolveConflict('sub/a.prompt', 'mine')).status).toBe(200);
  expect([world.read('sub/a.prompt'), await issues()]).toEqual(['---\nname: a\n---\nHello\n', []]);
});

test('a new prompt whose file name belongs to a link is reported', async () => {
  await world.link('Team');
  symlinkSync('/etc/hostname', join(world.root, 'new.prompt'));
  await world.ask('POST', '/prompts', { name: 'new', folder: 'Team', promptText: 'Hi' });
  const { issues: found } = await world.scan();
  expect(found).toMatchObject([{ kind: 'not-written', promptName: 'new', message: expect.stringContaining('name') }]);
});

test('says why the file of a new prompt can not be written', async () => {
  await world.link('Team');
  await world.ask('POST', '/prompts', { name: 'a', folder: 'Team', promptText: 'Act as {{role}}' });
  await world.scan();
  expect(await issues()).toEqual(['not-written a.prompt a']);
  expect(await world.resolveConflict('a.prompt', 'mine')).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('rename the variable') } },
  });
});

test('an unreadable file is neither imported nor overwritten until a person decides', async () => {
  world.write('a.prompt', 'Good');
  await world.link('Team');
  world.write('a.prompt', '---\nname: [\n---\nBad');
  await world.until(async () => expect(await issues()).toEqual(['broken a.prompt a']));
  await world.save('a', { promptText: 'Saved' });
  await world.scan();
  expect([await world.library(), world.read('a.prompt')]).toEqual([['Team/a: Saved'], '---\nname: [\n---\nBad']);
  expect((await world.resolveConflict('a.prompt', 'file')).status).toBe(400);
  expect((await world.resolveConflict('a.prompt', 'mine')).status).toBe(200);
  expect([world.read('a.prompt'), await issues()]).toEqual(['---\nname: a\n---\nSaved\n', []]);
});

test('a file with roles and history is read and written without loss', async () => {
  const text = '{{role "system"}}Be brief.{{history}}{{role "user"}}Hello';
  world.write('a.prompt', text);
  await world.link('Team');
  expect(await world.library()).toEqual([`Team/a: ${text}`]);
  await world.save('a', { promptText: text.replace('Hello', 'Bye') });
  await world.until(async () => expect(world.read('a.prompt')).toBe(text.replace('Hello', 'Bye')));
  expect(await issues()).toEqual([]);
});

test('unlinking keeps files and prompts, and linking again reconnects them', async () => {
  world.write('a.prompt', 'A');
  world.write('b.prompt', 'B');
  const { id } = await world.link('Team');
  expect((await world.ask('DELETE', `/window/prompt-folders/${id}`)).status).toBe(204);
  world.write('b.prompt', 'B changed');
  await world.save('b', { promptText: 'B of mine' });
  await world.ask('POST', '/prompts', { name: 'later', folder: 'Team', promptText: 'x' });
  expect([await world.library(), readdirSync(world.root)]).toEqual([
    ['Team/a: A', 'Team/b: B of mine', 'Team/later: x'],
    ['a.prompt', 'b.prompt'],
  ]);
  await world.link('Team');
  expect(await issues()).toEqual(['conflict b.prompt b', 'file-missing later.prompt later']);
  expect([await world.library(), readdirSync(world.root)]).toEqual([
    ['Team/a: A', 'Team/b: B of mine', 'Team/later: x'],
    ['a.prompt', 'b.prompt'],
  ]);
});

test('a folder that becomes unavailable keeps its prompts, and is scanned when it is back', async () => {
  world.write('a.prompt', 'A');
  await world.link('Team');
  renameSync(world.root, `${world.root}-away`);
  const away = await world.scan();
  expect([away.state, away.issues, await world.library()]).toEqual(['unavailable', [], ['Team/a: A']]);
  await world.save('a', { promptText: 'Saved meanwhile' });
  renameSync(`${world.root}-away`, world.root);
  const back = await world.scan();
  expect([back.state, back.failure, world.read('a.prompt')]).toEqual(['watching', null, 'Saved meanwhile']);
});

test('switching git branches changes prompts there and back', async () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd: world.root, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  for (let index = 0; index < 30; index += 1) world.write(`p${index}.prompt`, `Main ${index}`);
  git('add', '.');
  git('commit', '-qm', 'main');
  git('checkout', '-qb', 'other');
  for (let index = 0; index < 30; index += 1) world.write(`p${index}.prompt`, `Other ${index}`);
  rmSync(join(world.root, 'p0.prompt'));
  world.write('only-other.prompt', 'Only here');
  git('add', '-A');
  git('commit', '-qm', 'other');
  await world.link('Team');
  const ids = new Map((await prompts()).map(({ id, name }) => [name, id]));
  git('checkout', '-q', 'main');
  const main = Array.from({ length: 30 }, (_, index) => `Team/p${index}: Main ${index}`);
  await world.until(async () =>
    expect(await world.library()).toEqual([...main, 'Team/only-other: Only here'].toSorted()),
  );
  await world.until(async () => expect(await issues()).toEqual(['file-missing only-other.prompt only-other']));
  git('checkout', '-q', 'other');
  await world.until(async () =>
    expect((await world.library()).filter((line) => line.includes('Other')).length).toBe(29),
  );
  await world.until(async () => expect(await issues()).toEqual(['file-missing p0.prompt p0']));
  const after = await prompts();
  expect(after.filter(({ id, name }) => ids.has(name) && ids.get(name) !== id)).toEqual([]);
  expect(git('status', '--porcelain').toString()).toBe('');
});

const prompts = async () =>
  (await world.ask<{ data: { id: string; name: string }[] }>('GET', '/prompts?pageSize=100')).body.data;

test("doesn't follow links, in or out", async () => {
  const outside = `${world.root}-outside`;
  mkdirSync(outside);
  try {
    writeFileSync(join(outside, 'secret.prompt'), 'secret');
    symlinkSync(outside, join(world.root, 'dir'));
    symlinkSync(join(outside, 'secret.prompt'), join(world.root, 'file.prompt'));
    world.write('real/a.prompt', 'A');
    await world.link('Team');
    expect(await world.library()).toEqual(['Team/real/a: A']);
    // The folder of a file becomes a link while its prompt is changed.
    renameSync(join(world.root, 'real'), join(outside, 'real'));
    symlinkSync(join(outside, 'real'), join(world.root, 'real'));
    await world.save('a', { promptText: 'B' });
    await world.scan();
    expect(await issues()).toEqual(['file-missing real/a.prompt a']);
    expect((await world.resolveConflict('real/a.prompt', 'mine')).status).not.toBe(200);
    expect(readdirSync(join(outside, 'real'))).toEqual(['a.prompt']);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test.each([
  ['not/absolute', 400],
  ['/', 400],
  ['/nowhere/at/all', 400],
])('rejects linking %s', async (path, status) => {
  expect((await world.ask('POST', '/window/prompt-folders', { path })).status).toBe(status);
});

test('a folder can be linked once, and no folder inside it', async () => {
  world.write('inner/a.prompt', 'A');
  await world.link();
  const link = async (path: string, folder?: string) =>
    (await world.ask('POST', '/window/prompt-folders', { path, folder })).status;
  expect([await link(world.root), await link(join(world.root, 'inner')), await link(join(world.root, '..'))]).toEqual([
    409, 409, 409,
  ]);
});

test('reports a file that exceeds the limit of prompts, and no API key can reach the folders', async () => {
  world.write('big.prompt', 'x'.repeat(1_100_000));
  const folder = await world.link();
  expect(folder.issues.map(({ kind, message }) => [kind, message])).toEqual([
    ['broken', expect.stringContaining('1 MB')],
  ]);
  const { status } = await world.host.send('HTTP/1.1', {
    path: '/window/prompt-folders',
    headers: { authorization: `Bearer ${world.host.key}` },
  });
  expect(status).toBe(404);
});
