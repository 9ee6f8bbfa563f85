import { z } from 'zod';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** Max stored bytes of one request body and of one response body, 1 MB. */
export const maxExchangeBodyBytes = 1_048_576;

/** How many runs keep their provider exchange while the setting is `newest`. */
export const newestExchangeRuns = 1000;

/** The runs whose provider exchange is stored. */
export const providerExchangeSettings = z.strictObject({ keep: z.enum(['none', 'newest', 'all']) });
export type ProviderExchangeSettings = z.infer<typeof providerExchangeSettings>;

const exchangeText = z.object({
  text: z.string(),
  /** Bytes of the whole text, also if it was truncated. */
  bytes: z.int(),
  isCut: z.boolean(),
});
export type ExchangeText = z.infer<typeof exchangeText>;

const header = z.tuple([z.string(), z.string()]);

/** One HTTP call to a provider. Credentials are replaced by `[redacted]` before it is stored. */
const httpExchange = z.object({
  kind: z.literal('http'),
  startedAt: timestamp,
  request: z.object({ method: z.string(), url: z.string(), headers: z.array(header), body: exchangeText.nullable() }),
  /** Null if the call ended before the response started. */
  response: z
    .object({ status: z.int(), statusText: z.string(), headers: z.array(header), body: exchangeText })
    .nullable(),
  /** Why the call ended early; null for a complete response. */
  error: z.string().nullable(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number().nullable(),
});
export type HttpExchange = z.infer<typeof httpExchange>;

/** One call of the on-device model, which involves no HTTP. */
const onDeviceExchange = z.object({
  kind: z.literal('on-device'),
  startedAt: timestamp,
  /** File name of the model. */
  model: z.string(),
  /** The prompt in the model's own chat template; null if the call ended before it was rendered. */
  prompt: exchangeText.nullable(),
  parameters: z.record(z.string(), z.unknown()),
  reasoning: exchangeText.nullable(),
  response: exchangeText,
  error: z.string().nullable(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number().nullable(),
});
export type OnDeviceExchange = z.infer<typeof onDeviceExchange>;

export const providerExchange = z.discriminatedUnion('kind', [httpExchange, onDeviceExchange]);
export type ProviderExchange = z.infer<typeof providerExchange>;

export const readProviderExchanges = defineEndpoint({
  id: 'readProviderExchanges',
  method: 'get',
  path: '/window/runs/{id}/exchanges',
  access: 'window',
  tag: 'Window: runs',
  summary: 'What was sent to the provider for a run, and its raw response; empty when nothing is stored',
  parameters: z.object({ id: uuid }),
  response: z.object({ data: z.array(providerExchange) }),
  errors: [404],
});
