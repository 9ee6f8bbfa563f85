import { cpus } from 'node:os';

/** Less than this says nothing yet: the system counts processor time in steps of about ten milliseconds. */
const sampleMs = 250;

/** A core that is free for most of a sample counts as free. */
const maxCoreShare = 0.7;

interface Sample {
  readonly at: number;
  /** Milliseconds that all cores together have been idle. */
  readonly idle: number;
  /** Milliseconds of processor time that this process has had. */
  readonly own: number;
}

function takeSample(): Sample {
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    idle: cpus().reduce((sum, { times }) => sum + times.idle, 0),
    own: (user + system) / 1000,
  };
}

/**
 * How many threads of this process get a whole core: idle cores, and those that it already uses. At least
 * 1, at most `maximum`. It matters much: the threads of one inference step wait for each other in a loop, so that one thread
 * without a core makes all of them about ten times slower than a single one would be.
 */
export function createThreadMeter(maximum: number): () => number {
  let last = takeSample();
  let threads = 1;
  return () => {
    const now = takeSample();
    const elapsed = now.at - last.at;
    if (elapsed < sampleMs) return threads;
    const spareCores = (now.idle - last.idle + now.own - last.own) / elapsed;
    threads = Math.max(1, Math.min(maximum, Math.floor(spareCores + 1 - maxCoreShare)));
    last = now;
    return threads;
  };
}
