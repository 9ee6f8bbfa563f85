import { createMutex } from './mutex.ts';
import type { CallOptions } from './worker-client.ts';

/** Calls to a worker that may need too much time or memory, one at a time, because a limit ends the worker. */
export interface LimitedCalls {
  /** Resolves with the result, or with the message of the limit that the call reached. */
  run<Result>(outer: AbortSignal, call: (options: CallOptions) => Promise<Result>): Promise<Result | string>;
  /** Rejects the calls and ends the worker. */
  close(): Promise<void>;
}

export interface LimitedCallsOptions {
  readonly milliseconds: number;
  /** The result of a call that takes longer. */
  readonly tooLong: string;
  /** The result of a call that needs more memory than the worker has. */
  readonly tooLarge: string;
}

export function createLimitedCalls(
  worker: { terminate(reason: Error): Promise<unknown> },
  { milliseconds, tooLong, tooLarge }: LimitedCallsOptions,
): LimitedCalls {
  const mutex = createMutex(() => undefined);
  const closing = new AbortController();

  function describeLimit(error: unknown): string | null {
    const { name, code } = error as { readonly name?: string; readonly code?: string };
    if (name === 'TimeoutError') return tooLong;
    return code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge : null;
  }

  return {
    async run(outer, call) {
      const signal = AbortSignal.any([outer, closing.signal]);
      const release = await mutex.take({ signal });
      try {
        return await call({ signal, onAbort: 'terminate', timeLimitMs: milliseconds });
      } catch (error) {
        const limit = signal.aborted ? null : describeLimit(error);
        if (limit === null) throw error;
        return limit;
      } finally {
        release();
      }
    },
    async close() {
      const reason = new DOMException('The host was closed.', 'AbortError');
      closing.abort(reason);
      await worker.terminate(reason);
    },
  };
}
