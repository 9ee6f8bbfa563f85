import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { useFollowOnDevice, useInstallOnDevice, useOnDevice } from '../../../../renderer/queries/on-device.ts';
import { createQueryClient } from '../../../../renderer/queries/query-client.ts';
import { installOnDeviceModel, type OnDeviceState } from '../../../../shared/contract/on-device.ts';

const stateOf = (state: string) => ({ models: [{ id: 'small', state }] }) as unknown as OnDeviceState;

/** A window whose host tells its events, and answers, when the test lets it. */
function openWindow() {
  const events = [Promise.withResolvers<OnDeviceState>()];
  const installed = Promise.withResolvers<OnDeviceState>();
  async function* stream(): AsyncGenerator<OnDeviceState> {
    for (let at = 0; ; at += 1) yield await events[at]!.promise;
  }
  const client = {
    stream: async () => ({ parts: stream() }),
    call: (endpoint: unknown) => (endpoint === installOnDeviceModel ? installed.promise : new Promise(() => {})),
  } as unknown as Client;
  const host = { client, capabilities: new Set() } as unknown as Host;
  const queryClient = createQueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const useModel = () => {
    useFollowOnDevice();
    return { shown: useOnDevice().data?.models[0]?.state, install: useInstallOnDevice() };
  };
  const { result } = renderHook(useModel, { wrapper });
  const shows = (state: string) => waitFor(() => expect(result.current.shown).toBe(state));
  return {
    shows,
    async tell(state: string): Promise<void> {
      events.push(Promise.withResolvers());
      events.at(-2)!.resolve(stateOf(state));
      await shows(state);
    },
    install: () => act(() => result.current.install.mutate('small')),
    async answer(state: string): Promise<void> {
      installed.resolve(stateOf(state));
      await waitFor(() => expect(result.current.install.isSuccess).toBe(true));
    },
  };
}

test('a download that failed before the response to its start is shown as failed', async () => {
  const { shows, tell, install, answer } = openWindow();
  await tell('absent');
  install();
  await tell('failed');
  await answer('downloading');
  await shows('failed');
});

test('a response is shown at once if no event was faster', async () => {
  const { shows, tell, install, answer } = openWindow();
  await tell('absent');
  install();
  await answer('downloading');
  await shows('downloading');
});
