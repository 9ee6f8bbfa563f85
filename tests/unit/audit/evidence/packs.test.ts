// @module-tag slow
import { textMessage } from '../../../../shared/contract/messages.ts';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { AuditExport, ExportColumn } from '../../../../shared/contract/audit-exports.ts';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import type { GuardFinding } from '../../../../shared/contract/moderation.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { patience } from '../../../support/patience.ts';
import { endedPack, exportInput, openExports, openSampleExports, type ExportsWorld } from './test-exports.ts';

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function record({ storage }: ExportsWorld, change: Parameters<typeof sampleRun>[0] = {}, content = 'Fine.') {
  const run = sampleRun({ createdAt: Date.now() - 1000, ...change });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ content, completedAt: Date.now() - 500 }));
  return run;
}

const passage = { sourceId: '5a5a5a5a-5a5a-4a5a-8a5a-5a5a5a5a5a5a', sourceName: 'Handbook.pdf', start: 100, end: 122 };

/** The files of a pack in a folder by name. */
function filesOf({ storage }: ExportsWorld, { id }: AuditExport): Record<string, string> {
  const folder = join(storage.directory, 'exports', id, 'pack');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function lines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function written(world: ExportsWorld, change: Parameters<typeof exportInput>[0] = {}) {
  const { id } = await world.exports.create(exportInput(change));
  const pack = await endedPack(world.exports, id);
  expect({ state: pack.state, failure: pack.failure, log: world.log }).toEqual({
    state: 'completed',
    failure: null,
    log: [],
  });
  return { pack, files: filesOf(world, pack) };
}

describe('a pack', () => {
  test('lists every file with size and SHA-256, and its sources', async () => {
    const world = await openSampleExports();
    const { pack, files } = await written(world, {
      name: 'For a@example.com',
      selection: { filter: { text: 'refund' } },
    });
    const manifest = JSON.parse(files['manifest.json']!);
    const others = Object.keys(files).filter((name) => name !== 'manifest.json');
    expect(manifest.files).toEqual(
      others.map((name) => ({
        name,
        bytes: Buffer.byteLength(files[name]!),
        sha256: sha256(Buffer.from(files[name]!)),
      })),
    );
    expect(manifest).toMatchObject({
      format: 'touchstone-evidence-pack',
      madeBy: { version: '1.2.3' },
      name: 'For [e-mail]',
      selection: { filter: { text: 'refund' } },
      counts: { conversations: pack.conversationsTotal, runs: lines(files['evidence.jsonl']!).length },
      rules: pack.rules.map((rule, index) => ({ ...rule, replaced: pack.replaced[index] })),
    });
    expect(pack.conversationsTotal).toBeGreaterThan(10);
    expect(pack.files.map(({ name }) => name)).toEqual(Object.keys(files));
  });

  test('has no current step after it has ended', async () => {
    const world = await openSampleExports();
    const { id } = await world.exports.create(exportInput());
    const seen = new Set<string>();
    let pack = world.exports.read(id);
    for (; pack.state === 'running'; pack = world.exports.read(id)) {
      if (pack.step !== null) seen.add(pack.step);
      await setImmediate();
    }
    expect([pack.state, pack.step]).toEqual(['completed', null]);
    expect(seen).toContain('writing');
  });

  test('contains the complete conversations that match a filter, newest first, and marks matching runs', async () => {
    const world = await openExports();
    const first = await record(world, { createdAt: Date.now() - 9000 }, 'needle');
    const second = await record(world, { createdAt: Date.now() - 8000, conversationId: first.conversationId });
    const other = await record(world, { createdAt: Date.now() - 7000 }, 'needle');
    await record(world, { createdAt: Date.now() - 6000 });
    const found = { selection: { filter: { text: 'needle' } }, columns: ['runId', 'matched'] as const };
    const all = await written(world, { ...found, columns: [...found.columns] });
    expect(lines(all.files['evidence.jsonl']!)).toEqual([
      { runId: other.runId, matched: true },
      { runId: first.runId, matched: true },
      { runId: second.runId, matched: false },
    ]);
    const matched = await written(world, { ...found, columns: [...found.columns], runs: 'matched' });
    expect(lines(matched.files['evidence.jsonl']!).map(({ runId }) => runId)).toEqual([other.runId, first.runId]);
  });

  test('contains listed conversations in the order of the list', async () => {
    const world = await openExports();
    const runs = [await record(world), await record(world), await record(world)];
    const conversationIds = [runs[2]!, runs[0]!, runs[2]!].map(({ conversationId }) => conversationId.toUpperCase());
    const { files } = await written(world, { selection: { conversationIds }, columns: ['runId'] });
    expect(lines(files['evidence.jsonl']!)).toEqual([{ runId: runs[2]!.runId }, { runId: runs[0]!.runId }]);
  });

  test("quotes the passages of a grounded answer and the guard's findings, with rules applied to both", async () => {
    const world = await openExports();
    const run = sampleRun({ createdAt: Date.now() - 1000 });
    const finding: GuardFinding = {
      mode: 'refuse',
      model: 'classifier',
      categories: ['violence'],
      categoryScores: null,
      milliseconds: 2,
      withheld: 'Meet me: a@example.com',
      failure: null,
    };
    const outcome = sampleOutcome({
      completedAt: Date.now() - 500,
      citations: [
        { ...passage, index: 1, page: 7, relevance: 0.8715, text: 'Refunds take ten days.' },
        { ...passage, index: 2, relevance: 0.5, text: 'Write to b@example.com.' },
      ],
      moderation: { prompt: null, answer: finding },
    });
    world.storage.runs.begin(run);
    await world.storage.runs.finish(run.runId, outcome);
    const columns: ExportColumn[] = ['citations', 'moderationFlags', 'moderation'];
    const { files } = await written(world, { columns });
    expect(lines(files['evidence.jsonl']!)).toEqual([
      {
        citations: [outcome.citations[0], { ...outcome.citations[1], text: 'Write to [e-mail].' }],
        moderationFlags: 'answer:violence',
        moderation: { prompt: null, answer: { ...finding, withheld: 'Meet me: [e-mail]' } },
      },
    ]);
    expect(files['evidence.html']).toContain(
      '[1] Handbook.pdf, page 7, relevance 0.87\nRefunds take ten days.\n\n' +
        '[2] Handbook.pdf, relevance 0.50\nWrite to [e-mail].</pre>',
    );
    expect(files['evidence.html']).toContain('<dt>Moderation flags</dt><dd dir="auto">answer:violence</dd>');
  });

  test("contains tokens by class, the day of the prices and the provider's usage object", async () => {
    const world = await openExports();
    const run = sampleRun({ createdAt: Date.now() - 1000 });
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    const details = { cached_tokens: 8, cache_write_tokens: null, reasoning_tokens: 0 };
    const rawUsage = { cache_read_input_tokens: 8, note: 'from a@example.com' };
    world.storage.runs.begin(run);
    const completedAt = Date.now() - 500;
    await world.storage.runs.finish(run.runId, sampleOutcome({ completedAt, usage: { ...usage, details }, rawUsage }));
    const columns: ExportColumn[] = ['cachedTokens', 'cacheWriteTokens', 'reasoningTokens', 'pricesFrom', 'rawUsage'];
    const { files } = await written(world, { columns });
    expect(lines(files['evidence.jsonl']!)).toEqual([
      {
        cachedTokens: 8,
        cacheWriteTokens: null,
        reasoningTokens: 0,
        pricesFrom: '2026-11-22',
        rawUsage: { ...rawUsage, note: 'from [e-mail]' },
      },
    ]);
  });

  test('contains names of callers, prompts, versions, agents and dataspaces in its pages, and local times with UTC', async () => {
    const world = await openExports();
    const { storage } = world;
    const key = storage.apiKeys.issue({ name: 'Nightly <job> of ann@example.com' });
    const prompt = storage.prompts.create(
      { name: 'Translator', folder: null, tags: [], description: null },
      {
        promptText: 'Hi',
        systemMessage: null,
        aiSystem: null,
        model: null,
        configuration: null,
        variables: [],
        note: null,
      },
    );
    const dataspace = storage.dataspaces.create('Handbook');
    const run = sampleRun({
      callerId: key.callerId,
      promptId: prompt.id,
      promptVersionId: prompt.latestVersionId,
      dataspaceIds: [dataspace.id],
      createdAt: Date.UTC(2026, 6, 1, 22, 30),
    });
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, sampleOutcome());
    const { files } = await written(world, {
      timeZone: 'Europe/Berlin',
      selection: { filter: { callerIds: [key.callerId], startDate: '2026-07-01T00:00:00Z' } },
    });
    const page = files['evidence.html']!;
    const named = (label: string, name: string, id: string) =>
      expect(page).toContain(`<dt>${label}</dt><dd dir="auto">${name}<small>${id}</small></dd>`);
    named('Caller', 'Nightly &lt;job&gt; of [e-mail]', key.callerId);
    named('Prompt', 'Translator', prompt.id);
    named('Prompt version', 'Version 1', prompt.latestVersionId);
    named('Dataspaces', 'Handbook', dataspace.id);
    named('Created', '2 Jul 2026, 00:30:00 CEST', '2026-07-01T22:30:00.000Z');
    expect(page).toContain('<dt>Provider</dt><dd dir="auto">OpenAI</dd>');
    expect(page).toContain('<dt>Time zone</dt><dd>Europe/Berlin, with UTC in parentheses</dd>');
    expect(page).toContain(
      `Caller: Nightly &lt;job&gt; of [e-mail] (${key.callerId}); From: 1 Jul 2026, 02:00:00 CEST`,
    );
    expect(lines(files['evidence.jsonl']!)[0]).toMatchObject({
      createdAt: '2026-07-01T22:30:00.000Z',
      aiSystem: 'OpenAi',
    });
  });

  test("marks a caller's claims about workspace, agent and branch, but not what an agent records itself", async () => {
    const world = await openExports();
    const metadata = { agentId: randomUUID(), branchOf: { runId: 'r' }, team: 'a' };
    const claimed = await record(world, { metadata, workspaceId: randomUUID() });
    const own = await record(world, { metadata });
    world.storage.turns.noteAgent(own.runId, metadata.agentId);
    const { files } = await written(world, { columns: ['runId', 'metadata'], selection: { filter: {} } });
    const marks = lines(files['evidence.jsonl']!).map(({ runId, callerSupplied }) => [runId, callerSupplied]);
    expect(Object.fromEntries(marks as [string, unknown][])).toEqual({
      [claimed.runId]: ['workspaceId', 'metadata.agentId', 'metadata.branchOf'],
      [own.runId]: [],
    });
    expect(files['evidence.csv']!.split('\r\n', 1)[0]).toBe('runId,metadata,callerSupplied');
    expect(files['evidence.html']).toContain(
      '<dt>Set by the caller, not verified</dt><dd dir="auto">workspaceId, metadata.agentId, metadata.branchOf</dd>',
    );
  });

  test('contains no match of a rule in any text or file', async () => {
    const world = await openExports();
    const secret = 'mail a@example.com, call +49 30 1234567, pay 4111 1111 1111 1111 to DE89370400440532013000';
    const client = 'crawler/1.0 (c@example.com)';
    const run = await record(
      world,
      {
        promptText: secret,
        systemMessage: secret,
        renderedPrompt: secret,
        messages: [textMessage('system', secret), textMessage('user', secret)],
        replacements: { deep: [{ secret }], 'b@example.com': 4111111111111111 },
        appHeaders: { secret },
        metadata: { secret },
        configuration: { user: secret },
        origin: { api: 'completions', client },
      },
      secret,
    );
    world.storage.audit.giveFeedback(
      run,
      {
        score: 1,
        scoreText: secret,
        scoreTags: 'a@example.com',
      },
      { reviewerId: 'reviewer' },
    );
    const { files, pack } = await written(world, {
      name: 'Complaint of ann@example.com',
      selection: { filter: { text: '"a@example.com"', clients: [client] } },
    });
    for (const text of Object.values(files)) {
      expect(text).not.toMatch(/@example\.com|1234567|4111 1111|411111|DE89/);
    }
    expect(lines(files['evidence.jsonl']!)).toHaveLength(1);
    expect(pack.replaced.every((count) => count >= 9)).toBe(true);
  });

  test('contains who rated a run, and how, oldest first', async () => {
    const world = await openExports();
    const run = await record(world, {});
    world.storage.audit.giveFeedback(run, { score: -2, scoreTags: 'tone' }, { reviewerId: 'window' });
    world.storage.audit.giveFeedback(run, { score: 7, scoreText: 'Better <now>' }, { reviewerId: 'window' });
    await record(world, {});
    const { files } = await written(world, { columns: ['feedbackHistory'], selection: { filter: {} } });
    const createdAt = expect.stringMatching(/Z$/);
    const reviewer = 'Touchstone window';
    const [first, second] = world.storage.audit.listFeedback(run).toReversed();
    expect(lines(files['evidence.jsonl']!)).toContainEqual({
      feedbackHistory: [
        { id: first!.id, reviewer, score: -2, scoreTags: 'tone', note: null, createdAt, replaces: null },
        { id: second!.id, reviewer, score: 7, scoreTags: null, note: 'Better <now>', createdAt, replaces: first!.id },
      ],
    });
    expect(lines(files['evidence.jsonl']!)).toContainEqual({ feedbackHistory: null });
    expect(files['evidence.html']).toMatch(
      /Z, Touchstone window: score 7\nBetter &lt;now&gt;\nReplaces the entry of [^ ]*Z<\/pre>/,
    );
  });

  test('names the questions that reviewers answered', async () => {
    const world = await openExports();
    const { runId } = await record(world, {});
    const { reviews } = world.storage;
    const rubric = [
      { id: randomUUID(), kind: 'yesNo', question: 'Is it <right>?' },
      { id: randomUUID(), kind: 'text', question: 'What should it say?' },
    ] as RubricItem[];
    const [right, text] = rubric.map(({ id }) => id) as [string, string];
    const answer = (rubricItemId: string, value: AnswerValue, note: string | null = null) =>
      reviews.addHistory({ runId, reviewer: 'wren', answers: [{ rubricItemId, value, note }], rubric, createdAt: 1 });
    answer(right, false, 'No passage');
    answer(text, 'Ask first');
    answer(right, true);
    const { files } = await written(world, { columns: ['feedbackHistory'], selection: { filter: {} } });
    const [found] = lines(files['evidence.jsonl']!) as { feedbackHistory: { id: string }[] }[];
    const entry = { id: expect.any(String), reviewer: 'wren', createdAt: '1970-01-01T00:00:00.001Z', replaces: null };
    const answered = { ...entry, rubricItemId: right, question: 'Is it <right>?' };
    expect(found!.feedbackHistory).toEqual([
      { ...answered, value: false, note: 'No passage' },
      { ...entry, rubricItemId: text, question: 'What should it say?', value: 'Ask first', note: null },
      { ...answered, value: true, note: null, replaces: found!.feedbackHistory[0]!.id },
    ]);
    const at = '1970-01-01T00:00:00.001Z';
    expect(files['evidence.html']).toContain(
      `${at}, wren: Is it &lt;right&gt;? Yes\nReplaces the entry of ${at}</pre>`,
    );
    expect(files['evidence.html']).toContain(`${at}, wren: What should it say? Ask first\n\n`);
  });

  test('contains the messages of a run with several, each with its role', async () => {
    const world = await openExports();
    const messages = [textMessage('system', 'Be <kind>.'), textMessage('user', 'Hi')];
    await record(world, { renderedPrompt: 'Be <kind>.\n\nHi', messages });
    const { files } = await written(world, { columns: ['renderedPrompt', 'messages'], selection: { filter: {} } });
    expect(lines(files['evidence.jsonl']!)).toEqual([expect.objectContaining({ messages })]);
    expect(files['evidence.csv']).toContain(JSON.stringify(messages).replaceAll('"', '""'));
    expect(files['evidence.html']!.match(/<h3>Final prompt<\/h3>\n<pre dir="auto">[^]*?<\/pre>/g)).toEqual([
      '<h3>Final prompt</h3>\n<pre dir="auto">System:\nBe &lt;kind&gt;.\n\nUser:\nHi</pre>',
    ]);
  });

  test("shows a model's text in its pages as text, under a policy that runs nothing", async () => {
    const world = await openExports();
    const attack = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&';
    await record(world, { promptText: attack }, attack);
    const { files } = await written(world, { name: attack });
    const page = files['evidence.html']!;
    expect(page).not.toMatch(/<script|<img|<link|<iframe|javascript:/i);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&quot;&#39;&amp;');
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/
      .exec(page)![1]!
      .replaceAll('&#39;', "'");
    const style = /<style>([^]*?)<\/style>/.exec(page)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
  });

  test('is split into pages that link to each other', async () => {
    const world = await openSampleExports();
    const { files, pack } = await written(world);
    expect(Object.keys(files)).toEqual([
      'evidence-0002.html',
      'evidence.csv',
      'evidence.html',
      'evidence.jsonl',
      'manifest.json',
    ]);
    const sections = ['evidence.html', 'evidence-0002.html'].map((name) => files[name]!.split('<section>').length - 1);
    expect(sections).toEqual([250, pack.conversationsTotal - 250]);
    expect(files['evidence.html']).toContain('<a href="evidence-0002.html">Next page</a>');
    expect(files['evidence-0002.html']).toContain('<a href="evidence.html">Previous page</a>');
    expect(Object.values(files).filter((text) => text.endsWith('</html>\n'))).toHaveLength(2);
  });

  test('as a zip is one file with the same files, like the download of a folder', async () => {
    const world = await openSampleExports();
    const selection = { filter: { text: 'refund' } };
    const { id } = await world.exports.create(exportInput({ selection, form: 'zip' }));
    const pack = await endedPack(world.exports, id);
    const folder = join(world.storage.directory, 'exports', id);
    const bytes = readFileSync(join(folder, 'evidence.zip'));
    expect(pack.files).toEqual([{ name: 'evidence.zip', bytes: bytes.length, sha256: sha256(bytes) }]);
    // What the work needed is removed after a pack is complete.
    await vi.waitFor(() => expect(readdirSync(folder).toSorted()).toEqual(['evidence.zip', 'export.json']), patience);
    const sent = await world.exports.download(id);
    expect(await buffer(sent.stream)).toEqual(bytes);
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004');

    const asFolder = await written(world, { selection });
    const zip = await buffer((await world.exports.download(asFolder.pack.id)).stream);
    for (const name of Object.keys(asFolder.files)) expect(zip.includes(Buffer.from(name))).toBe(true);
  });

  test('excludes runs that were recorded after its start', async () => {
    const world = await openExports();
    const run = await record(world);
    const { id } = await world.exports.create(exportInput({ columns: ['runId'] }));
    const later = record(world, { conversationId: run.conversationId });
    const pack = await endedPack(world.exports, id);
    await later;
    expect(pack.runsDone).toBe(1);
    expect(lines(filesOf(world, pack)['evidence.jsonl']!)).toEqual([{ runId: run.runId }]);
  });

  test('contains an active run in its state at that time', async () => {
    const world = await openExports();
    const run = sampleRun({ createdAt: Date.now() });
    world.storage.runs.begin(run);
    const { files } = await written(world, { columns: ['status', 'content', 'completedAt', 'totalMs'] });
    expect(lines(files['evidence.jsonl']!)).toEqual([
      { status: 'Running', content: '', completedAt: null, totalMs: null },
    ]);
    await world.storage.runs.finish(run.runId, sampleOutcome({ completedAt: Date.now() }));
  });

  test('of nothing is empty and complete', async () => {
    const { files, pack } = await written(await openExports(), { columns: ['runId', 'model'] });
    expect(pack.conversationsTotal).toBe(0);
    expect(files['evidence.csv']).toBe('runId,model\r\n');
    expect(files['evidence.jsonl']).toBe('');
    expect(files['evidence.html']).toContain('</html>');
  });
});

test('a pack is deleted with its files, also while it is written, and others stay', async () => {
  const world = await openSampleExports();
  const stored = await written(world, { selection: { filter: { text: 'refund' } } });
  const { id } = await world.exports.create(exportInput());
  await world.exports.remove(id);
  expect(existsSync(join(world.storage.directory, 'exports', id))).toBe(false);
  expect(world.exports.list().map((pack) => pack.id)).toEqual([stored.pack.id]);
  expect(() => world.exports.read(id)).toThrow(expect.objectContaining({ code: 'not_found' }));
});

test("a pack that can't be written reports the reason and can be resumed", async () => {
  const world = await openExports();
  await record(world);
  const { id } = await world.exports.create(exportInput());
  expect(await world.exports.stop(id)).toMatchObject({ state: 'stopped', step: null });
  const folder = join(world.storage.directory, 'exports', id);
  rmSync(join(folder, 'pack.partial'), { recursive: true, force: true });
  // A file where the writer needs its folder.
  writeFileSync(join(folder, 'pack.partial'), '');
  await world.exports.resume(id);
  expect(await endedPack(world.exports, id)).toMatchObject({
    state: 'failed',
    failure: expect.stringContaining('log'),
  });
  rmSync(join(folder, 'pack.partial'));
  await world.exports.resume(id);
  expect(await endedPack(world.exports, id)).toMatchObject({ state: 'completed', failure: null, runsDone: 1 });
});

test('a stopped pack with a damaged checkpoint is written from the start', async () => {
  const world = await openExports();
  await record(world);
  const { id } = await world.exports.create(exportInput());
  await world.exports.stop(id);
  await world.exports.close();
  writeFileSync(join(world.storage.directory, 'exports', id, 'checkpoint.json'), '{"offset": 3, "len');
  const { exports, log } = await openExports(world.storage);
  expect(exports.list()).toMatchObject([{ id, state: 'stopped' }]);
  await exports.resume(id);
  expect(await endedPack(exports, id)).toMatchObject({ state: 'completed', failure: null, runsDone: 1 });
  expect(log).toEqual([]);
});

test('a host loads complete and stopped packs; it leaves a damaged record alone and reports it', async () => {
  const world = await openSampleExports();
  const whole = await written(world, { selection: { filter: { text: 'refund' } } });
  const stopped = await world.exports.create(exportInput());
  await world.exports.stop(stopped.id);
  const damaged = await world.exports.create(exportInput());
  await world.exports.stop(damaged.id);
  await world.exports.close();
  const folder = join(world.storage.directory, 'exports', damaged.id);
  writeFileSync(join(folder, 'export.json'), '{');

  const next = await openExports(world.storage);
  expect(next.exports.list().map(({ id, state }) => [id, state])).toEqual([
    [stopped.id, 'stopped'],
    [whole.pack.id, 'completed'],
  ]);
  expect(next.exports.read(whole.pack.id)).toEqual(whole.pack);
  expect(next.log).toEqual([expect.stringContaining(`evidence pack ${damaged.id} cannot be read`)]);
  expect(existsSync(folder)).toBe(true);
});

test('a preview counts replacements and shows their positions, without writing anything', async () => {
  const world = await openExports();
  const run = await record(world, {
    renderedPrompt: `${'x'.repeat(60)} to a@example.com and b@example.com ${'y'.repeat(60)}`,
  });
  await record(world);
  const preview = await world.exports.preview(
    {
      selection: { filter: {} },
      columns: ['renderedPrompt'],
      rules: [{ kind: 'email', replacement: '***' }, { kind: 'card' }],
    },
    { signal: new AbortController().signal },
  );
  const position = {
    conversationId: run.conversationId,
    runId: run.runId,
    column: 'renderedPrompt',
    replacement: '***',
  };
  expect(preview).toEqual({
    conversations: 2,
    runs: 2,
    examinedRuns: 2,
    rules: [
      {
        count: 2,
        runs: 1,
        samples: [
          {
            ...position,
            before: `${'x'.repeat(36)} to `,
            found: 'a@example.com',
            after: ` and b@example.com ${'y'.repeat(21)}`,
          },
          {
            ...position,
            before: `${'x'.repeat(18)} to a@example.com and `,
            found: 'b@example.com',
            after: ` ${'y'.repeat(39)}`,
          },
        ],
      },
      { count: 0, runs: 0, samples: [] },
    ],
  });
  expect(existsSync(join(world.storage.directory, 'exports'))).toBe(false);
});
