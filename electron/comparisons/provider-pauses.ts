import { setTimeout as delay } from 'node:timers/promises';

/** Providers limit each account: that of an endpoint, or of the provider. `servedBy` is `<aiSystem>/<model>`. */
export function providerOf(servedBy: string): string {
  return servedBy.split('/', servedBy.startsWith('OpenAiCompatible/') ? 2 : 1).join('/');
}

/** Providers that have asked their callers to wait, for all comparisons. */
export interface ProviderPauses {
  /** A later end wins. */
  pause(provider: string, milliseconds: number): void;
  /** Resolves when the provider may be called. Rejects with the signal's reason. */
  ready(provider: string, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** Longer waits are cut. After this time the provider says again how long to wait. */
const maxPauseMs = 600_000;

export function createProviderPauses(now: () => number = () => performance.now()): ProviderPauses {
  const pausedUntil = new Map<string, number>();
  return {
    pause(provider, milliseconds) {
      const until = now() + Math.min(milliseconds, maxPauseMs);
      pausedUntil.set(provider, Math.max(until, pausedUntil.get(provider) ?? 0));
    },
    async ready(provider, { signal }) {
      for (;;) {
        const left = (pausedUntil.get(provider) ?? 0) - now();
        if (left <= 0) return;
        await delay(left, undefined, { signal });
      }
    },
  };
}
