/** Lets one after the other have its turn, in the order in which they asked. */
export interface Turns {
  /** Resolves with the function that ends the turn. Throws the signal's reason when it ends the waiting. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return {
    async take(signal) {
      const before = last;
      const turn = Promise.withResolvers<void>();
      last = before.then(() => turn.promise);
      const aborted = Promise.withResolvers<never>();
      const abort = () => aborted.reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      try {
        await Promise.race([before, aborted.promise]);
        return turn.resolve;
      } catch (error) {
        turn.resolve();
        throw error;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
  };
}
