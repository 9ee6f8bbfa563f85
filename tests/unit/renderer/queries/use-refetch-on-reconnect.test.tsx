import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { useRefetchOnReconnect } from '../../../../renderer/queries/query-client.ts';
import { setConnection } from '../../../../renderer/stores/window.ts';

test('visible data is refetched after a reconnect, except for constant data and paid calls', async () => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
  );
  const read = vi.fn(async (what: string) => what);
  const failingOnce = vi.fn(async () => 'read').mockRejectedValueOnce(new Error('no answer'));
  const paidFor = vi.fn(async () => 'paid').mockRejectedValueOnce(new Error('no answer'));
  const { result } = renderHook(
    () => {
      useRefetchOnReconnect();
      useQuery({ queryKey: ['list'], queryFn: () => read('list') });
      useQuery({ queryKey: ['kept'], staleTime: Infinity, queryFn: () => read('kept') });
      useQuery({ queryKey: ['paid'], staleTime: Infinity, meta: { mayCost: true }, queryFn: paidFor });
      return useQuery({ queryKey: ['failed'], staleTime: Infinity, queryFn: failingOnce });
    },
    { wrapper },
  );
  await waitFor(() => expect(result.current.isError).toBe(true));
  act(() => setConnection('silent'));
  act(() => setConnection('locked'));
  act(() => setConnection('there'));
  await waitFor(() => expect(result.current.data).toBe('read'));
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  expect(read.mock.calls.flat().toSorted()).toEqual(['kept', 'list', 'list']);
  expect(paidFor).toHaveBeenCalledTimes(1);
});
