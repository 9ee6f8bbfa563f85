import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../../../renderer/host/host-context.tsx';
import { useRunner } from '../../../../../../renderer/screens/playground/session/use-runner.ts';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { followOnDevice } from '../../../../../../shared/contract/on-device.ts';
import type { Model } from '../../../../../../shared/contract/providers.ts';

const model = (isReady: boolean) =>
  ({
    aiSystem: 'ServiceAi',
    name: 'hl-gpt-4.1-mini',
    servedBy: null,
    isReady,
    parameters: [],
    capabilities: [],
    contextTokens: null,
  }) as unknown as Model;

test('a queued run that meets a mistake when the model is ready is not queued any more', async () => {
  const installed = Promise.withResolvers<void>();
  async function* parts() {
    await installed.promise;
    yield { models: [{ state: 'installed', isSelected: true }] };
  }
  const stream = async ({ id }: { id: string }) => {
    if (id === followOnDevice.id) return { parts: parts() };
    throw new Error('no host');
  };
  const host = { client: { stream } as unknown as Client, capabilities: new Set() } as unknown as Host;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <HostProvider value={host}>
      <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
    </HostProvider>
  );
  const { create, change } = useDrafts.getState();
  const id = create({ promptText: 'Hello', aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' });
  const { result, rerender } = renderHook(({ chosen }) => useRunner(id, chosen), {
    wrapper,
    initialProps: { chosen: model(false) },
  });
  act(() => result.current.run());
  expect(result.current.isWaiting).toBe(true);
  act(() => change(id, { promptText: 'Hello {{na' }));
  await act(async () => installed.resolve());
  rerender({ chosen: model(true) });
  await act(async () => {});
  expect(result.current.blocker).not.toBeNull();
  // Run is offered again.
  expect(result.current.isWaiting).toBe(false);
});
