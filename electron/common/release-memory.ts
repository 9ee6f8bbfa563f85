import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** When a start has loaded what the first requests need. */
const delayMs = 2_000;

/** The collection must not add to the delays of a host that works: it follows this time with little work. */
const quietMs = 250;
const maxUtilization = 0.3;

function collect(): void {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  collectGarbage({ type: 'major', flavor: 'last-resort' });
}

/**
 * Returns the memory that only the start needed to the system, once the host is idle: 15 MB of its 115. V8 keeps the room for new objects
 * that the start filled, and gives it back only in this kind of collection, which pauses the host for 30 to 60 ms.
 */
export function releaseStartMemory(): void {
  setTimeout(() => {
    const before = performance.eventLoopUtilization();
    setTimeout(() => {
      if (performance.eventLoopUtilization(before).utilization < maxUtilization) collect();
      else releaseStartMemory();
    }, quietMs).unref();
  }, delayMs).unref();
}
