import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import { followAuditExports } from '../../../../shared/contract/audit-exports.ts';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { useFollowedList } from '../../../../renderer/queries/follow.ts';

const key = ['followed'] as const;

/** A host whose stream and whose answers come when the test lets them. */
function scriptedClient() {
  const parts: PromiseWithResolvers<unknown>[] = [Promise.withResolvers()];
  const reads: PromiseWithResolvers<string>[] = [];
  async function* stream(): AsyncGenerator<unknown> {
    for (let at = 0; ; at += 1) yield await parts[at]!.promise;
  }
  return {
    client: { stream: async () => ({ parts: stream() }) } as unknown as Client,
    send(part: string): void {
      parts.push(Promise.withResolvers());
      parts.at(-2)!.resolve(part);
    },
    read(): Promise<string> {
      const read = Promise.withResolvers<string>();
      reads.push(read);
      return read.promise;
    },
    reads,
  };
}

test('a response from before the newest pushed list never replaces it', async () => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const scripted = scriptedClient();
  const host = { client: scripted.client, capabilities: new Set() } as unknown as Host;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const { result } = renderHook(
    () => useFollowedList<unknown, typeof followAuditExports>(key, scripted.read, followAuditExports),
    {
      wrapper,
    },
  );
  await waitFor(() => expect(scripted.reads).toHaveLength(1));
  await act(async () => scripted.reads[0]!.resolve('nothing yet'));
  await waitFor(() => expect(result.current.data).toBe('nothing yet'));

  // Something was begun: the list is read anew, and is over before the answer comes.
  act(() => void queryClient.invalidateQueries({ queryKey: key }));
  await waitFor(() => expect(scripted.reads).toHaveLength(2));
  await act(async () => scripted.send('complete'));
  await waitFor(() => expect(result.current.data).toBe('complete'));
  const seen: unknown[] = [];
  const unsubscribe = queryClient.getQueryCache().subscribe(() => seen.push(queryClient.getQueryData(key)));
  await act(async () => scripted.reads[1]!.resolve('being written'));

  // A read that is asked for now is newer than all of that; once it is shown, everything before has had its effect.
  act(() => void queryClient.invalidateQueries({ queryKey: key }));
  await waitFor(() => expect(scripted.reads).toHaveLength(3));
  await act(async () => scripted.reads[2]!.resolve('read after it'));
  await waitFor(() => expect(result.current.data).toBe('read after it'));
  unsubscribe();
  expect(seen).not.toContain('being written');
});
