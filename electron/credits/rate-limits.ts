import { AppError } from '../../shared/app-error.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';

const windowMs = 60_000;

/** What a key used in the minute that started with its first request. */
interface Minute {
  readonly startedAt: number;
  requests: number;
  tokens: number;
}

type LimitedKey = Pick<AuthenticatedKey, 'id' | 'requestsPerMinute' | 'tokensPerMinute'>;

/** The tokens of one run: an estimate until the run ends. */
export interface TokenReservation {
  /** Replaces the estimate. A second call does nothing. */
  correct(tokens: number): void;
}

export interface RateLimits {
  /** Counts a request. Throws `rate_limited` if the key has none left in this minute. */
  takeRequest(key: LimitedKey): void;
  /** Reserves tokens before a run. Throws `rate_limited` if too few are left. Null is the window. */
  reserveTokens(key: LimitedKey | null, estimate: number): TokenReservation;
  /** The headers of a response to this key, with lower-case names; empty for a key without limits. */
  headersFor(key: LimitedKey): Record<string, string>;
}

function rateLimited(limit: string, retryAfterSeconds: number): AppError {
  return new AppError(
    'rate_limited',
    `This API key is limited to ${limit} per minute. Retry in ${retryAfterSeconds} s, or raise the limit in Settings, API keys.`,
    { retryAfterSeconds },
  );
}

/** The limit that the key is closest to. A response has only one set of headers. */
function nearestLimit({ requestsPerMinute, tokensPerMinute }: LimitedKey, { requests, tokens }: Minute) {
  const limits = [
    { limit: requestsPerMinute, used: requests },
    { limit: tokensPerMinute, used: tokens },
  ].flatMap(({ limit, used }) => (limit === null ? [] : [{ limit, left: Math.max(0, limit - used) }]));
  return limits.toSorted((one, other) => one.left * other.limit - other.left * one.limit)[0];
}

/** Counts in memory, so a restart starts a new minute. A data folder has one host, so there is no other count. */
export function createRateLimits(now = () => performance.now()): RateLimits {
  const minutes = new Map<string, Minute>();

  function minuteOf({ id }: LimitedKey): Minute {
    const current = minutes.get(id);
    if (current && now() - current.startedAt < windowMs) return current;
    const next = { startedAt: now(), requests: 0, tokens: 0 };
    minutes.set(id, next);
    return next;
  }

  const secondsLeft = ({ startedAt }: Minute): number => Math.max(1, Math.ceil((startedAt + windowMs - now()) / 1000));

  return {
    takeRequest(key) {
      const { requestsPerMinute: limit } = key;
      if (limit === null) return;
      const minute = minuteOf(key);
      if (minute.requests >= limit) throw rateLimited(`${limit} requests`, secondsLeft(minute));
      minute.requests += 1;
    },
    reserveTokens(key, estimate) {
      if (key === null || key.tokensPerMinute === null) return { correct: () => {} };
      const { tokensPerMinute: limit } = key;
      const minute = minuteOf(key);
      // A run that exceeds the whole limit may start in a minute without other runs. Otherwise it could never start.
      if (minute.tokens > 0 && minute.tokens + estimate > limit)
        throw rateLimited(`${limit} tokens`, secondsLeft(minute));
      minute.tokens += estimate;
      let reserved: number | null = estimate;
      return {
        correct(tokens) {
          if (reserved === null) return;
          const current = minuteOf(key);
          // The estimate counted in the minute in which the run started. This minute gets only what exceeds it.
          const change = current === minute ? tokens - reserved : Math.max(0, tokens - reserved);
          current.tokens = Math.max(0, current.tokens + change);
          reserved = null;
        },
      };
    },
    headersFor(key): Record<string, string> {
      if (key.requestsPerMinute === null && key.tokensPerMinute === null) return {};
      const minute = minuteOf(key);
      const nearest = nearestLimit(key, minute);
      if (!nearest) return {};
      return {
        'ratelimit-limit': String(nearest.limit),
        'ratelimit-remaining': String(nearest.left),
        'ratelimit-reset': String(secondsLeft(minute)),
      };
    },
  };
}
