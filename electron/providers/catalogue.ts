import { keyedProviders, type KeyedProvider } from '../../shared/contract/common.ts';
import { anthropic } from './anthropic/details.ts';
import { cohere } from './cohere/details.ts';
import { googleGemini } from './google-gemini/details.ts';
import { groq } from './groq/details.ts';
import { openAi } from './open-ai/details.ts';
import type { CatalogueEntry, ProviderDetails } from './provider-details.ts';

/** Threads load this list, so it must not import packages of the AI SDK. */
export const detailsOf: Readonly<Record<KeyedProvider, ProviderDetails>> = {
  OpenAi: openAi,
  Anthropic: anthropic,
  GoogleGemini: googleGemini,
  Groq: groq,
  Cohere: cohere,
};

function byName(entries: readonly unknown[]): ReadonlyMap<string, CatalogueEntry> {
  return new Map((entries as CatalogueEntry[]).map((entry) => [entry.name, entry]));
}

/** The bundled models of each provider. */
export const catalogue = Object.fromEntries(
  keyedProviders.map((name) => [name, byName(detailsOf[name].models)]),
) as Record<KeyedProvider, ReadonlyMap<string, CatalogueEntry>>;

/** Suffix of a model's release: a date, `latest` or a number. */
const releaseEnding = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2,4}|latest)$/;

/** The entry of a name, or of the model that the name is a release of; null for a model that isn't in the catalogue. */
export function findEntry(aiSystem: KeyedProvider, name: string): CatalogueEntry | null {
  const entries = catalogue[aiSystem];
  return entries.get(name) ?? entries.get(name.replace(releaseEnding, '')) ?? null;
}
