import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { auditListKey } from '../../../../renderer/queries/audit-list.ts';
import { conversationKey } from '../../../../renderer/queries/audit.ts';
import { createQueryClient } from '../../../../renderer/queries/query-client.ts';
import { useMergeReviews } from '../../../../renderer/queries/review-files.ts';
import { type ReviewStep, useReviewStep } from '../../../../renderer/queries/review-queues.ts';
import { useAdjudicate } from '../../../../renderer/queries/review-results.ts';
import { runsKey } from '../../../../renderer/queries/runs.ts';

const historyKey = [...runsKey, 'list', null];
const submit: ReviewStep = { kind: 'submit', itemId: 'item', answers: [], note: null };
const skip: ReviewStep = { kind: 'skip', itemId: 'item', reason: 'I wrote it' };

/** Makes a change on a host that takes everything, and returns what is still fresh in the cache of the window. */
async function freshAfter(useChange: () => () => Promise<unknown>): Promise<string[]> {
  const answer = () => Promise.resolve(null);
  const queryClient = createQueryClient();
  const host = { client: { call: answer, upload: answer } as unknown as Client, capabilities: new Set() };
  const cached = { history: historyKey, list: [...auditListKey, {}], conversation: conversationKey('talk') };
  for (const key of Object.values(cached)) queryClient.setQueryData(key, {});
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host as unknown as Host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const { result } = renderHook(useChange, { wrapper });
  await act(() => result.current());
  const isFresh = (key: readonly unknown[]) => queryClient.getQueryState(key)?.isInvalidated === false;
  return Object.entries(cached).flatMap(([name, key]) => (isFresh(key) ? [name] : []));
}

test.each<[string, () => () => Promise<unknown>]>([
  [
    'a review',
    () => {
      const { mutateAsync } = useReviewStep('queue');
      return () => mutateAsync(submit);
    },
  ],
  [
    'a decision',
    () => {
      const { mutateAsync } = useAdjudicate('queue');
      return () => mutateAsync({ itemId: 'item', answers: [] });
    },
  ],
  [
    'a merged file of reviews',
    () => {
      const { mutateAsync } = useMergeReviews('queue');
      return () => mutateAsync(new File([], 'queue.jsonl'));
    },
  ],
])('%s may become feedback, so the audit and the history are read again', async (_change, useChange) => {
  expect(await freshAfter(useChange)).toEqual([]);
});

test('a skipped item gives no feedback, and nothing is read again', async () => {
  const fresh = await freshAfter(() => {
    const { mutateAsync } = useReviewStep('queue');
    return () => mutateAsync(skip);
  });
  expect(fresh).toEqual(['history', 'list', 'conversation']);
});
