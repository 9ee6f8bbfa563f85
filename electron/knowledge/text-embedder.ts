import type { Embeddings } from '../on-device/embeddings.ts';

/** Turns passages and questions into vectors. */
export interface TextEmbedder {
  /** Names the model and its version. Only vectors of one model are compared; another one asks for sources to be indexed again. */
  readonly model: string;
  /** One vector of length 1 per text, in order. Rejects with an `AbortError` when the signal ends it. */
  embed(texts: readonly string[], options: { signal: AbortSignal }): Promise<Float32Array[]>;
}

/** Changes whenever the same text would get another vector. */
const onDeviceModel = 'on-device/all-MiniLM-L6-v2';

/** The embedder that is always there: no key, no network. */
export function onDeviceEmbedder(embeddings: Embeddings): TextEmbedder {
  return { model: onDeviceModel, embed: embeddings.embed };
}
