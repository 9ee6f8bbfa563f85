import { z } from 'zod';

/** A uuid of any version, in the usual 8-4-4-4-12 form. */
export const uuid = z.guid({ error: 'must be a uuid' }).meta({ format: 'uuid' });

/** UTC with milliseconds, for example `2026-11-20T09:30:00.000Z`. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** The six values that the specification names and `OpenAiCompatible`, whose models are written `<endpoint>/<model>`. */
export const aiSystems = [
  'ServiceAi',
  'OpenAi',
  'Anthropic',
  'GoogleGemini',
  'Groq',
  'Cohere',
  'OpenAiCompatible',
] as const;
export const aiSystem = z.enum(aiSystems).meta({ id: 'AiSystem' });
export type AiSystem = z.infer<typeof aiSystem>;

/** Providers that take one key and have one base address. */
export const keyedProviders = ['OpenAi', 'Anthropic', 'GoogleGemini', 'Groq', 'Cohere'] as const;
export const keyedProvider = z.enum(keyedProviders).meta({ id: 'KeyedProvider' });
export type KeyedProvider = z.infer<typeof keyedProvider>;

export const errorDetail = z
  .object({
    field: z.string(),
    issue: z.string(),
    line: z.int().optional(),
    column: z.int().optional(),
  })
  .meta({ id: 'ErrorDetail' });

export const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.array(errorDetail),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Error' });

/** Query of every list: `pageSize` 1 to 100 (20 unless told) and the token of the answer before. */
export const listQuery = z.strictObject({
  pageSize: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 100')
    .transform(Number)
    .refine((size) => size >= 1 && size <= 100, 'must be a whole number from 1 to 100')
    .optional(),
  continuationToken: z.string().min(1, 'must not be empty').optional(),
});

/** One page of a list, newest first. `continuationToken` is null on the last page. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), continuationToken: z.string().nullable() });
}
