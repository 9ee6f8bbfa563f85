import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** When a start has loaded what the first requests need. */
const startMs = 2_000;

/** The collection must not add to the delays of a host that works: it follows this time with little work. */
const quietMs = 250;
const maxStartUtilization = 0.3;

/**
 * After so much work the host has served calls, whose compiled code the collection would throw away: of a host that was busy from its first
 * second on, 257 functions, at the first pause.
 */
const startWorkMs = 3_000;

/** A thread counts as idle after so long with hardly any work. */
const idleMs = 300_000;
const maxIdleUtilization = 0.01;

/** Less than this isn't worth a pause, in bytes. */
const minReleasedBytes = 32 * 1024 * 1024;

/** Processor time of this thread. Electron's main process has no `eventLoopUtilization`: it is always 0. */
function workMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** False if it couldn't. */
function collect(): boolean {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('globalThis.gc') as
    ((options: { type: 'major'; flavor: 'last-resort' }) => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  // The flag belongs to the process. A thread that collects at the same moment may have turned it off again.
  gc?.({ type: 'major', flavor: 'last-resort' });
  return gc !== undefined;
}

/** Returns memory of this thread to the system whenever it was idle for so long, if the heap has grown beyond `size`, in bytes. */
export function releaseWhenIdle(everyMs = idleMs, size = getHeapStatistics().total_heap_size): void {
  let before = workMs();
  setInterval(() => {
    const work = workMs() - before;
    before += work;
    if (work > maxIdleUtilization * everyMs || getHeapStatistics().total_heap_size < size + minReleasedBytes) return;
    if (collect()) size = getHeapStatistics().total_heap_size;
  }, everyMs).unref();
}

/**
 * Turns V8's own collection of idle threads off. It comes after eight seconds without work and takes the shapes of objects away
 * of which none are left, and with them the code that was compiled for them: the calls after a pause took a third more processor
 * time. `--no-memory-reducer` has no effect on a collection that is already scheduled, and one is by the start.
 */
function keepCompiledCode(): void {
  setFlagsFromString('--memory-reducer-gc-count=0');
}

/**
 * V8 marks the heap again once it has grown by a tenth, as long as that takes less than 3 % of the time. On one processor each marking
 * makes frames of streams 100 to 200 ms late, because its threads take turns with the event loop. With these numbers the heap grows to
 * some twice what was in use: a tenth less processor time for a call, for 80 to 120 MB more under load.
 */
function markLessOften(): void {
  for (const flag of [
    '--heap-growing-percent=100',
    // In percent of that growth. Without them marking starts when the room for new objects is all that is left, which is nearly at once.
    '--incremental-marking-soft-trigger=60',
    '--incremental-marking-hard-trigger=80',
  ])
    setFlagsFromString(flag);
}

/**
 * The room for new objects on the command line (`hostFlags`) is meant for the event loop, whose heap has it already. A thread that starts
 * later would get as much, too: the audit's had 122 MB for the 20 MB that it used. Now it has 37, and is no slower.
 */
function limitThreads(): void {
  setFlagsFromString('--max-semi-space-size=8');
}

/**
 * V8 optimises a function after some 400 and 3,000 calls, and nearly all functions of a request run once for each. With these numbers a
 * call takes a sixth less time once there were a thousand. Not during a start, which would compile what never runs again.
 */
function compileSooner(): void {
  for (const flag of ['--invocation-count-for-maglev=100', '--invocation-count-for-turbofan=1000'])
    setFlagsFromString(flag);
}

interface StartRelease {
  /** `workMs` when the host began to start. */
  readonly workBefore: number;
  readonly retryMs: number;
  readonly maxWorkMs: number;
  readonly ended: () => void;
}

/**
 * Collects what only the start needed, 15 MB of 115, as soon as the host has little work. After a lot of work it leaves that to the next
 * time when the host is idle.
 */
function releaseStart(release: StartRelease): void {
  const { workBefore, retryMs, maxWorkMs, ended } = release;
  const before = workMs();
  setTimeout(() => {
    const hasWorked = workMs() - workBefore > maxWorkMs;
    if (!hasWorked && workMs() - before > maxStartUtilization * quietMs)
      return void setTimeout(releaseStart, retryMs, release).unref();
    if (!hasWorked) collect();
    ended();
  }, quietMs).unref();
}

/**
 * Sets V8 up for a process that serves requests for hours. Code is compiled sooner and kept, and memory is returned to the system after
 * the start and whenever the host is idle: V8 keeps the room for new objects once it was filled, and gives it back only in this kind of
 * collection, which pauses the host for 30 to 60 ms.
 */
export function tuneEngine({ startAfterMs = startMs, idleAfterMs = idleMs, maxStartWorkMs = startWorkMs } = {}): void {
  keepCompiledCode();
  markLessOften();
  limitThreads();
  const workBefore = workMs();
  setTimeout(() => {
    const { total_heap_size: startSize } = getHeapStatistics();
    compileSooner();
    releaseStart({
      workBefore,
      retryMs: startAfterMs,
      maxWorkMs: maxStartWorkMs,
      ended: () => releaseWhenIdle(idleAfterMs, Math.min(startSize, getHeapStatistics().total_heap_size)),
    });
  }, startAfterMs).unref();
}
