import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { EmbeddingSettings } from '../../shared/contract/settings.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';

export interface EmbedTextsOptions {
  readonly signal: AbortSignal;
  /** Whether the texts are queries, not passages. Some models embed them differently. */
  readonly isQuestion?: boolean;
}

/** Turns passages and queries into vectors. */
export interface TextEmbedder {
  /** The model and its version. Only vectors of the same model are comparable, so another model requires indexing again. */
  readonly model: string;
  /** One vector of length 1 per text, in order. Rejects with an `AbortError` after an abort. */
  embed(texts: readonly string[], options: EmbedTextsOptions): Promise<Float32Array[]>;
}

/** The embedder that needs no key and no network. */
export function onDeviceEmbedder({ model, embed }: Embeddings): TextEmbedder {
  return { model: `on-device/${model}`, embed };
}

/** Retries of a busy provider, and the delay if it doesn't specify one. */
const maxRetries = 5;
const defaultWaitSeconds = 5;
const longestWaitSeconds = 60;

const isBusy = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'rate_limited' || error.code === 'provider_overloaded');

export interface TextEmbedderOptions {
  readonly settings: () => EmbeddingSettings;
  readonly embeddings: Embeddings;
  readonly providers: Pick<Providers, 'provider' | 'endpointProvider'>;
  readonly pauses: Pick<ProviderPauses, 'note'>;
}

/** Returns the embedder that the user has chosen; called for every source and every query. */
export function createTextEmbedders(options: TextEmbedderOptions): () => TextEmbedder {
  const { settings, embeddings, providers, pauses } = options;
  const onDevice = onDeviceEmbedder(embeddings);

  function providerOf({ aiSystem, model }: Extract<EmbeddingSettings, { kind: 'provider' }>): [Provider, string] {
    if (aiSystem !== 'OpenAiCompatible') return [providers.provider(aiSystem), model];
    const slash = model.indexOf('/');
    const provider = slash < 0 ? null : providers.endpointProvider(model.slice(0, slash));
    if (provider) return [provider, model.slice(slash + 1)];
    throw new AppError(
      'provider_not_configured',
      `There is no endpoint for the embedding model ${model}. Its name begins with that of an endpoint and a slash.`,
    );
  }

  return () => {
    const choice = settings();
    if (choice.kind === 'on-device') return onDevice;
    return {
      model: `${choice.aiSystem}/${choice.model}`,
      async embed(texts, { signal, isQuestion = false }) {
        const [provider, model] = providerOf(choice);
        const ask = async () => {
          try {
            return await provider.embed!({ model, texts, isQuery: isQuestion }, { signal });
          } catch (error) {
            pauses.note(`${choice.aiSystem}/${choice.model}`, error);
            throw error;
          }
        };
        // A query isn't retried, because a user waits for it and keywords also find passages.
        return isQuestion ? ask() : askPatiently(ask, signal);
      },
    };
  };
}

async function askPatiently<Value>(ask: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isBusy(error) || retry === maxRetries) throw error;
      const seconds = Math.min(error.retryAfterSeconds ?? defaultWaitSeconds, longestWaitSeconds);
      await wait(seconds * 1000, undefined, { signal });
    }
  }
}
