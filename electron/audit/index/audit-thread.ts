import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { type CallContext, serveCalls } from '../../common/worker-server.ts';
import { databaseFile } from '../../storage/database.ts';
import { isDamage, removeIndexFile } from '../../storage/index-file.ts';
import { createLogWriter } from '../../storage/write-ahead-log.ts';
import { createIdleTask } from '../../storage/idle-task.ts';
import { AuditEngine } from './audit-engine.ts';
import type { AuditMethods } from './audit-client.ts';
import { indexFile } from './index-database.ts';
import { readAhead } from './read-ahead.ts';

/**
 * Entry point of the audit thread; started by `audit-client.ts`. It reads the recorded runs through a separate connection, updates
 * the index while it is idle, and answers one query at a time. It is notified of every recorded run, so it also checkpoints the
 * database's log. None of this blocks the event loop of the host.
 */
const { directory } = workerData as { directory: string };
const database = new Database(databaseFile(directory), { readonly: true });
// Pages are memory-mapped, so they aren't copied.
database.pragma('mmap_size = 2147418112');
const logWriter = createLogWriter(directory);
let engine: AuditEngine | null = null;
/** Starts with the first query, so that it costs nothing until the audit is used. */
let ahead: Generator<void, void, void> | null = null;
let isFollowing = false;
/** Whether runs were recorded that the index doesn't have. */
let hasNewRuns = false;
let hasDiscarded = false;
let isClosed = false;
/** Whether the log still contains removed runs. */
let isLogDue = false;
const erasure = createIdleTask(() => {
  if (startedEngine().erase()) return true;
  if (isLogDue) isLogDue = !logWriter.empty();
  return isLogDue;
});

function startedEngine(): AuditEngine {
  return (engine ??= new AuditEngine(database, directory));
}

/** Whether a failure may come from a damaged index, which is then rebuilt. A second failure comes from the database. */
function discardDamagedIndex(failure: unknown): boolean {
  if (!isDamage(failure) || hasDiscarded) return false;
  hasDiscarded = true;
  engine?.close();
  engine = null;
  hasNewRuns = true;
  removeIndexFile(indexFile(directory));
  return true;
}

/** One slice at a time, with queries in between. */
function follow(): void {
  if (isClosed) return;
  try {
    const startsAgain = hasNewRuns;
    hasNewRuns = false;
    isFollowing = startsAgain ? startedEngine().follow() : startedEngine().followTexts();
  } catch (error) {
    if (!discardDamagedIndex(error)) throw error;
    isFollowing = true;
  }
  if (isFollowing) setImmediate(follow);
  else erasure.start();
}

function readOn(): void {
  try {
    if (isClosed || ahead?.next().done !== false) return;
  } catch {
    // A query reads the same pages and reports the failure to its caller.
    return;
  }
  setImmediate(readOn);
}

function readAheadOnce(): void {
  if (ahead !== null || isClosed) return;
  ahead = readAhead(directory);
  setImmediate(readOn);
}

/** A query: with an index that is rebuilt once if it is damaged, and with the idle work that follows each query. */
function query<Input, Result>(run: (input: Input, context: CallContext) => Result | Promise<Result>) {
  return async (input: Input, context: CallContext): Promise<Result> => {
    try {
      return await run(input, context);
    } catch (error) {
      if (!discardDamagedIndex(error)) throw error;
      return await run(input, context);
    } finally {
      readAheadOnce();
      erasure.noteQuery();
      // The query indexed the removals before it.
      erasure.start();
    }
  };
}

function followAndWriteBack(): void {
  logWriter.writeBack();
  hasNewRuns = true;
  if (!isFollowing) follow();
}

const methods: AuditMethods = {
  follow: followAndWriteBack,
  writeBack: () => logWriter.writeBack(),
  erase() {
    isLogDue = true;
    followAndWriteBack();
    erasure.start();
  },
  report: query((input) => startedEngine().report(input)),
  list: query((input) => startedEngine().list(input)),
  search: query((input) => startedEngine().search(input)),
  select: query((input) => startedEngine().select(input)),
  summarize: query((input, { pause }) => startedEngine().summarize(input, pause)),
  facets: query(() => startedEngine().facets()),
  countFacets: query((input, { pause }) => startedEngine().countFacets(input, pause)),
};

serveCalls(methods, {
  onDispose() {
    isClosed = true;
    erasure.stop();
    ahead?.return();
    engine?.close();
    logWriter.close();
    database.close();
  },
});
