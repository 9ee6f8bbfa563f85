import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** When a start has loaded what the first requests need. */
const delayMs = 2_000;

/** Of the time since the last check. The pause must not add to the delays of a host that already works, and grows with its memory. */
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
export function releaseStartMemory(since = performance.eventLoopUtilization()): void {
  setTimeout(() => {
    const now = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(now, since).utilization < maxUtilization) collect();
    else releaseStartMemory(now);
  }, delayMs).unref();
}
