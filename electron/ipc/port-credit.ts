/** Bytes that may still be sent of one answer. */
export interface Credit {
  /** Resolves at once while there is credit, otherwise with the next grant; rejects when the signal ends the wait. */
  available(options: { signal: AbortSignal }): Promise<void>;
  /** May go below zero by what is left of one piece. */
  take(bytes: number): void;
  grant(bytes: number): void;
}

export function createCredit(initial: number): Credit {
  let left = initial;
  let granted: (() => void) | null = null;

  return {
    async available({ signal }) {
      signal.throwIfAborted();
      if (left > 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      granted = resolve;
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    take(bytes) {
      left -= bytes;
    },
    grant(bytes) {
      left += bytes;
      if (left > 0) granted?.();
    },
  };
}
