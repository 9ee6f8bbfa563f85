import { z } from 'zod';
import { defineEndpoint, scopes } from './endpoint.ts';
import { recordLevel, timestamp, uuid } from './common.ts';

export const creditState = z
  .object({
    creditLimit: z.int().nullable().meta({ description: 'Credits that the key may use; null is no limit' }),
    consumed: z.int().meta({ description: 'Credits used, active runs included' }),
    remaining: z.int().nullable().meta({ description: 'Credits left; null for a key without a limit' }),
    requestsPerMinute: z.int().nullable().meta({ description: 'Requests allowed per minute; null is no limit' }),
    tokensPerMinute: z.int().nullable().meta({ description: 'Tokens allowed per minute; null is no limit' }),
  })
  .meta({ id: 'Credits' });
export type CreditState = z.infer<typeof creditState>;

export const readCredits = defineEndpoint({
  id: 'readCredits',
  method: 'get',
  path: '/credits',
  access: 'any scope',
  tag: 'Credits',
  summary: "Read this API key's limits and use",
  description: 'The limits of the key that sends the request, and the credits that it has used.',
  response: creditState,
});

const tag = 'Window: API keys';

export const apiKey = z.object({
  id: uuid,
  name: z.string(),
  /** The caller ID of its runs. */
  callerId: uuid,
  scopes: z.array(z.enum(scopes)),
  /** Max credits of the key; null is no limit. */
  creditLimit: z.int().nullable(),
  creditsUsed: z.int(),
  /** Max requests per minute; null is no limit. */
  requestsPerMinute: z.int().nullable(),
  /** Max tokens of prompts and answers per minute; null is no limit. */
  tokensPerMinute: z.int().nullable(),
  /** How much of its calls of other APIs is recorded. */
  recordLevel,
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
});
export type ApiKey = z.infer<typeof apiKey>;

/** A key with a limit of 0 would be useless; revoke it instead. */
const perMinute = z.int().min(1).max(1_000_000_000);

export const apiKeyInput = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(200),
  creditLimit: z.int().min(0).max(1_000_000_000).nullish(),
  requestsPerMinute: perMinute.nullish(),
  tokensPerMinute: perMinute.nullish(),
  recordLevel: recordLevel.optional(),
  scopes: z.array(z.enum(scopes)).min(1).optional(),
});
export type ApiKeyInput = z.infer<typeof apiKeyInput>;

const keyParameters = z.object({ id: uuid });

export const listApiKeys = defineEndpoint({
  id: 'listApiKeys',
  method: 'get',
  path: '/window/api-keys',
  access: 'window',
  tag,
  summary: 'All API keys, newest first; the keys themselves are not stored',
  response: z.object({ data: z.array(apiKey) }),
});

export const issueApiKey = defineEndpoint({
  id: 'issueApiKey',
  method: 'post',
  path: '/window/api-keys',
  access: 'window',
  tag,
  summary: 'Create an API key; only this response contains it',
  body: apiKeyInput,
  status: 201,
  response: apiKey.extend({ key: z.string() }),
});

export const updateApiKey = defineEndpoint({
  id: 'updateApiKey',
  method: 'patch',
  path: '/window/api-keys/{id}',
  access: 'window',
  tag,
  summary: "Change a key's name or limits",
  parameters: keyParameters,
  body: z.strictObject({
    name: apiKeyInput.shape.name.optional(),
    creditLimit: apiKeyInput.shape.creditLimit,
    requestsPerMinute: apiKeyInput.shape.requestsPerMinute,
    tokensPerMinute: apiKeyInput.shape.tokensPerMinute,
    recordLevel: apiKeyInput.shape.recordLevel,
  }),
  response: apiKey,
  errors: [404],
});

export const revokeApiKey = defineEndpoint({
  id: 'revokeApiKey',
  method: 'delete',
  path: '/window/api-keys/{id}',
  access: 'window',
  tag,
  summary: 'Revoke an API key immediately; its runs are kept',
  parameters: keyParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
