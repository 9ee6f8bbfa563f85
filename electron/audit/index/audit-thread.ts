import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import { databaseFile } from '../../storage/database.ts';
import { isDamage, removeIndexFile } from '../../storage/index-file.ts';
import { createLogWriter } from '../../storage/log-writer.ts';
import { createIdleTask } from '../../storage/idle-task.ts';
import { AuditEngine } from './audit-engine.ts';
import type { AuditAnswer, AuditCall, AuditCalls, AuditMessage } from './audit-calls.ts';
import { indexFile } from './index-database.ts';
import { readAhead } from './read-ahead.ts';

/**
 * The thread of the audit: reads the recorded runs through a connection of its own, keeps the index up to date while nothing
 * is asked, and answers one question at a time, so that none of it holds up the event loop of the host. It is told of
 * everything that is recorded, so it also writes the database's log back.
 */
const port = parentPort!;
const { directory } = workerData as { directory: string };
const database = new Database(databaseFile(directory), { readonly: true });
// Pages are read where the operating system has them, without a copy.
database.pragma('mmap_size = 2147418112');
const logWriter = createLogWriter(directory);
let engine: AuditEngine | null = null;
/** Begins with the first question: whoever never asks pays nothing for it. */
let ahead: Generator<void, void, void> | null = null;
let isFollowing = false;
let hasDiscarded = false;
let isClosed = false;
const cancelled = new Set<number>();
/** Whether something was removed that the log of the runs still holds. */
let isLogDue = false;
const erasure = createIdleTask(() => {
  if (startedEngine().erase()) return true;
  if (isLogDue) isLogDue = !logWriter.empty();
  return isLogDue;
});

function startedEngine(): AuditEngine {
  return (engine ??= new AuditEngine(database, directory));
}

/** Whether a failure may have been the index's, which is thrown away then and made again; a second one is the database's own. */
function discardDamagedIndex(failure: unknown): boolean {
  if (!isDamage(failure) || hasDiscarded) return false;
  hasDiscarded = true;
  engine?.close();
  engine = null;
  removeIndexFile(indexFile(directory));
  return true;
}

/** One slice at a time, with questions in between. */
function follow(): void {
  if (isClosed) return;
  try {
    isFollowing = startedEngine().follow();
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
    // What cannot be read here cannot be read by a question either, which says so to whoever asks it.
    return;
  }
  setImmediate(readOn);
}

function readAheadOnce(): void {
  if (ahead !== null || isClosed) return;
  ahead = readAhead(directory);
  setImmediate(readOn);
}

const calls: AuditCalls = {
  follow() {
    logWriter.writeBack();
    if (!isFollowing) follow();
  },
  writeBack: () => logWriter.writeBack(),
  erase() {
    isLogDue = true;
    calls.follow(null);
    erasure.start();
  },
  report: (input) => startedEngine().report(input),
  list: (input) => startedEngine().list(input),
  search: (input) => startedEngine().search(input),
  select: (input) => startedEngine().select(input),
  summarize: (input, turn) => startedEngine().summarize(input, turn!),
  facets: () => startedEngine().facets(),
  countFacets: (input, turn) => startedEngine().countFacets(input, turn!),
};

function failureOf(error: unknown): AuditAnswer['error'] {
  if (error instanceof AppError) return { code: error.code, message: error.message, details: error.details };
  return {
    code: 'internal',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    details: [],
    cause: error instanceof Error && 'code' in error ? String(error.code) : undefined,
  };
}

/** Lets other questions in; throws when this one is no longer asked. */
async function pause(id: number): Promise<void> {
  await new Promise(setImmediate);
  if (cancelled.has(id)) throw new AppError('internal', 'The search was canceled.');
}

async function answer({ id, method, input }: AuditCall): Promise<void> {
  if (isClosed || cancelled.delete(id)) return;
  try {
    const ask = (): unknown => calls[method](input as never, () => pause(id));
    let result: unknown;
    try {
      result = await ask();
    } catch (error) {
      if (!discardDamagedIndex(error)) throw error;
      result = await ask();
    }
    port.postMessage({ id, result } satisfies AuditAnswer);
  } catch (error) {
    port.postMessage({ id, error: failureOf(error) } satisfies AuditAnswer);
  } finally {
    cancelled.delete(id);
  }
  if (method === 'follow' || method === 'writeBack' || method === 'erase') return;
  readAheadOnce();
  erasure.noteQuestion();
  // A question takes up what was removed before it.
  erasure.start();
}

port.on('message', (message: AuditMessage) => {
  if (message === 'close') {
    isClosed = true;
    erasure.stop();
    ahead?.return();
    engine?.close();
    logWriter.close();
    database.close();
    port.close();
  } else if ('cancel' in message) cancelled.add(message.cancel);
  // A later message may cancel this one, and is read only when this turn is over.
  else setImmediate(() => void answer(message));
});
