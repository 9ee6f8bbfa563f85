import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  addOnDeviceModel,
  followOnDevice,
  installOnDeviceModel,
  pauseOnDeviceModel,
  readOnDevice,
  removeOnDeviceModel,
  selectOnDeviceModel,
  type OnDeviceState,
} from '../../shared/contract/on-device.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import { showNewer, useFollow } from './follow.ts';
import { modelsKey } from './providers.ts';
import { settingsKey } from './query-client.ts';

export const onDeviceKey = ['on-device'] as const;

export const onDeviceQuery = (client: Client) =>
  queryOptions({
    queryKey: onDeviceKey,
    queryFn: ({ signal }) => client.call(readOnDevice, { signal }),
    // `useFollowOnDevice` keeps it fresh.
    staleTime: Infinity,
  });

export function useOnDevice() {
  return useQuery(onDeviceQuery(useHost().client));
}

/** The fields of on-device models that affect the list of all models. */
function listedDetails(state: OnDeviceState | undefined): string {
  return JSON.stringify(
    state?.models.map(({ id, state: modelState, isSelected, contextTokens }) => [
      id,
      modelState === 'installed',
      isSelected,
      contextTokens,
    ]),
  );
}

/** Writes the host's events into the cache while the window is open. Used once, at the top of the window. */
export function useFollowOnDevice(): void {
  const queryClient = useQueryClient();
  useFollow(followOnDevice, (state) => {
    const before = queryClient.getQueryData<OnDeviceState>(onDeviceKey);
    showNewer(queryClient, onDeviceKey, state);
    if (listedDetails(before) !== listedDetails(state)) void queryClient.invalidateQueries({ queryKey: modelsKey });
  });
}

function useOnDeviceChange<Input>(change: (input: Input) => Promise<OnDeviceState>, isFailureShown = false) {
  const queryClient = useQueryClient();
  const updates = (): number | undefined => queryClient.getQueryState(onDeviceKey)?.dataUpdateCount;
  return useMutation({
    meta: { isFailureShown },
    mutationFn: change,
    onMutate: updates,
    onSuccess: (state, _input, updatesBefore) => {
      // The host's events arrive on another connection and may be faster. The response is then older, and would stay.
      if (updates() === updatesBefore) showNewer(queryClient, onDeviceKey, state);
      return Promise.all([
        queryClient.invalidateQueries({ queryKey: modelsKey }),
        queryClient.invalidateQueries({ queryKey: settingsKey }),
      ]);
    },
  });
}

/** Downloads a model, or resumes a paused or failed download. */
export function useInstallOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(installOnDeviceModel, { parameters: { id } }));
}

export function usePauseOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(pauseOnDeviceModel, { parameters: { id } }));
}

/** Stops a download or removes an installed model, and deletes its bytes. */
export function useRemoveOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(removeOnDeviceModel, { parameters: { id } }));
}

export function useSelectOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(selectOnDeviceModel, { parameters: { id } }));
}

/** Adds a GGUF file of this machine or an `hf:` address. */
export function useAddOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((address: string) => client.call(addOnDeviceModel, { body: { address } }), true);
}
