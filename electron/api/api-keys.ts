import { issueApiKey, listApiKeys, revokeApiKey, updateApiKey } from '../../shared/contract/api-keys.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import { implement, type Handler } from './handler.ts';

export function apiKeyHandlers(apiKeys: ApiKeyStore): Handler[] {
  return [
    implement(listApiKeys, () => ({ data: apiKeys.list() })),
    implement(issueApiKey, ({ body }) => apiKeys.issue(body)),
    implement(updateApiKey, ({ parameters, body }) => apiKeys.update(parameters.id, body)),
    implement(revokeApiKey, ({ parameters }) => apiKeys.revoke(parameters.id)),
  ];
}
