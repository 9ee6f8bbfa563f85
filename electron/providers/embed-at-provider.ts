import type { EmbeddingModelV4, EmbeddingModelV4CallOptions } from '@ai-sdk/provider';
import type { ProviderSettings } from './language-model-provider.ts';
import { ProviderFailure, toProviderError } from './provider-error.ts';
import type { EmbeddingRequest, Provider } from './provider.ts';

/** What differs between the embeddings of providers. */
export interface EmbeddingTraits {
  readonly createModel: (name: string) => Promise<EmbeddingModelV4>;
  /** The option that distinguishes queries from passages, for providers that have one. */
  readonly optionsFor?: (isQuery: boolean) => NonNullable<EmbeddingModelV4CallOptions['providerOptions']>;
}

/** Similarity needs vectors of length 1, which not all models return. */
function toUnitVector(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / (length || 1));
}

async function embedSome(
  model: EmbeddingModelV4,
  values: string[],
  options: Omit<EmbeddingModelV4CallOptions, 'values'>,
  title: string,
): Promise<Float32Array[]> {
  const { embeddings } = await model.doEmbed({ ...options, values });
  const dimensions = embeddings[0]?.length ?? 0;
  const isUsable = embeddings.length === values.length && dimensions > 0;
  if (isUsable && embeddings.every(({ length }) => length === dimensions)) return embeddings.map(toUnitVector);
  throw new ProviderFailure('provider_failed', `${title} sent embeddings that don't match the texts. Try again.`);
}

/** Creates a provider's `embed` from the model of its package. It doesn't retry and stores no texts. */
export function embedAtProvider(settings: ProviderSettings, traits: EmbeddingTraits): NonNullable<Provider['embed']> {
  return async ({ model: name, texts, isQuery }: EmbeddingRequest, { signal }) => {
    const model = await traits.createModel(name);
    const providerOptions = traits.optionsFor?.(isQuery);
    const vectors: Float32Array[] = [];
    try {
      const max = (await model.maxEmbeddingsPerCall) ?? texts.length;
      while (vectors.length < texts.length) {
        signal.throwIfAborted();
        // A separate signal, because the transport stores the details of a call by its signal.
        const abortSignal = AbortSignal.any([signal]);
        const some = texts.slice(vectors.length, vectors.length + Math.max(1, max));
        const options = { abortSignal, ...(providerOptions && { providerOptions }) };
        vectors.push(...(await embedSome(model, some, options, settings.title)));
      }
      return vectors;
    } catch (error) {
      throw toProviderError(error, settings, signal);
    }
  };
}
