/** Entry point of the thread that holds the index; started by `create-knowledge-index.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { createIdleTask } from '../../storage/idle-task.ts';
import { isDamage, removeIndexFile } from '../../storage/index-file.ts';
import type { IndexAnswer, IndexCall, IndexLoss, IndexMessage } from './index-calls.ts';
import { indexFile } from './passage-store.ts';
import { IndexEngine } from './index-engine.ts';

const port = parentPort!;
const { directory } = workerData as { directory: string };
let engine: IndexEngine | null = null;
const erasure = createIdleTask(() => startedEngine().erase());
const waiting = new Set<number>();
let isPurging = false;
let isClosed = false;

function startedEngine(): IndexEngine {
  return (engine ??= new IndexEngine(directory));
}

/** What `act` gives, from a new and empty index if the present one is found to be damaged. */
function withoutDamage<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!isDamage(error)) throw error;
    engine?.close();
    engine = null;
    removeIndexFile(indexFile(directory));
    port.postMessage('lost' satisfies IndexLoss);
    return act();
  }
}

function answer({ id, method, input }: IndexCall): void {
  if (!waiting.delete(id)) return;
  try {
    const result: unknown = withoutDamage(() => startedEngine()[method](input as never));
    port.postMessage({ id, result } satisfies IndexAnswer);
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    port.postMessage({ id, failure, code } satisfies IndexAnswer);
  }
  erasure.noteQuestion();
  startPurging();
}

/** A slice at a time, with questions in between. */
function purge(): void {
  isPurging = !isClosed && withoutDamage(() => startedEngine().purge());
  if (isPurging) setImmediate(purge);
  else erasure.start();
}

function startPurging(): void {
  if (isPurging) return;
  isPurging = true;
  setImmediate(purge);
}

function close(): void {
  isClosed = true;
  erasure.stop();
  engine?.close();
  port.close();
}

port.on('message', (message: IndexMessage) => {
  // After the calls that came before it.
  if (message === 'close') setImmediate(close);
  else if ('cancel' in message) waiting.delete(message.cancel);
  else {
    waiting.add(message.id);
    // A later message may cancel this one, and is read only when this turn is over.
    setImmediate(answer, message);
  }
});
startPurging();
