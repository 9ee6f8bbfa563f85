import { appendFileSync, cpSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { readOutcome } from '../../../electron/passthrough/call-outcome.ts';
import { databaseFile } from '../../../electron/storage/database.ts';
import { createRunJournal } from '../../../electron/storage/run-journal.ts';
import type { UnreadOutcome } from '../../../electron/storage/run-rows.ts';
import { sampleCall, sampleOutcome, sampleRun } from './sample-run.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

// On a busy machine, the database could otherwise have a run before a test looks.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type TestStorage = ReturnType<typeof openTestStorage>;

const journalFile = (directory: string) => join(directory, 'touchstone.ended-runs');

/** What another process finds in the database. */
function statusOf({ directory }: TestStorage, runId: string): unknown {
  const database = new Database(databaseFile(directory), { readonly: true });
  onTestFinished(() => void database.close());
  return database.prepare('SELECT status FROM runs WHERE id = ?').pluck().get(runId);
}

/** A folder as it is if the host ends now. */
function folderAfterKill({ directory }: TestStorage): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

const manyMessages = Array.from({ length: 2000 }, () => ({
  role: 'user' as const,
  content: [{ type: 'text' as const, text: 'Where is my parcel?' }],
}));

test('a run is in the journal when its caller is answered, and in the database a moment later', async () => {
  const storage = openTestStorage();
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  expect(statusOf(storage, run.runId)).toBeUndefined();
  expect(readFileSync(journalFile(storage.directory), 'utf8')).toContain(run.runId);
  vi.advanceTimersByTime(50);
  expect(statusOf(storage, run.runId)).toBe('Completed');
  expect(statSync(journalFile(storage.directory)).size).toBe(0);
});

test('32 runs are in the database one turn after their callers are answered, and fewer wait for others', async () => {
  const storage = openTestStorage();
  const end = (count: number) => {
    const runs = Array.from({ length: count }, () => sampleRun());
    for (const run of runs) storage.runs.begin(run);
    return { runs, ended: Promise.all(runs.map(({ runId }) => storage.runs.finish(runId, sampleOutcome()))) };
  };
  const few = end(31);
  await few.ended;
  await nextTurn();
  expect(statusOf(storage, few.runs[0]!.runId)).toBeUndefined();
  const more = end(1);
  await more.ended;
  expect(statusOf(storage, more.runs[0]!.runId)).toBeUndefined();
  await nextTurn();
  for (const { runId } of [...few.runs, ...more.runs]) expect(statusOf(storage, runId)).toBe('Completed');
});

test.runIf(process.platform !== 'win32')('only its owner can read the journal', async () => {
  const storage = openTestStorage();
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  expect(statSync(journalFile(storage.directory)).mode & 0o777).toBe(0o600);
});

test('the next host finds what was only in the journal: with and without a start on disk, with names, calls and credits', async () => {
  const storage = openTestStorage();
  const { id: apiKeyId, key } = storage.apiKeys.issue({ name: 'ledger' });
  const { callerId } = sampleRun();
  const joined = () =>
    storage.runs.joinConversation({ conversationId: null, workspaceId: null, callerId, name: 'Parcels' });
  const started = sampleRun({ ...joined(), apiKeyId });
  const unwritten = sampleRun({ ...joined(), apiKeyId });
  const outcome = (content: string) => sampleOutcome({ content, toolCalls: [sampleCall(content)] });
  storage.runs.begin(started);
  storage.flush();
  expect(statusOf(storage, started.runId)).toBe('Running');
  storage.runs.begin(unwritten);
  await Promise.all([
    storage.runs.finish(started.runId, outcome('one \ud800')),
    storage.runs.finish(unwritten.runId, outcome('two')),
  ]);

  const next = openTestStorage({ directory: folderAfterKill(storage) });
  expect(statusOf(storage, started.runId)).toBe('Running');
  storage.flush();
  for (const { runId } of [started, unwritten]) {
    expect(next.runs.read(runId)).toEqual(storage.runs.read(runId));
    expect(next.runs.readToContinue(runId)).toEqual(storage.runs.readToContinue(runId));
  }
  const named = next.audit.readConversation(unwritten.conversationId, { hasFeedback: false });
  expect(named?.name).toBe('Parcels');
  expect(next.apiKeys.authenticate(key)?.creditsUsed).toBe(2);
  expect(next.runs.count()).toBe(2);
});

test('what the database has already is not added again, nor charged, and new runs get new places', async () => {
  const storage = openTestStorage();
  const { id: apiKeyId, key } = storage.apiKeys.issue({ name: 'ledger' });
  const run = sampleRun({ apiKeyId });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  const entries = readFileSync(journalFile(storage.directory));
  storage.flush();
  const directory = folderAfterKill(storage);
  appendFileSync(journalFile(directory), entries);

  const warned = vi.spyOn(process, 'emitWarning');
  const next = openTestStorage({ directory });
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
  expect(next.apiKeys.authenticate(key)?.creditsUsed).toBe(1);
  const later = sampleRun();
  next.runs.begin(later);
  await next.runs.finish(later.runId, sampleOutcome());
  expect(next.runs.count()).toBe(2);
  expect(next.runs.read(later.runId)?.status).toBe('Completed');
});

test('an entry that is cut off, or that no database accepts, keeps neither the others nor the start from working', async () => {
  const storage = openTestStorage();
  const [good, bad] = [sampleRun(), sampleRun()];
  const directory = temporaryDirectory();
  const journal = createRunJournal(directory);
  const entry = (run: typeof good, status: 'Completed' | 'Failed') =>
    ({ run, conversationName: null, outcome: sampleOutcome({ status }) }) as const;
  journal.append([entry(bad, 'Unheard of' as 'Failed'), entry(good, 'Completed')]);
  const torn = JSON.stringify(entry(sampleRun(), 'Completed')).slice(0, 200);
  appendFileSync(journalFile(directory), `5\n"x"\nnull\n{}\n[]\n{"run":{}}\n\n${torn}`);
  journal.close();
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const next = openTestStorage({ directory });
  expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(bad.runId));
  warned.mockRestore();
  expect(next.runs.read(good.runId)?.status).toBe('Completed');
  expect(next.runs.count()).toBe(1);
  expect(statSync(journalFile(directory)).size).toBe(0);
  await storage.close();
});

test('a run that the journal does not take is written before its caller is answered', async () => {
  const storage = openTestStorage();
  for (const run of [sampleRun({ messages: manyMessages }), sampleRun({ renderedPrompt: 'x'.repeat(300_000) })]) {
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, sampleOutcome());
    expect(statusOf(storage, run.runId)).toBe('Completed');
  }
  // The journal doesn't wait for it, either.
  const usual = sampleRun();
  storage.runs.begin(usual);
  await storage.runs.finish(usual.runId, sampleOutcome());
  expect(statSync(journalFile(storage.directory)).size).toBeGreaterThan(0);
  vi.advanceTimersByTime(50);
  expect(statSync(journalFile(storage.directory)).size).toBe(0);
});

test('a journal of more than 64 MB takes nothing more, and keeps what it has', () => {
  const directory = temporaryDirectory();
  const journal = createRunJournal(directory);
  onTestFinished(() => journal.close());
  const entry = { run: sampleRun(), conversationName: null, outcome: sampleOutcome() };
  expect(journal.append([entry])).toBe(true);
  const huge = { ...entry, outcome: sampleOutcome({ content: 'x'.repeat(65 * 1_048_576) }) };
  expect(journal.append([huge])).toBe(true);
  expect(journal.append([entry])).toBe(false);
  expect(journal.read()).toHaveLength(2);
  journal.clear();
  expect(journal.read()).toEqual([]);
  expect(journal.append([entry])).toBe(true);
});

/** A call that has ended, whose answer has two-byte characters and lines like those of the journal. */
function sampleUnread(change: Partial<UnreadOutcome> = {}): UnreadOutcome {
  const content = `Où est mon colis ? 📦\n{"run":{"runId":"other"}}\n`;
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  return {
    api: 'openai-chat',
    httpStatus: 200,
    statusText: 'OK',
    firstTokenMs: 120.5,
    totalMs: 345.25,
    completedAt: Date.UTC(2026, 10, 20, 9, 30, 1, 7),
    prices: null,
    body: Buffer.from(JSON.stringify({ id: 'one', choices, usage }, null, 2)).toString('latin1'),
    ...change,
  };
}

test('the response to a call is in the journal before it is read, and the next host reads it as this one does', async () => {
  const storage = openTestStorage();
  const runs = [sampleRun(), sampleRun(), sampleRun()];
  const bodies = [{}, { httpStatus: 429, body: '{"error":{"message":"Slow down."}}' }, { body: '\xff\xfe no JSON' }];
  const unread = bodies.map(sampleUnread);
  storage.runs.begin(runs[1]!);
  storage.flush();
  let reads = 0;
  for (const [index, run] of runs.entries()) {
    if (index !== 1) storage.runs.begin(run);
    const read = () => {
      reads += 1;
      return readOutcome(unread[index]!);
    };
    expect(storage.runs.finishUnread(run.runId, unread[index]!, read)).toBe(true);
    expect(reads).toBe(0);
    expect(readFileSync(journalFile(storage.directory), 'utf8')).toContain(run.runId);
    if (index < 2) await nextTurn();
  }
  const next = openTestStorage({ directory: folderAfterKill(storage) });
  storage.flush();
  expect(reads).toBe(3);
  for (const { runId } of runs) expect(next.runs.read(runId)).toEqual(storage.runs.read(runId));
  expect(next.runs.count()).toBe(3);
  const [good, limited, unreadable] = runs.map(({ runId }) => next.runs.read(runId));
  expect(good?.output.content).toContain('Où est mon colis ? 📦\n{"run"');
  expect(limited?.output.error).toEqual({ code: 'rate_limited', message: 'Slow down.' });
  expect(unreadable?.status).toBe('Failed');
});

test('a reader, and the run that follows, find a response that was not read yet', async () => {
  const storage = openTestStorage();
  const read = vi.fn(() => sampleOutcome());
  const end = () => {
    const run = sampleRun();
    storage.runs.begin(run);
    expect(storage.runs.finishUnread(run.runId, sampleUnread(), read)).toBe(true);
    return run;
  };
  const { runId } = end();
  await expect(storage.runs.finish(runId, sampleOutcome())).rejects.toThrow('has ended already');
  expect(storage.runs.read(runId)?.status).toBe('Completed');
  expect(read).toHaveBeenCalledTimes(1);
  end();
  storage.runs.requireRoom();
  expect(read).toHaveBeenCalledTimes(2);
  await nextTurn();
  end();
  await nextTurn();
  vi.advanceTimersByTime(50);
  expect(read).toHaveBeenCalledTimes(3);
  expect(storage.runs.count()).toBe(3);
  expect(statSync(journalFile(storage.directory)).size).toBe(0);
});

test('32 calls whose responses are not read are in the database one turn later', async () => {
  const storage = openTestStorage();
  const runs = Array.from({ length: 32 }, () => sampleRun());
  for (const run of runs) {
    const { runId } = run;
    storage.runs.begin(run);
    expect(storage.runs.finishUnread(runId, sampleUnread(), () => sampleOutcome())).toBe(true);
    expect(statusOf(storage, runs[0]!.runId)).not.toBe('Completed');
    await nextTurn();
  }
  await nextTurn();
  for (const { runId } of runs) expect(statusOf(storage, runId)).toBe('Completed');
});

test('calls that end in one turn share a write, and one that must survive a loss of power is read first', () => {
  const storage = openTestStorage();
  const finish = ({ runs }: TestStorage, run = sampleRun()) => {
    runs.begin(run);
    return runs.finishUnread(run.runId, sampleUnread(), () => sampleOutcome());
  };
  expect([finish(storage), finish(storage)]).toEqual([true, false]);
  storage.flush();
  const run = sampleRun();
  storage.runs.begin(run);
  void storage.runs.finish(run.runId, sampleOutcome());
  expect(finish(storage)).toBe(false);
  expect(storage.runs.finishUnread('unknown', sampleUnread(), () => sampleOutcome())).toBe(false);
  expect(finish(openTestStorage({ durability: 'power-loss' }))).toBe(false);
  expect(finish(openTestStorage(), sampleRun({ messages: manyMessages }))).toBe(false);
});
