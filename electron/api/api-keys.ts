import { issueApiKey, listApiKeys, revokeApiKey, updateApiKey } from '../../shared/contract/api-keys.ts';
import { readCredits } from '../../shared/contract/credits.ts';
import type { Credits } from '../credits/credits.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import { implement, type Handler } from './handler.ts';

/** The window has no limits. */
const noLimits = { creditLimit: null, remaining: null, requestsPerMinute: null, tokensPerMinute: null };

export function apiKeyHandlers(apiKeys: ApiKeyStore, credits: Credits): Handler[] {
  return [
    implement(listApiKeys, () => ({ data: apiKeys.list() })),
    implement(issueApiKey, ({ body }) => apiKeys.issue(body)),
    implement(updateApiKey, ({ parameters, body }) => apiKeys.update(parameters.id, body)),
    implement(revokeApiKey, ({ parameters }) => apiKeys.revoke(parameters.id)),
    implement(readCredits, ({ caller: { key } }) => {
      if (key === null) return { ...noLimits, consumed: 0 };
      const { creditLimit, requestsPerMinute, tokensPerMinute } = key;
      return { creditLimit, ...credits.use(key), requestsPerMinute, tokensPerMinute };
    }),
  ];
}
