import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** When a start has loaded what the first requests need. */
const delayMs = 2_000;

/**
 * Returns the memory that only the start needed to the system, once: 15 MB of the host's 115. V8 keeps the room for new objects that
 * the start filled, and gives it back only in this kind of collection, which pauses the host for 30 to 60 ms.
 */
export function releaseStartMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
    setFlagsFromString('--no-expose-gc');
    collect({ type: 'major', flavor: 'last-resort' });
  }, delayMs).unref();
}
