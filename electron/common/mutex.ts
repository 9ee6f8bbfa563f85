/** A mutex, or with a higher concurrency a semaphore; first come, first served. */
export interface Mutex {
  /** The number of waiting callers. */
  readonly waiting: number;
  /** Resolves with the function that releases the mutex; rejects with the signal's reason. */
  take(options: { readonly signal: AbortSignal }): Promise<() => void>;
}

/** `onChange` is called when the number of waiting callers changes. */
export function createMutex(onChange: () => void, { concurrency = 1 } = {}): Mutex {
  const waiting: (() => void)[] = [];
  let active = 0;

  function release(): void {
    const next = waiting.shift();
    if (!next) active -= 1;
    else {
      onChange();
      next();
    }
  }

  return {
    get waiting() {
      return waiting.length;
    },
    async take({ signal }) {
      signal.throwIfAborted();
      if (active < concurrency) {
        active += 1;
        return release;
      }
      await new Promise<void>((resolve, reject) => {
        const start = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.splice(waiting.indexOf(start), 1);
          onChange();
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(start);
        onChange();
      });
      return release;
    },
  };
}
