/** Between two steps. */
const pauseMilliseconds = 1;
/** Between two steps while questions are asked: one of a second has a tenth of the time at most, and every step is taken some day. */
const longPauseMilliseconds = 100;
/** How long a question is taken for the first of several. */
const recentMilliseconds = 1000;

/** Work of a thread that nobody waits for, between the questions that somebody does wait for. */
export interface IdleTask {
  start(): void;
  noteQuery(): void;
  stop(): void;
}

/** `step` does a little of it and returns false when there is no more. One that fails, on a full disk, is tried again when it is started again. */
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
      // Whoever asks or writes next fails in the same way, and is told.
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
