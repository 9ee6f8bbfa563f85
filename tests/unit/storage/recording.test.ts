import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { fc } from '../../support/fast-check.ts';
import { sampleCall, sampleOutcome, sampleRun } from './sample-run.ts';
import { listAll, openTestStorage, temporaryDirectory } from './test-storage.ts';

function otherConnection(directory: string): Database.Database {
  const database = new Database(join(directory, 'touchstone.sqlite'), { readonly: true });
  onTestFinished(() => void database.close());
  return database;
}

test('stores the tokens of a usage object that is too long, but not the object', async () => {
  const storage = openTestStorage();
  const run = sampleRun({ callerId: storage.windowCallerId });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ rawUsage: { note: 'x'.repeat(20_000) } }));
  expect(storage.runs.read(run.runId)).toMatchObject({ rawUsage: null, usage: { total_tokens: expect.any(Number) } });
});

test('a long run is written, and its caller answered, in turns of their own', async () => {
  const directory = temporaryDirectory();
  const storage = openTestStorage({ directory });
  const count = otherConnection(directory).prepare("SELECT count(*) FROM runs WHERE status = 'Completed'").pluck();
  const run = sampleRun({ callerId: storage.windowCallerId, renderedPrompt: 'x'.repeat(300_000) });
  storage.runs.begin(run);
  const turns: [written: unknown, isAnswered: boolean][] = [];
  let isAnswered = false;
  const finished = storage.runs.finish(run.runId, sampleOutcome()).then(() => (isAnswered = true));
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    turns.push([count.get(), isAnswered]);
  }
  await finished;
  expect(turns.slice(0, 2)).toEqual([
    [0, false],
    [1, false],
  ]);
});

test('a run can be read as it was sent and answered', async () => {
  const storage = openTestStorage();
  const run = sampleRun({ callerId: storage.windowCallerId, metadata: { draftId: 'draft-1' } });
  const details = { cached_tokens: 8, cache_write_tokens: null, reasoning_tokens: 0 };
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14, details };
  const rawUsage = { input_tokens: 11, service_tier: 'standard' };
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ usage, rawUsage }));

  expect(storage.runs.read(run.runId)).toEqual({
    runId: run.runId,
    messageId: run.messageId,
    agentId: null,
    isAnonymised: false,
    conversationId: run.conversationId,
    callerId: storage.windowCallerId,
    status: 'Completed',
    aiSystem: 'OpenAi',
    model: 'gpt-4o',
    servedBy: 'OpenAi/gpt-4o',
    origin: { api: 'completions', client: null },
    httpStatus: null,
    createdAt: '2026-11-20T09:30:00.123Z',
    completedAt: '2026-11-20T09:30:01.007Z',
    totalMs: 345.25,
    firstTokenMs: 120.5,
    usage,
    cost: 0.000125,
    pricesFrom: '2026-11-22',
    rawUsage,
    errorCode: null,
    title: 'Translate good morning',
    draftId: 'draft-1',
    input: {
      promptText: run.promptText,
      systemMessage: run.systemMessage,
      replacements: run.replacements,
      renderedPrompt: run.renderedPrompt,
      messages: [{ role: 'user', content: [{ type: 'text', text: run.renderedPrompt }] }],
      configuration: run.configuration,
      dataspaceIds: null,
    },
    output: {
      content: 'Bonjour \u{1F44B}\u0000 fin',
      reasoning: 'It is a greeting.',
      finishReason: 'Stop',
      error: null,
    },
    appHeaders: { team: 'red' },
    metadata: { draftId: 'draft-1' },
    citations: [],
    warnings: run.warnings,
    credits: 1,
  });
});

test('a run that must survive a loss of power is committed before its caller is answered', async () => {
  const storage = openTestStorage({ durability: 'power-loss' });
  const run = sampleRun();
  storage.runs.begin(run);
  const finished = storage.runs.finish(run.runId, sampleOutcome());
  const select = otherConnection(storage.directory).prepare('SELECT status FROM runs WHERE id = ?');
  expect(select.get(run.runId)).toBeUndefined();
  await finished;
  expect(select.get(run.runId)).toEqual({ status: 'Completed' });
});

/** Longer than a row that is written again at the end of its run. */
const longPrompt = 'x'.repeat(300_000);
const prompts = [
  ['short', 'a'],
  ['long', longPrompt],
] as const;
test.each(prompts)(
  'a %s run is written soon without a reader, and its outcome replaces only the outcome',
  async (_, renderedPrompt) => {
    const storage = openTestStorage();
    const run = sampleRun({ renderedPrompt });
    storage.runs.begin(run);
    const select = otherConnection(storage.directory).prepare('SELECT status, credits FROM runs WHERE id = ?');
    await expect.poll(() => select.get(run.runId)).toEqual({ status: 'Running', credits: 0 });
    const before = storage.runs.read(run.runId)!;
    const error = { code: 'provider_failed', message: 'It broke.' };
    await storage.runs.finish(
      run.runId,
      sampleOutcome({ status: 'Failed', finishReason: 'Error', error, usage: null, cost: null }),
    );
    expect(before.status).toBe('Running');
    expect(storage.runs.read(run.runId)).toEqual({
      ...before,
      status: 'Failed',
      completedAt: '2026-11-20T09:30:01.007Z',
      totalMs: 345.25,
      firstTokenMs: 120.5,
      errorCode: 'provider_failed',
      credits: 1,
      output: { content: sampleOutcome().content, reasoning: 'It is a greeting.', finishReason: 'Error', error },
    });
  },
);

test('the answer to a long prompt that is on disk leaves the prompt as it is, and is found like any other', async () => {
  const storage = openTestStorage();
  const run = sampleRun({ renderedPrompt: longPrompt });
  storage.runs.begin(run);
  storage.runs.read(run.runId);
  const toolCalls = [sampleCall('one')];
  await storage.runs.finish(run.runId, sampleOutcome({ content: 'The quagga answered.', toolCalls }));
  const stored = otherConnection(storage.directory).prepare('SELECT content FROM stored_texts').pluck();
  expect(stored.all()).toEqual(['']);
  expect(storage.runs.readToContinue(run.runId)?.toolCalls).toEqual(toolCalls);
  expect(listAll(storage, 10)).toMatchObject([{ runId: run.runId, excerpt: 'The quagga answered.' }]);
  const { signal } = new AbortController();
  const found = await storage.audit.search({ filter: { text: 'quagga' }, sort: 'newest', limit: 1 }, { signal });
  expect(found.rows).toMatchObject([{ run: { runId: run.runId } }]);
});

test('readers see queued runs', () => {
  const storage = openTestStorage();
  const run = sampleRun();
  storage.runs.begin(run);
  expect(storage.runs.count()).toBe(1);
  expect(listAll(storage, 20)).toMatchObject([{ runId: run.runId, status: 'Running', completedAt: null }]);
  expect(storage.runs.read(run.runId)?.status).toBe('Running');
});

test('rejects a run that ends twice, or never started', async () => {
  const storage = openTestStorage();
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  await expect(storage.runs.finish(run.runId, sampleOutcome())).rejects.toThrow('has not begun, or has ended');
  await expect(storage.runs.finish(randomUUID(), sampleOutcome())).rejects.toThrow('has not begun');
});

test("a run that can't be written fails alone, and leaves no gap", async () => {
  const storage = openTestStorage({ durability: 'power-loss' });
  const [first, twin, last] = [sampleRun(), sampleRun(), sampleRun()];
  storage.runs.begin(first);
  await storage.runs.finish(first.runId, sampleOutcome());
  for (const run of [{ ...twin, runId: twin.runId }, last]) storage.runs.begin(run);
  const unwritable = sampleOutcome({ status: 'Unheard of' as 'Failed' });
  const results = await Promise.allSettled([
    storage.runs.finish(twin.runId, unwritable),
    storage.runs.finish(last.runId, sampleOutcome()),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(storage.runs.count()).toBe(2);
  expect(listAll(storage, 20).map(({ runId }) => runId)).toEqual([last.runId, first.runId]);
});

test('credits are stored with the outcome and summed for the key', async () => {
  const storage = openTestStorage();
  const { id, key } = storage.apiKeys.issue({ name: 'ledger' });
  const runs = [1, 0, 1].map((credits) => ({ credits, run: sampleRun({ apiKeyId: id }) }));
  for (const { run } of runs) storage.runs.begin(run);
  await Promise.all(runs.map(({ run, credits }) => storage.runs.finish(run.runId, sampleOutcome({ credits }))));
  storage.flush();
  const entries = otherConnection(storage.directory)
    .prepare(
      'SELECT runs.id, entry.api_key_id, entry.credits FROM credit_entries entry JOIN runs ON runs.sequence = entry.run ORDER BY entry.run',
    )
    .all();
  expect(storage.apiKeys.authenticate(key)?.creditsUsed).toBe(2);
  expect(entries).toEqual([
    { id: runs[0]!.run.runId, api_key_id: id, credits: 1 },
    { id: runs[2]!.run.runId, api_key_id: id, credits: 1 },
  ]);
});

test('runs that were active when the host ended fail as interrupted at the next start', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const [done, interrupted] = [sampleRun(), sampleRun()];
  for (const run of [done, interrupted]) before.runs.begin(run);
  await before.runs.finish(done.runId, sampleOutcome());
  await before.close();

  const storage = openTestStorage({ directory });
  expect(storage.runs.read(done.runId)?.status).toBe('Completed');
  expect(storage.runs.read(interrupted.runId)).toMatchObject({
    status: 'Failed',
    errorCode: 'interrupted',
    credits: 0,
    completedAt: null,
    output: {
      finishReason: 'Error',
      error: { code: 'interrupted', message: 'Touchstone closed before the answer was complete. Run it again.' },
    },
  });
  expect(storage.runs.count()).toBe(2);
});

test('closing twice closes once, and queued runs are stored', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const run = sampleRun();
  before.runs.begin(run);
  const finished = before.runs.finish(run.runId, sampleOutcome());
  await Promise.all([before.close(), before.close(), finished]);
  expect(openTestStorage({ directory }).runs.read(run.runId)?.status).toBe('Completed');
});

type Step = { kind: 'begin' } | { kind: 'finish'; pick: number } | { kind: 'list' } | { kind: 'wait' };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ kind: 'begin' }),
  fc.record({ kind: fc.constant('finish' as const), pick: fc.nat() }),
  fc.constant<Step>({ kind: 'list' }),
  fc.constant<Step>({ kind: 'wait' }),
);

test('in any interleaving of starts, ends and reads, a reader sees exactly the earlier events', async () => {
  const storage = openTestStorage();
  const expected: { runId: string; status: string }[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const active: typeof expected = [];
      const finishes: Promise<void>[] = [];
      for (const action of steps) {
        if (action.kind === 'begin') {
          const run = sampleRun();
          storage.runs.begin(run);
          const entry = { runId: run.runId, status: 'Running' };
          expected.unshift(entry);
          active.push(entry);
        } else if (action.kind === 'finish' && active.length > 0) {
          const [entry] = active.splice(action.pick % active.length, 1);
          entry!.status = 'Completed';
          finishes.push(storage.runs.finish(entry!.runId, sampleOutcome()));
        } else if (action.kind === 'wait') await new Promise(setImmediate);
        else {
          const page = storage.runs.list({ pageSize: 30, continuationToken: undefined, draftId: undefined });
          expect(page.data.map(({ runId, status }) => ({ runId, status }))).toEqual(expected.slice(0, 30));
        }
        expect(storage.runs.count()).toBe(expected.length);
      }
      await Promise.all(finishes);
    }),
    { numRuns: 60 },
  );
  expect(listAll(storage, 100).map(({ runId, status }) => ({ runId, status }))).toEqual(expected);
});
