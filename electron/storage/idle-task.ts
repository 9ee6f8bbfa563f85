/** Pause between two steps. */
const pauseMilliseconds = 1;
/** Pause between two steps while queries arrive, so that the steps take at most a tenth of the time but still make progress. */
const longPauseMilliseconds = 100;
/** How long after a query more queries are expected. */
const recentMilliseconds = 1000;

/** Background work of a thread, in small steps between its queries. */
export interface IdleTask {
  start(): void;
  noteQuery(): void;
  stop(): void;
}

/** `step` does a small part of the work and returns false when nothing is left. After a failure, such as a full disk, the next start retries. */
export function createIdleTask(step: () => boolean): IdleTask {
  let timer: NodeJS.Timeout | null = null;
  let lastQueryAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  function start(): void {
    if (isStopped) return;
    const isQueried = performance.now() - lastQueryAt < recentMilliseconds;
    timer ??= setTimeout(take, isQueried ? longPauseMilliseconds : pauseMilliseconds);
  }

  function take(): void {
    timer = null;
    try {
      if (step()) start();
    } catch {
      // The next query or write fails in the same way and reports it.
    }
  }

  return {
    start,
    noteQuery() {
      lastQueryAt = performance.now();
    },
    stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}
