import { cpus } from 'node:os';

/** Shorter samples are meaningless: the system counts processor time in steps of about ten milliseconds. */
const sampleMs = 250;

/** A core that is free for most of a sample counts as free. */
const maxCoreShare = 0.7;

interface Sample {
  readonly at: number;
  /** Milliseconds that all cores together have been idle. */
  readonly idle: number;
  /** Milliseconds of processor time that this process has used. */
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
 * How many threads of this process get a whole core: idle cores, and those that it already uses. At least 1, at most `maximum`. The
 * threads of one inference step busy-wait for each other, so one thread without a core makes all of them about ten times slower
 * than a single one.
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
