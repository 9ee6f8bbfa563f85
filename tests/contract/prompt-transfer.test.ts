import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportedFile, PreviewedSource } from '../../shared/contract/prompt-transfer.ts';
import type { Prompt } from '../../shared/contract/prompts.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { fixture } from '../support/prompt-transfer.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

/** Fields of all the answers here. */
interface AnswerBody {
  readonly data: readonly Prompt[];
  readonly prompts: readonly Prompt[];
  readonly sources: readonly PreviewedSource[];
  readonly files: readonly ExportedFile[];
  readonly archive: { readonly name: string; readonly base64: string };
  readonly error: { readonly details: readonly { readonly field: string }[] };
}

/** What the person at the window asks for. */
async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }> {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await host.host.api.fetch(request, { access: 'window' });
  return { status: answer.status, body: (await answer.json()) as AnswerBody };
}

const file = (name: string) => ({ name: name.split('/')[1]!, base64: fixture(name).toString('base64') });
const count = async () => (await ask('GET', '/prompts?pageSize=100')).body.data.length;

test('a preview stores nothing; an import saves the selected prompts in its folder', async () => {
  const before = await count();
  const sources = [
    file('dotprompt/support-reply.prompt'),
    file('promptfoo/promptfooconfig.yaml'),
    file('langfuse/chat.json'),
  ];
  const preview = await ask('POST', '/window/prompts/import/preview', { sources, folder: 'Brought' });
  const found = preview.body.sources.flatMap((source) => source.prompts.map((one) => [one.index, one.prompt.name]));
  expect([preview.status, found, await count()]).toEqual([
    200,
    [
      [0, 'support-reply'],
      [1, 'Translation check 1'],
      [2, 'polite'],
      [3, 'movie-critic'],
    ],
    before,
  ]);
  const stored = await ask('POST', '/window/prompts/import', { sources, folder: 'Brought', chosen: [3, 0] });
  const names = stored.body.prompts.map((one) => [one.name, one.folder]);
  expect([stored.status, names, await count()]).toEqual([
    201,
    [
      ['movie-critic', 'Brought'],
      ['support-reply', 'Brought'],
    ],
    before + 2,
  ]);
});

test.each([
  [{ sources: [] }, 400, 'sources'],
  [{ sources: [{ name: 'a' }] }, 400, 'sources[0]'],
  [{ sources: [{ name: 'a', text: 'x', base64: 'eA==' }] }, 400, 'sources[0]'],
  [{ sources: [{ name: 'a', base64: '***' }] }, 400, 'sources[0].base64'],
  [{ sources: [{ name: 'a', text: 'x' }], chosen: [0, 7] }, 400, 'chosen'],
  [{ sources: [{ name: 'a.prompt', text: '---\n[' }] }, 400, 'sources'],
  [{ sources: [{ name: 'a', text: 'x' }], format: 'word' }, 400, 'format'],
  [{ sources: [{ name: 'a', text: 'x'.repeat(3_100_000) }] }, 400, 'sources'],
  [{ sources: [{ name: 'a', text: 'x' }], uploadId: '00000000-0000-4000-8000-000000000000' }, 400, 'sources'],
  [{ uploadId: '00000000-0000-4000-8000-000000000000' }, 404, undefined],
  [{ sources: [{ name: 'a', text: 'x'.repeat(4_200_000) }] }, 413, undefined],
  [
    { sources: [{ name: 'a.jsonl', text: '{"messages":[{"role":"user","content":"x"}]}\n'.repeat(1001) }] },
    400,
    'sources',
  ],
])('a rejected import leaves the library unchanged (%#)', async (body, status, field) => {
  const before = await count();
  const answer = await ask('POST', '/window/prompts/import', body);
  expect([answer.status, answer.body.error.details[0]?.field, await count()]).toEqual([status, field, before]);
});

test('files too large for one request are uploaded in parts as one import', async () => {
  const before = await count();
  const line = (text: string) => `${JSON.stringify({ messages: [{ role: 'user', content: text }] })}\n`;
  const whole = Buffer.from(line('a'.repeat(2_600_000)) + line('The second prompt'));
  const [head, tail] = [whole.subarray(0, 2_500_000), whole.subarray(2_500_000)];
  const part = (bytes: Buffer, name: string, isContinued: boolean) => ({
    name,
    base64: bytes.toString('base64'),
    isContinued,
  });
  const upload = (uploadId: string | null, sources: unknown[]) =>
    ask('POST', '/window/prompts/import/uploads', { uploadId, sources });
  const first = await upload(null, [part(head, 'many.jsonl', false)]);
  const { uploadId } = first.body as unknown as { uploadId: string };
  const second = await upload(uploadId, [part(tail, 'many.jsonl', true), part(Buffer.from('Hello'), 'b.txt', false)]);
  expect([first.status, second.status, second.body]).toEqual([
    201,
    201,
    { uploadId, files: 2, bytes: whole.length + 5 },
  ]);
  const stored = await ask('POST', '/window/prompts/import', { uploadId });
  expect([stored.status, stored.body.prompts.map(({ name }) => name), await count()]).toEqual([
    201,
    ['many 1', 'many 2', 'b'],
    before + 3,
  ]);
  expect((await ask('POST', '/window/prompts/import', { uploadId })).status).toBe(404);
});

test('rejects and drops an upload beyond the limits of an import', async () => {
  const megabytes = Buffer.alloc(2_500_000, 'x').toString('base64');
  let uploadId: string | null = null;
  const statuses: number[] = [];
  for (let part = 0; part < 10; part += 1) {
    const answer = await ask('POST', '/window/prompts/import/uploads', {
      uploadId,
      sources: [{ name: 'huge.txt', base64: megabytes, isContinued: part > 0 }],
    });
    statuses.push(answer.status);
    uploadId ??= (answer.body as unknown as { uploadId: string }).uploadId;
  }
  expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 201, 201, 413, 404]);
});

test('an import that fails in the middle saves nothing', async () => {
  const before = await count();
  const inputs = [
    { name: 'first', promptText: 'x' },
    { name: 'second', promptText: 'y' },
    { name: 'third', promptText: 'z' },
  ];
  const store = host.host.storage.prompts;
  const rows = inputs.map(({ name, promptText }) => ({
    prompt: { name, folder: null, tags: [], description: null },
    version: {
      promptText,
      systemMessage: null,
      aiSystem: null,
      model: null,
      configuration: null,
      variables: [],
      note: null,
    },
  }));
  // The last one cannot be written: a text is required.
  rows[2]!.version.promptText = null as never;
  expect(() => store.createAll(rows)).toThrow(/NOT NULL/);
  expect(await count()).toBe(before);
});

test('exports prompts as files, and as an archive that unpacks to the same files', async () => {
  const sources = [
    { name: 'a.txt', text: 'Hi {{name}}' },
    { name: 'A.txt', text: 'Hello' },
  ];
  const { body } = await ask('POST', '/window/prompts/import', { sources, folder: 'Mail' });
  const prompts = body.prompts.map(({ id }: { id: string }) => ({ id }));
  const { body: plain } = await ask('POST', '/window/prompts/export', { prompts, format: 'dotprompt' });
  expect(plain.files.map((each) => each.name)).toEqual(['Mail/a.prompt', 'Mail/A 2.prompt']);
  const { body: zip } = await ask('POST', '/window/prompts/export', { prompts, format: 'dotprompt', isZipped: true });
  const directory = mkdtempSync(join(tmpdir(), 'prompts-'));
  try {
    const path = join(directory, zip.archive.name);
    writeFileSync(path, Buffer.from(zip.archive.base64, 'base64'));
    const unpack =
      'import sys,zipfile,json;z=zipfile.ZipFile(sys.argv[1]);print(json.dumps([{"name":n,"content":z.read(n).decode()} for n in z.namelist()]))';
    expect([zip.files, JSON.parse(execFileSync('python3', ['-c', unpack, path], { encoding: 'utf8' }))]).toEqual([
      [],
      plain.files,
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("doesn't export an unknown prompt, or a version of another one", async () => {
  const { body } = await ask('POST', '/window/prompts/import', {
    sources: [
      { name: 'a', text: '1' },
      { name: 'b', text: '2' },
    ],
  });
  const [first, second] = body.prompts as [Prompt, Prompt];
  const unknown = { id: '00000000-0000-4000-8000-000000000000' };
  const answers = await Promise.all([
    ask('POST', '/window/prompts/export', { prompts: [unknown], format: 'jsonl' }),
    ask('POST', '/window/prompts/export', {
      prompts: [{ id: first.id, versionId: second.latestVersionId }],
      format: 'jsonl',
    }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});

test('no API key can reach import or export', async () => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${host.key}` };
  const paths = ['/window/prompts/import/preview', '/window/prompts/import', '/window/prompts/export'];
  const answers = await Promise.all(
    paths.map((path) => host.send('HTTP/1.1', { method: 'POST', path, headers, body: '{}' })),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
});
