import { expect, onTestFinished, test, vi } from 'vitest';
import { readOutcome } from '../../../electron/passthrough/call-outcome.ts';
import type { UnreadOutcome } from '../../../electron/storage/run-rows.ts';
import { databaseFile, openDatabase } from '../../../electron/storage/database.ts';
import { createLogSync } from '../../../electron/storage/write-ahead-log.ts';
import { createRunJournal } from '../../../electron/storage/run-journal.ts';
import { createRunStore } from '../../../electron/storage/run-store.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { temporaryDirectory } from './test-storage.ts';
import { patience } from '../../support/patience.ts';

/** A store of runs whose database can be kept from growing, which SQLite reports as it does a full disk. */
function openFillable() {
  const directory = temporaryDirectory();
  const database = openDatabase(directory);
  const logSync = createLogSync(`${databaseFile(directory)}-wal`);
  const journal = createRunJournal(directory);
  let isFull = false;
  const runs = createRunStore({
    database,
    logSync,
    journal: { ...journal, append: (entries) => !isFull && journal.append(entries) },
    durability: 'process',
    windowCallerId: 'window',
    tokenSecret: 'secret',
    readOutcome,
    onWrite: () => undefined,
  });
  onTestFinished(async () => {
    await logSync.close();
    journal.close();
    database.close();
  });
  const pages = () => database.pragma('page_count', { simple: true }) as number;
  const fillDatabase = () => void database.pragma(`max_page_count = ${pages()}`);
  return {
    runs,
    database,
    journal,
    fillDatabase,
    fill() {
      isFull = true;
      fillDatabase();
    },
    makeRoom() {
      isFull = false;
      database.pragma('max_page_count = 1000000');
    },
  };
}

/** Keeps the database from getting a run before its caller is answered, on a busy machine. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const long = 'x'.repeat(200_000);

function started(runs: ReturnType<typeof openFillable>['runs'], change: Parameters<typeof sampleRun>[0] = {}) {
  const run = sampleRun({ renderedPrompt: long, ...change });
  runs.begin(run);
  return run;
}

const full = expect.objectContaining({ code: 'SQLITE_FULL' });

test('runs that ended while the disk was full are stored once there is space, with the outcome that callers got', async () => {
  const { runs, fill, makeRoom } = openFillable();
  const before = started(runs);
  runs.flush();
  fill();
  const meanwhile = started(runs);
  const cancelled = started(runs, { conversationId: meanwhile.conversationId });
  await expect(runs.finish(before.runId, sampleOutcome({ content: long }))).rejects.toEqual(full);
  await expect(runs.finish(meanwhile.runId, sampleOutcome())).rejects.toEqual(full);
  await expect(
    runs.finish(cancelled.runId, sampleOutcome({ status: 'Cancelled', finishReason: 'Cancelled' })),
  ).rejects.toEqual(full);
  expect(runs.read(meanwhile.runId)).toBeNull();
  makeRoom();
  const reported = { code: 'internal', message: expect.stringContaining('The disk is full. Free some space') };
  expect(runs.read(before.runId)).toMatchObject({
    status: 'Failed',
    credits: 1,
    output: { content: long, error: reported },
  });
  expect(runs.read(meanwhile.runId)).toMatchObject({
    status: 'Failed',
    output: { content: sampleOutcome().content, finishReason: 'Error', error: reported },
  });
  expect(runs.read(cancelled.runId)).toMatchObject({ status: 'Cancelled', output: { error: null } });
  expect(runs.count()).toBe(3);
});

test('they are stored automatically', async () => {
  const { runs, database, fill, makeRoom } = openFillable();
  fill();
  const run = started(runs);
  await expect(runs.finish(run.runId, sampleOutcome())).rejects.toEqual(full);
  makeRoom();
  const stored = database.prepare('SELECT id FROM runs').pluck();
  await vi.waitFor(() => expect(stored.all()).toEqual([run.runId]), patience);
});

test('while any of them is buffered no other run starts, and the next one does as soon as there is space', async () => {
  const { runs, fill, makeRoom } = openFillable();
  runs.requireRoom();
  fill();
  const run = started(runs);
  await expect(runs.finish(run.runId, sampleOutcome())).rejects.toEqual(full);
  expect(() => runs.requireRoom()).toThrow('The disk is full. Free some space');
  makeRoom();
  runs.requireRoom();
  expect(runs.read(run.runId)?.status).toBe('Failed');
});

test('while any of them is buffered, a response is read before its call ends', async () => {
  const { runs, fillDatabase, fill, makeRoom } = openFillable();
  const [before, call] = [started(runs), started(runs)];
  fill();
  await expect(runs.finish(before.runId, sampleOutcome())).rejects.toEqual(full);
  makeRoom();
  fillDatabase();
  expect(runs.finishUnread(call.runId, {} as UnreadOutcome, () => sampleOutcome())).toBe(false);
});

test('a run that no disk accepts is not buffered', async () => {
  holdTimers();
  const { runs, database } = openFillable();
  const [run, other] = [started(runs), started(runs)];
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const unwritable = sampleOutcome({ status: 'Unheard of' as 'Failed' });
  await Promise.all([runs.finish(run.runId, unwritable), runs.finish(other.runId, sampleOutcome())]);
  runs.flush();
  expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(run.runId));
  warned.mockRestore();
  runs.requireRoom();
  expect(database.prepare('SELECT id FROM runs').pluck().all()).toEqual([other.runId]);
});

test('a run that was answered from the journal keeps its outcome, and stays in the journal until there is space', async () => {
  holdTimers();
  const { runs, journal, fillDatabase, makeRoom } = openFillable();
  const run = started(runs);
  fillDatabase();
  await runs.finish(run.runId, sampleOutcome());
  runs.flush();
  expect(() => runs.requireRoom()).toThrow('The disk is full. Free some space');
  expect(journal.read()).toMatchObject([{ run: { runId: run.runId } }]);
  const later = started(runs);
  await expect(runs.finish(later.runId, sampleOutcome())).rejects.toEqual(full);
  makeRoom();
  expect(runs.read(run.runId)).toMatchObject({ status: 'Completed', output: { error: null } });
  expect(runs.read(later.runId)?.status).toBe('Failed');
  expect(journal.read()).toEqual([]);
});

test('the journal keeps a run that still waits when another one is written', async () => {
  holdTimers();
  const { runs, database, journal, fillDatabase, makeRoom } = openFillable();
  const [short, large] = [sampleRun(), sampleRun()];
  for (const run of [short, large]) runs.begin(run);
  fillDatabase();
  await Promise.all([
    runs.finish(short.runId, sampleOutcome()),
    runs.finish(large.runId, sampleOutcome({ content: long })),
  ]);
  runs.flush();
  database.pragma(`max_page_count = ${(database.pragma('page_count', { simple: true }) as number) + 16}`);
  expect(() => runs.requireRoom()).toThrow('The disk is full. Free some space');
  expect(database.prepare('SELECT id FROM runs').pluck().all()).toEqual([short.runId]);
  expect(JSON.stringify(journal.read())).toContain(large.runId);
  makeRoom();
  runs.requireRoom();
  expect(journal.read()).toEqual([]);
});
