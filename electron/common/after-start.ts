import { performance } from 'node:perf_hooks';
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
 * V8 compiles a function with all optimisations after 3,000 calls, and these functions run once for each request: a program's first hundreds of requests
 * took a fifth more processor time. During a start this would compile what never runs again, for 300 ms and 7 MB more.
 */
export const compilationFlags = [
  '--invocation-count-for-maglev=50',
  '--minimum-invocations-after-ic-update=20',
  '--invocation-count-for-turbofan=300',
];

function releaseStartMemory(): void {
  const before = performance.eventLoopUtilization();
  setTimeout(() => {
    if (performance.eventLoopUtilization(before).utilization < maxUtilization) collect();
    else setTimeout(releaseStartMemory, delayMs).unref();
  }, quietMs).unref();
}

/**
 * What a host does when its start is over. It has requests compiled sooner, and returns the memory that only the start needed to the system, once
 * the host is idle: 15 MB of its 115. V8 keeps the room for new objects that the start filled, and gives it back only in this kind of collection,
 * which pauses the host for 30 to 60 ms.
 */
export function tuneAfterStart(): void {
  setTimeout(() => {
    for (const flag of compilationFlags) setFlagsFromString(flag);
    releaseStartMemory();
  }, delayMs).unref();
}
