import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { useFollowKnowledge, useSources } from '../../../../renderer/queries/knowledge.ts';
import type { KnowledgeChange, SourceDetail } from '../../../../shared/contract/knowledge-window.ts';

type Range = { data: SourceDetail[]; total: number };

/** A host whose stream and whose answers come when the test lets them; what is told belongs to the newest following. */
function scriptedClient() {
  const reads: PromiseWithResolvers<Range>[] = [];
  const parts: PromiseWithResolvers<KnowledgeChange>[] = [Promise.withResolvers()];
  async function* stream(): AsyncGenerator<KnowledgeChange> {
    for (let at = 0; ; at += 1) yield await parts[at]!.promise;
  }
  const client = {
    stream: async () => ({ parts: stream() }),
    call: (_endpoint: unknown, { signal }: { signal: AbortSignal }) => {
      const read = Promise.withResolvers<Range>();
      signal.addEventListener('abort', () => read.reject(signal.reason));
      reads.push(read);
      return read.promise;
    },
  } as unknown as Client;
  const tell = (...sources: SourceDetail[]): void => {
    parts.push(Promise.withResolvers());
    parts.at(-2)!.resolve({ dataspaces: [], sources, removedSourceIds: [] });
  };
  return { client, reads, tell };
}

const source = (id: string, status: SourceDetail['status']) => ({ id, status, progress: null }) as SourceDetail;
const range = (...data: SourceDetail[]): Range => ({ data, total: data.length });

function openSources(status: 'all' | 'Ready' = 'all') {
  const scripted = scriptedClient();
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const host = { client: scripted.client, capabilities: new Set() } as unknown as Host;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const { result } = renderHook(
    () => {
      useFollowKnowledge();
      return useSources('dataspace', { text: '', status });
    },
    { wrapper },
  );
  const shown = () => result.current.data?.pages.flatMap(({ data }) => data.map((read) => `${read.id} ${read.status}`));
  const answer = async (at: number, ...data: SourceDetail[]): Promise<void> => {
    await waitFor(() => expect(scripted.reads.length).toBeGreaterThan(at));
    await act(async () => scripted.reads[at]!.resolve(range(...data)));
  };
  return { ...scripted, shown, answer };
}

test('a list from before the subscription is refetched', async () => {
  const { tell, shown, answer } = openSources();
  await answer(0, source('doors', 'Processing'));
  await waitFor(() => expect(shown()).toEqual(['doors Processing']));
  await act(async () => tell());
  await answer(1, source('doors', 'Ready'));
  await waitFor(() => expect(shown()).toEqual(['doors Ready']));
});

test('a response from before a change never replaces it', async () => {
  const { tell, shown, answer, reads } = openSources();
  await act(async () => tell());
  await answer(1, source('rotor', 'Processing'));
  // Another source is added, and the list is read for it; meanwhile both become ready.
  await act(async () => tell(source('doors', 'Processing')));
  await waitFor(() => expect(reads).toHaveLength(3));
  await act(async () => tell(source('rotor', 'Ready'), source('doors', 'Ready')));
  await act(async () => reads[2]!.resolve(range(source('rotor', 'Processing'), source('doors', 'Processing'))));
  await answer(3, source('rotor', 'Ready'), source('doors', 'Ready'));
  await waitFor(() => expect(shown()).toEqual(['rotor Ready', 'doors Ready']));
});

test('a change during the first fetch causes another fetch', async () => {
  const { tell, shown, answer, reads } = openSources();
  await act(async () => tell());
  await waitFor(() => expect(reads).toHaveLength(2));
  await act(async () => tell(source('doors', 'Ready')));
  await answer(2, source('doors', 'Ready'));
  await waitFor(() => expect(shown()).toEqual(['doors Ready']));
});

test('a list of one status is refetched when a source changes its status', async () => {
  const { tell, shown, answer } = openSources('Ready');
  await act(async () => tell());
  await answer(1, source('rotor', 'Ready'));
  await waitFor(() => expect(shown()).toEqual(['rotor Ready']));
  await act(async () => tell(source('rotor', 'Processing')));
  await answer(2);
  await waitFor(() => expect(shown()).toEqual([]));
});
