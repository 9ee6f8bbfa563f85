import type { AppError } from '../../shared/app-error.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import type { RunOrigin } from '../completions/completions.ts';
import { ProviderFailure } from '../providers/provider-error.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';
import type { PayingKeys } from './paying-keys.ts';
import { kindOfFailure } from './run-cell.ts';

interface TakeOptions {
  /** Calls at a time at the provider. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/** What the calls of all comparisons and judges wait for. */
export interface CallLimits {
  /**
   * Waits for the limits of the provider and of the key. Resolves with the key that pays, and with the function that lets the next call
   * begin. Comparisons share the calls at a provider: while several wait, the lowest concurrency holds. Throws as `PayingKeys.ready`.
   */
  take(
    provider: string,
    origin: RunOrigin,
    options: TakeOptions,
  ): Promise<{ readonly payer: RunOrigin; readonly release: () => void }>;
  /** Notes a call that met a limit of its key. Providers note theirs in `ProviderPauses`. */
  noteFailure(error: unknown, origin: RunOrigin): void;
}

/** When a limit doesn't say how long to wait. */
const defaultPauseSeconds = 10;

/** The name of a key's pause, which no provider has. Comparisons of others don't wait for the limits of a key. */
const pauseOfKey = ({ callerId }: RunOrigin) => `key ${callerId}`;

export function createCallLimits({
  payingKeys,
  pauses,
}: {
  readonly payingKeys: PayingKeys;
  readonly pauses: Pick<ProviderPauses, 'pause' | 'ready'>;
}): CallLimits {
  const queues = new Map<string, Mutex>();

  function queueAt(provider: string): Mutex {
    const mutex = queues.get(provider) ?? createMutex(() => undefined);
    queues.set(provider, mutex);
    return mutex;
  }

  return {
    async take(provider, origin, { concurrency, signal }) {
      await pauses.ready(provider, { signal });
      await pauses.ready(pauseOfKey(origin), { signal });
      const payer = await payingKeys.ready(origin, { signal });
      const release = await queueAt(provider).take({ signal, concurrency });
      try {
        // Another call may have met the limit while this one waited.
        await pauses.ready(provider, { signal });
        return { payer, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    noteFailure(error, origin) {
      if (error instanceof ProviderFailure || kindOfFailure(error) !== 'rate-limited') return;
      const { retryAfterSeconds = defaultPauseSeconds } = error as AppError;
      pauses.pause(pauseOfKey(origin), retryAfterSeconds * 1000);
    },
  };
}

/** Rate limits are waited for this often, because a provider may always report one. */
export const maxRateLimits = 50;

/** Calls when the limits allow it, and again after a rate limit: the provider did no work. Throws as the call does. */
export async function callWhenReady<Result>(
  limits: CallLimits,
  { provider, origin, ...options }: TakeOptions & { readonly provider: string; readonly origin: RunOrigin },
  call: (payer: RunOrigin) => Promise<Result>,
): Promise<Result> {
  for (let calls = 1; ; calls += 1) {
    const { payer, release } = await limits.take(provider, origin, options);
    try {
      return await call(payer);
    } catch (error) {
      if (kindOfFailure(error) !== 'rate-limited' || calls >= maxRateLimits) throw error;
      limits.noteFailure(error, origin);
    } finally {
      release();
    }
  }
}
