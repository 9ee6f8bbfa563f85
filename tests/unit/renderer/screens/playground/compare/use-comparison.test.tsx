import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../../../renderer/host/host-context.tsx';
import { useComparisonState } from '../../../../../../renderer/screens/playground/compare/use-comparison.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { previewGrounding } from '../../../../../../shared/contract/grounding.ts';

test('a model that is chosen for a column while the shared passages are searched is the one that runs', async () => {
  const preview = Promise.withResolvers<unknown>();
  const bodies: { model?: string }[] = [];
  const call = ({ id }: { id: string }) =>
    id === previewGrounding.id ? preview.promise : Promise.reject(new Error(id));
  const stream = (_endpoint: unknown, { body }: { body: { model?: string } }) => {
    bodies.push(body);
    return Promise.reject(new Error('no host'));
  };
  const host = { client: { call, stream } as unknown as Client, capabilities: new Set() } as unknown as Host;
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <HostProvider value={host}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </HostProvider>
  );
  useDrafts.getState().create({
    promptText: 'Hello',
    aiSystem: 'OpenAi',
    model: 'own',
    grounding: { dataspaceIds: ['11111111-1111-4111-8111-111111111111'], pinned: [], excluded: [] },
    compared: [{ id: 'column', aiSystem: 'OpenAi', model: 'before', isGrounded: true, runId: null }],
  });
  const { result } = renderHook(() => useComparisonState(useDrafts(getActiveDraft), null, () => {}), { wrapper });
  act(() => result.current.run());
  act(() => result.current.changeModel('column'));
  act(() => result.current.onModel({ aiSystem: 'OpenAi', name: 'chosen' }));
  expect(getActiveDraft(useDrafts.getState()).compared?.[0]?.model).toBe('chosen');
  await act(async () => preview.resolve({ passages: [] }));
  await act(async () => {});
  expect(bodies.map(({ model }) => model)).toEqual(['chosen']);
  expect(getActiveDraft(useDrafts.getState()).compared?.[0]?.model).toBe('chosen');
});
