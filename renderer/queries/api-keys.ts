import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  updateApiKey,
  type ApiKeyInput,
} from '../../shared/contract/api-keys.ts';
import { useHost } from '../host/host-context.tsx';

export const apiKeysKey = ['api-keys'] as const;

export function useApiKeys({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: apiKeysKey,
    enabled: isEnabled,
    queryFn: ({ signal }) => client.call(listApiKeys, { signal }),
  });
}

function useRenewApiKeys() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: apiKeysKey });
}

/** The answer is the only place where the key is ever shown; reset the mutation when it was. */
export function useIssueApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: (body: ApiKeyInput) => client.call(issueApiKey, { body }),
    onSettled: renew,
  });
}

export function useUpdateApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: { id: string } & Partial<ApiKeyInput>) =>
      client.call(updateApiKey, { parameters: { id }, body }),
    onSettled: renew,
  });
}

export function useRevokeApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    mutationFn: (id: string) => client.call(revokeApiKey, { parameters: { id } }),
    onSettled: renew,
  });
}
