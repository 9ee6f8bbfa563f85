import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

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
