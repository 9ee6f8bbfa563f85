import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import type { RunOrigin } from '../completions/completions.ts';
import type { RateLimits } from '../credits/rate-limits.ts';
import { ProviderFailure } from '../providers/provider-error.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import type { ProviderPauses } from './provider-pauses.ts';
import { kindOfFailure } from './run-cell.ts';

/** The keys that pay for runs after their request was answered. */
export interface PayingKeys {
  /**
   * Counts a request of the key, and resolves with the key as it is now. Waits while its limit per minute is reached. Throws `unauthorized`
   * for a key that was revoked, and the signal's reason.
   */
  ready(origin: RunOrigin, options: { readonly signal: AbortSignal }): Promise<RunOrigin>;
}

export interface PayingKeysOptions {
  readonly apiKeys: Pick<ApiKeyStore, 'find'>;
  readonly rateLimits: Pick<RateLimits, 'takeRequest'>;
}

/** Short, so that a revoked key and a raised limit take effect soon. */
const retryMs = 1000;

export function createPayingKeys({ apiKeys, rateLimits }: PayingKeysOptions): PayingKeys {
  const queues = new Map<string, Mutex>();

  /** Only the first caller in a key's queue looks at the limit; the others wait for it. */
  function queueOf(keyId: string): Mutex {
    const queue = queues.get(keyId) ?? createMutex(() => undefined);
    queues.set(keyId, queue);
    return queue;
  }

  async function takeRequest(origin: RunOrigin, keyId: string, signal: AbortSignal): Promise<RunOrigin> {
    for (;;) {
      signal.throwIfAborted();
      const key = apiKeys.find(keyId);
      if (key === null) throw new AppError('unauthorized', 'The API key that started this was revoked.');
      try {
        rateLimits.takeRequest(key);
        return { ...origin, key };
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
        await delay(retryMs, undefined, { signal });
      }
    }
  }

  return {
    async ready(origin, { signal }) {
      if (origin.key === null) return origin;
      const release = await queueOf(origin.key.id).take({ signal });
      try {
        return await takeRequest(origin, origin.key.id, signal);
      } finally {
        release();
      }
    },
  };
}

/** The name of a key's pause, which no provider has. */
const pauseOfKey = ({ callerId }: RunOrigin) => `key ${callerId}`;

/** What waits after a rate limit. Comparisons of others don't wait for the limits of a key. */
export function pausedBy(error: unknown, provider: string, origin: RunOrigin): string {
  const isOwnLimit = !(error instanceof ProviderFailure) && kindOfFailure(error) === 'rate-limited';
  return isOwnLimit ? pauseOfKey(origin) : provider;
}

export interface ReadyOptions {
  readonly pauses: ProviderPauses;
  readonly payingKeys: PayingKeys;
  readonly signal: AbortSignal;
}

/** Waits for the limits of the provider and of the key. Throws as `PayingKeys` does. */
export async function readyToCall(
  provider: string,
  origin: RunOrigin,
  { pauses, payingKeys, signal }: ReadyOptions,
): Promise<RunOrigin> {
  await pauses.ready(provider, { signal });
  await pauses.ready(pauseOfKey(origin), { signal });
  return payingKeys.ready(origin, { signal });
}

/** Rate limits are waited for this often, because a provider may always report one. */
const maxRateLimits = 50;
/** When a provider doesn't say how long to wait. */
const defaultPauseSeconds = 10;

/** Calls when the limits allow it, and again after a rate limit: the provider did no work. Throws as the call does. */
export async function callWhenReady<Result>(
  provider: string,
  origin: RunOrigin,
  options: ReadyOptions,
  call: (payer: RunOrigin) => Promise<Result>,
): Promise<Result> {
  for (let calls = 1; ; calls += 1) {
    const payer = await readyToCall(provider, origin, options);
    try {
      return await call(payer);
    } catch (error) {
      if (!(error instanceof AppError) || kindOfFailure(error) !== 'rate-limited' || calls >= maxRateLimits)
        throw error;
      const { retryAfterSeconds = defaultPauseSeconds } = error;
      options.pauses.pause(pausedBy(error, provider, origin), retryAfterSeconds * 1000);
    }
  }
}
