import { setTimeout as delay } from 'node:timers/promises';
import { defaultRetrySeconds, ProviderFailure, retrySeconds } from './provider-error.ts';
import type { ResponseHeaders } from './response-receiver.ts';

/** Providers limit each account: that of an endpoint, or of the provider. `servedBy` is `<aiSystem>/<model>`. */
export function providerOf(servedBy: string): string {
  return servedBy.split('/', servedBy.startsWith('OpenAiCompatible/') ? 2 : 1).join('/');
}

/** Providers that have asked their callers to wait. Whoever makes many calls waits; a single call of a person doesn't. */
export interface ProviderPauses {
  /** Notes a failed call: a rate limit, or another failure after which the provider wants to be left alone. */
  note(servedBy: string, error: unknown): void;
  /** The same for a response that is passed on as it came. */
  noteResponse(servedBy: string, response: { readonly status: number; readonly headers: ResponseHeaders }): void;
  /** A later end wins. */
  pause(name: string, milliseconds: number): void;
  /** Resolves when the provider may be called. Rejects with the signal's reason. */
  ready(name: string, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** Longer waits are cut. After this time the provider says again how long to wait. */
const maxPauseMs = 600_000;

export function createProviderPauses(now: () => number = () => performance.now()): ProviderPauses {
  const pausedUntil = new Map<string, number>();

  function pause(name: string, milliseconds: number): void {
    const until = now() + Math.min(milliseconds, maxPauseMs);
    pausedUntil.set(name, Math.max(until, pausedUntil.get(name) ?? 0));
  }

  return {
    note(servedBy, error) {
      if (!(error instanceof ProviderFailure) || error.retryAfterSeconds === undefined) return;
      pause(providerOf(servedBy), error.retryAfterSeconds * 1000);
    },
    noteResponse(servedBy, { status, headers }) {
      if (status !== 429 && status !== 503 && status !== 529) return;
      const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
      const seconds = retrySeconds(Object.fromEntries(texts), undefined) ?? (status === 429 ? defaultRetrySeconds : 0);
      pause(providerOf(servedBy), seconds * 1000);
    },
    pause,
    async ready(name, { signal }) {
      for (;;) {
        const left = (pausedUntil.get(name) ?? 0) - now();
        if (left <= 0) return;
        await delay(left, undefined, { signal });
      }
    },
  };
}
