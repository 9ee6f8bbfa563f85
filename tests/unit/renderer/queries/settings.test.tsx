import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { settingsKey } from '../../../../renderer/queries/query-client.ts';
import { useSettings, useUpdateSettings } from '../../../../renderer/queries/settings.ts';
import { readSettings, type Settings } from '../../../../shared/contract/settings.ts';

type Change = Pick<Partial<Settings>, 'appearance' | 'timeLimits'>;

const before = {
  appearance: { theme: 'system' },
  timeLimits: { firstByteSeconds: 60, betweenBytesSeconds: 60 },
} as Settings;
const dark = { appearance: { theme: 'dark' } } as Change;
const patient = { timeLimits: { firstByteSeconds: 90, betweenBytesSeconds: 60 } } as Change;

/** Settings, and a host that answers each reading and each change when the test lets it. */
function openSettings({ areRead = true } = {}) {
  const requested: (PromiseWithResolvers<Settings> & { change: Change })[] = [];
  const reads: PromiseWithResolvers<Settings>[] = [];
  const call = (endpoint: unknown, { body: change }: { body: Change }): Promise<Settings> => {
    if (endpoint === readSettings) {
      reads.push(Promise.withResolvers<Settings>());
      return reads.at(-1)!.promise;
    }
    const answer = { ...Promise.withResolvers<Settings>(), change };
    requested.push(answer);
    return answer.promise;
  };
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  if (areRead) queryClient.setQueryData(settingsKey, before);
  const host = { client: { call } as unknown as Client, capabilities: new Set() } as unknown as Host;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const { result } = renderHook(() => ({ shown: useSettings().data, update: useUpdateSettings() }), { wrapper });
  const shown: unknown[] = [];
  queryClient.getQueryCache().subscribe(() => shown.push(queryClient.getQueryData(settingsKey)));
  return {
    asked: requested,
    reads,
    shown,
    now: () => result.current.shown,
    change: (change: Change) => result.current.update.mutate(change),
  };
}

test('two quick changes are saved in order, and the response to the first never hides the second', async () => {
  const { asked: requested, shown, now, change } = openSettings();
  act(() => {
    change(dark);
    change(patient);
  });
  await waitFor(() => expect(now()).toEqual({ ...before, ...dark, ...patient }));
  expect(requested.map((each) => each.change)).toEqual([dark]);
  shown.length = 0;
  requested[0]!.resolve({ ...before, ...dark });
  await waitFor(() => expect(requested.map((each) => each.change)).toEqual([dark, patient]));
  requested[1]!.resolve({ ...before, ...dark, ...patient });
  await waitFor(() => expect(shown).not.toEqual([]));
  expect(shown).not.toContainEqual({ ...before, ...dark });
  expect(now()).toEqual({ ...before, ...dark, ...patient });
});

test('reverts a change that the host rejects', async () => {
  const { asked: requested, now, change } = openSettings();
  act(() => change(dark));
  await waitFor(() => expect(now()).toEqual({ ...before, ...dark }));
  requested[0]!.reject(new Error('It is locked.'));
  await waitFor(() => expect(now()).toEqual(before));
});

test('a rejected change before the first fetch causes a fetch', async () => {
  const { asked: requested, reads, now, change } = openSettings({ areRead: false });
  await waitFor(() => expect(reads).toHaveLength(1));
  act(() => change(dark));
  await waitFor(() => expect(requested).toHaveLength(1));
  requested[0]!.reject(new Error('It is locked.'));
  await waitFor(() => expect(reads).toHaveLength(2));
  reads[1]!.resolve(before);
  await waitFor(() => expect(now()).toEqual(before));
});
