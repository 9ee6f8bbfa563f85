import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
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
import { useHost } from '../host/host-context.tsx';
import { modelsKey } from './models.ts';
import { settingsKey } from './query-keys.ts';

export const onDeviceKey = ['on-device'] as const;

/** How long to wait before following again after the host was lost, in milliseconds. */
const followAgainMilliseconds = 2_000;

export function useOnDevice() {
  const { client } = useHost();
  return useQuery({
    queryKey: onDeviceKey,
    queryFn: ({ signal }) => client.call(readOnDevice, { signal }),
    // `useFollowOnDevice` keeps it fresh.
    staleTime: Infinity,
  });
}

function readyModels(state: OnDeviceState | undefined): string {
  return JSON.stringify(
    state?.models.map(({ id, state: modelState, isSelected }) => [id, modelState === 'installed', isSelected]),
  );
}

/** Feeds the cache from the host's events for as long as the window is there. Once, at the top of the window. */
export function useFollowOnDevice(): void {
  const { client } = useHost();
  const queryClient = useQueryClient();
  useEffect(() => {
    const controller = new AbortController();
    const take = (state: OnDeviceState) => {
      const before = queryClient.getQueryData<OnDeviceState>(onDeviceKey);
      queryClient.setQueryData(onDeviceKey, state);
      if (readyModels(before) !== readyModels(state)) void queryClient.invalidateQueries({ queryKey: modelsKey });
    };
    const follow = async (): Promise<void> => {
      try {
        const { parts } = await client.stream(followOnDevice, { signal: controller.signal });
        for await (const state of parts) take(state);
      } catch {
        // The host is gone or not there yet: its own place in the window says so, this only tries again.
      }
      if (!controller.signal.aborted) timer = setTimeout(() => void follow(), followAgainMilliseconds);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    void follow();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, queryClient]);
}

function useOnDeviceChange<Input>(change: (input: Input) => Promise<OnDeviceState>, isFailureShown = false) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown },
    mutationFn: change,
    onSuccess: (state) => {
      queryClient.setQueryData(onDeviceKey, state);
      return Promise.all([
        queryClient.invalidateQueries({ queryKey: modelsKey }),
        queryClient.invalidateQueries({ queryKey: settingsKey }),
      ]);
    },
  });
}

/** Fetches a model, or goes on where a paused or failed fetch ended. */
export function useInstallOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(installOnDeviceModel, { parameters: { id } }));
}

export function usePauseOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(pauseOnDeviceModel, { parameters: { id } }));
}

/** Stops a fetch or removes an installed model, and deletes its bytes. */
export function useRemoveOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(removeOnDeviceModel, { parameters: { id } }));
}

export function useSelectOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((id: string) => client.call(selectOnDeviceModel, { parameters: { id } }));
}

/** Brings a GGUF file of this machine or an `hf:` address. */
export function useAddOnDevice() {
  const { client } = useHost();
  return useOnDeviceChange((address: string) => client.call(addOnDeviceModel, { body: { address } }), true);
}
