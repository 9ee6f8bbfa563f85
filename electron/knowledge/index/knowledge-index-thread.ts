/** Entry point of the thread that holds the index; started by `create-knowledge-index.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { createQuietWork } from '../../storage/quiet-work.ts';
import type { IndexAnswer, IndexCall, IndexMessage } from './index-calls.ts';
import { IndexEngine } from './index-engine.ts';

const port = parentPort!;
const { directory } = workerData as { directory: string };
const engine = new IndexEngine(directory);
const erasure = createQuietWork(() => engine.erase());
const waiting = new Set<number>();
let isPurging = false;
let isClosed = false;

function answer({ id, method, input }: IndexCall): void {
  if (!waiting.delete(id)) return;
  try {
    const result: unknown = engine[method](input as never);
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
  isPurging = !isClosed && engine.purge();
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
  engine.close();
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
