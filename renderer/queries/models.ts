import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AiSystem } from '../../shared/contract/common.ts';
import { addModel, listModels, removeModel } from '../../shared/contract/providers.ts';
import { useHost } from '../host/host-context.tsx';

export const modelsKey = ['models'] as const;

/** Every model of every provider, with facts and readiness. */
export function useModels() {
  const { client } = useHost();
  return useQuery({ queryKey: modelsKey, queryFn: ({ signal }) => client.call(listModels, { signal }) });
}

interface ModelName {
  aiSystem: AiSystem;
  model: string;
}

export function useAddModel() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ModelName) => client.call(addModel, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: modelsKey }),
  });
}

export function useRemoveModel() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: ModelName) => client.call(removeModel, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: modelsKey }),
  });
}
