import type { Embeddings } from '../on-device/embeddings.ts';

/** About 6 MB. */
const mostRemembered = 2000;

/**
 * Embeddings that remember the newest 2,000 passages: system messages, prompts that are run again and the sentences that a
 * streamed answer is judged with are seen many times.
 */
export function rememberVectors(embeddings: Pick<Embeddings, 'embed'>): Pick<Embeddings, 'embed'> {
  /** The one that was used longest ago comes first. */
  const remembered = new Map<string, Float32Array>();

  function remember(text: string, vector: Float32Array): void {
    remembered.delete(text);
    remembered.set(text, vector);
    if (remembered.size > mostRemembered) remembered.delete(remembered.keys().next().value!);
  }

  return {
    async embed(texts, options) {
      const known = new Map(texts.map((text) => [text, remembered.get(text)]));
      const missing = [...known].flatMap(([text, vector]) => (vector ? [] : [text]));
      const vectors = await embeddings.embed(missing, options);
      // Copied: a vector may be a part of a buffer that holds many.
      for (const [index, text] of missing.entries()) known.set(text, vectors[index]!.slice());
      for (const [text, vector] of known) remember(text, vector!);
      return texts.map((text) => known.get(text)!);
    },
  };
}
