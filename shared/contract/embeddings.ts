import { z } from 'zod';

/** Providers that turn texts into vectors. */
export const embeddingProviders = ['OpenAi', 'GoogleGemini', 'Cohere', 'OpenAiCompatible'] as const;
export type EmbeddingProvider = (typeof embeddingProviders)[number];

/**
 * Who turns passages and questions into vectors. Another choice marks the sources that are there: they are found by words alone
 * until they are indexed again. A provider is sent every passage and every question.
 */
export const embeddingSettings = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('on-device') }),
  z.strictObject({
    kind: z.literal('provider'),
    aiSystem: z.enum(embeddingProviders),
    /** As the provider names it; `<endpoint>/<model>` for `OpenAiCompatible`. */
    model: z.string().trim().min(1).max(300),
  }),
]);
export type EmbeddingSettings = z.infer<typeof embeddingSettings>;
