import { useMutation, useQuery } from '@tanstack/react-query';
import {
  listPromptLabelChanges,
  removePromptLabel,
  setPromptLabel,
  type PromptLabelInput,
} from '../../shared/contract/prompt-labels.ts';
import { useHost } from '../host/host-context.tsx';
import { promptsKey, useRenewPrompts } from './prompts.ts';

/** Every move of the labels of a prompt, the newest hundred. */
export function usePromptLabelChanges(promptId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...promptsKey, 'label-changes', promptId],
    queryFn: async ({ signal }) =>
      (await client.call(listPromptLabelChanges, { signal, parameters: { id: promptId }, query: { pageSize: 100 } }))
        .data,
  });
}

/** Points a label at a version. The caller shows why it could not be set. */
export function useSetLabel() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ promptId, label, ...body }: PromptLabelInput & { promptId: string; label: string }) =>
      client.call(setPromptLabel, { parameters: { id: promptId, label }, body }),
    onSettled: useRenewPrompts(),
  });
}

/** The caller shows why it could not be removed. */
export function useRemoveLabel() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ promptId, label }: { promptId: string; label: string }) =>
      client.call(removePromptLabel, { parameters: { id: promptId, label } }),
    onSettled: useRenewPrompts(),
  });
}
