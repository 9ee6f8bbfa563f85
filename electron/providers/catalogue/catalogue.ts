import type { KeyedProvider } from '../../../shared/contract/common.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import type { ModelPrices } from '../model-prices.ts';
import anthropic from './anthropic.json' with { type: 'json' };
import cohere from './cohere.json' with { type: 'json' };
import googleGemini from './google-gemini.json' with { type: 'json' };
import groq from './groq.json' with { type: 'json' };
import openAi from './open-ai.json' with { type: 'json' };

/**
 * When a model takes temperature, top_p and top_k: `unless-effort` while it is not told to reason, `with-effort-none` only
 * when it is told not to.
 */
export type Sampling = 'always' | 'unless-effort' | 'with-effort-none' | 'never';

/** What is known of a model; prices are US dollars per million tokens, unknown facts are null. */
export interface CatalogueEntry {
  readonly name: string;
  readonly title: string;
  readonly contextTokens: number | null;
  readonly outputTokens: number | null;
  readonly inputPrice: number | null;
  readonly outputPrice: number | null;
  readonly cachedInputPrice: number | null;
  readonly cacheWritePrice: number | null;
  /** For writes that stay in the cache longer than the usual time. */
  readonly longCacheWritePrice: number | null;
  readonly longPrompt: ModelPrices['longPrompt'];
  /** Day on which the prices were published, `YYYY-MM-DD`. */
  readonly pricesFrom: string | null;
  readonly capabilities: Model['capabilities'];
  readonly sampling: Sampling;
  /** Null when it takes no `reasoning_effort`. */
  readonly reasoningEfforts: readonly string[] | null;
  /** `YYYY-MM-DD`. */
  readonly shutdownDate: string | null;
  readonly hasEnded: boolean;
  readonly replacement: string | null;
}

function byName(entries: readonly unknown[]): ReadonlyMap<string, CatalogueEntry> {
  return new Map((entries as CatalogueEntry[]).map((entry) => [entry.name, entry]));
}

/** The bundled facts, made by scripts/make-catalogue.mjs. */
export const catalogue: Readonly<Record<KeyedProvider, ReadonlyMap<string, CatalogueEntry>>> = {
  OpenAi: byName(openAi),
  Anthropic: byName(anthropic),
  GoogleGemini: byName(googleGemini),
  Groq: byName(groq),
  Cohere: byName(cohere),
};

/** Ending that marks one release of a model: a date, `latest` or a number. */
const releaseEnding = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2,4}|latest)$/;

/** The entry of a name, or of the model that it is a release of; null for a model that no one wrote down. */
export function findEntry(aiSystem: KeyedProvider, name: string): CatalogueEntry | null {
  const entries = catalogue[aiSystem];
  return entries.get(name) ?? entries.get(name.replace(releaseEnding, '')) ?? null;
}
