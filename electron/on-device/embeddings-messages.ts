/** What the host sends to the thread that makes embeddings. */
export type EmbeddingsQuestion =
  | { readonly type: 'embed'; readonly id: number; readonly texts: readonly string[] }
  | { readonly type: 'cancel'; readonly id: number };

/** What the thread answers; `vectors` holds one vector after the other. */
export type EmbeddingsAnswer =
  | { readonly type: 'progress'; readonly id: number; readonly done: number }
  | { readonly type: 'embedded'; readonly id: number; readonly vectors: Float32Array }
  | { readonly type: 'failed'; readonly id: number; readonly details: string };
