import type { Usage } from '../../shared/contract/completions.ts';
import type { EndpointPrice } from '../../shared/contract/settings.ts';
import type { CatalogueEntry, TokenPrices } from './provider-details.ts';

/** Prices of a model's tokens. */
export interface ModelPrices extends TokenPrices {
  /** Prices of every token of a request whose prompt, with its cached part, is longer; null where length doesn't matter. */
  readonly longPrompt: CatalogueEntry['longPrompt'];
  /** Of audio in the prompt; null where it costs as much as text. */
  readonly audioInputPrice: number | null;
  /** Day on which these prices were published, `YYYY-MM-DD`; null for prices that the user set. */
  readonly pricesFrom: string | null;
}

/** Cost of a run. */
export interface RunCost {
  /** US dollars. */
  readonly amount: number;
  /** Day of the prices, `YYYY-MM-DD`. */
  readonly pricesFrom: string;
}

/** Null for a model whose input or output price is unknown. */
export function cataloguePrices(entry: CatalogueEntry | null): ModelPrices | null {
  if (entry === null || entry.inputPrice === null || entry.outputPrice === null) return null;
  return { ...entry, inputPrice: entry.inputPrice, outputPrice: entry.outputPrice };
}

/** Prices that the user set for a model of an endpoint. Cached tokens cost as much as others. */
export function endpointPrices({
  inputPrice,
  outputPrice,
}: Pick<EndpointPrice, 'inputPrice' | 'outputPrice'>): ModelPrices {
  return {
    inputPrice,
    outputPrice,
    cachedInputPrice: inputPrice,
    cacheWritePrice: inputPrice,
    longCacheWritePrice: inputPrice,
    longPrompt: null,
    audioInputPrice: null,
    pricesFrom: null,
  };
}

function countIn(value: unknown, ...path: readonly string[]): number {
  let at = value;
  for (const key of path) at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
  return typeof at === 'number' && at > 0 ? at : 0;
}

/** The tokens of audio in a list of Gemini's, which has a count for each kind of input. */
function audioIn(rawUsage: unknown, list: 'promptTokensDetails' | 'cacheTokensDetails'): number {
  const counts = (rawUsage as Partial<Record<typeof list, unknown>> | null)?.[list];
  if (!Array.isArray(counts)) return 0;
  const audio = (counts as unknown[]).filter((count) => (count as { modality?: unknown } | null)?.modality === 'AUDIO');
  return audio.reduce<number>((sum, count) => sum + countIn(count, 'tokenCount'), 0);
}

/**
 * The cost of a usage by token class, without batch discounts. Cached tokens without a price cost as much as input, which is never too
 * little. Null if a price is unknown: of the model, or of cache writes that the provider reports. `rawUsage` is the provider's own
 * usage object; only there does Anthropic report how long its cache entries live, and Gemini which tokens are audio.
 */
export function costOf(prices: ModelPrices | null, usage: Usage, rawUsage: unknown = null): RunCost | null {
  if (prices === null) return null;
  const { prompt_tokens: prompt, completion_tokens: completion, details } = usage;
  const { longPrompt } = prices;
  const price: TokenPrices = longPrompt !== null && prompt > longPrompt.aboveTokens ? longPrompt : prices;
  // Some providers report more cached tokens than tokens. The rest must not become negative.
  const cached = Math.min(details?.cached_tokens ?? 0, prompt);
  const written = Math.min(details?.cache_write_tokens ?? 0, prompt - cached);
  const writtenLong = Math.min(countIn(rawUsage, 'cache_creation', 'ephemeral_1h_input_tokens'), written);
  const writePrice = written > writtenLong ? price.cacheWritePrice : 0;
  const longWritePrice = writtenLong > 0 ? price.longCacheWritePrice : 0;
  if (writePrice === null || longWritePrice === null) return null;
  const read = prompt - cached - written;
  const heard = audioIn(rawUsage, 'promptTokensDetails') - audioIn(rawUsage, 'cacheTokensDetails');
  const audio = prices.audioInputPrice === null ? 0 : Math.min(Math.max(heard, 0), read);
  const microDollars =
    (read - audio) * price.inputPrice +
    audio * (prices.audioInputPrice ?? 0) +
    cached * (price.cachedInputPrice ?? price.inputPrice) +
    (written - writtenLong) * writePrice +
    writtenLong * longWritePrice +
    completion * price.outputPrice;
  return { amount: microDollars / 1_000_000, pricesFrom: prices.pricesFrom ?? new Date().toISOString().slice(0, 10) };
}
