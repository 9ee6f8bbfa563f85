import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import type { RunOrigin } from '../completions/completions.ts';
import type { RateLimits } from '../credits/rate-limits.ts';
import type { ApiKeyStore } from '../storage/storage.ts';

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
