/** A mutex, or with a higher concurrency a semaphore; first come, first served. */
export interface Mutex {
  /** The number of waiting callers. */
  readonly waiting: number;
  /**
   * Resolves with the function that releases the mutex; rejects with the signal's reason. A caller can have a concurrency of its own:
   * it starts when fewer than that hold the mutex, and those behind it wait for it.
   */
  take(options: { readonly signal: AbortSignal; readonly concurrency?: number }): Promise<() => void>;
}

/** `onChange` is called when the number of waiting callers changes. */
export function createMutex(onChange: () => void, { concurrency = 1 } = {}): Mutex {
  const waiting: { readonly limit: number; readonly start: () => void }[] = [];
  let active = 0;

  function startNext(): void {
    while (waiting.length > 0 && active < waiting[0]!.limit) {
      const { start } = waiting.shift()!;
      active += 1;
      onChange();
      start();
    }
  }

  function release(): void {
    active -= 1;
    startNext();
  }

  return {
    get waiting() {
      return waiting.length;
    },
    async take({ signal, concurrency: limit = concurrency }) {
      signal.throwIfAborted();
      if (waiting.length === 0 && active < limit) {
        active += 1;
        return release;
      }
      await new Promise<void>((resolve, reject) => {
        const start = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const caller = { limit, start };
        const leave = () => {
          waiting.splice(waiting.indexOf(caller), 1);
          onChange();
          reject(signal.reason);
          startNext();
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(caller);
        onChange();
      });
      return release;
    },
  };
}
