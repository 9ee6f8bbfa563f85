import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { auditKey, useConversation, useGiveFeedback } from '../../../../renderer/queries/audit.ts';
import { createQueryClient } from '../../../../renderer/queries/query-client.ts';
import {
  giveFeedback,
  type ConversationDetail,
  type FeedbackInput,
} from '../../../../shared/contract/conversations.ts';

const conversationWith = (feedback: FeedbackInput | null) =>
  ({ id: 'talk', runs: [{ conversationRunId: 'run', feedback }] }) as unknown as ConversationDetail;

/** A conversation on a host that answers each reading and each feedback when the test lets it. */
function openConversation() {
  const reads: PromiseWithResolvers<ConversationDetail>[] = [];
  const given: (PromiseWithResolvers<void> & { feedback: FeedbackInput })[] = [];
  const call = (endpoint: unknown, { body }: { body: FeedbackInput }): Promise<unknown> => {
    if (endpoint === giveFeedback) {
      given.push({ ...Promise.withResolvers<void>(), feedback: body });
      return given.at(-1)!.promise;
    }
    reads.push(Promise.withResolvers<ConversationDetail>());
    return reads.at(-1)!.promise;
  };
  const queryClient = createQueryClient();
  const host = { client: { call } as unknown as Client, capabilities: new Set() } as unknown as Host;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <HostProvider value={host}>{children}</HostProvider>
    </QueryClientProvider>
  );
  const { result } = renderHook(() => ({ read: useConversation('talk'), ...useGiveFeedback() }), { wrapper });
  return {
    reads,
    given,
    isThere: () => waitFor(() => expect(result.current.read.data).toBeDefined()),
    score: () => result.current.read.data?.runs[0]?.feedback?.score,
    give: (part: FeedbackInput) => act(() => void result.current.give('talk', 'run', part)),
    readAgain: () => act(() => void queryClient.invalidateQueries({ queryKey: auditKey })),
  };
}

test('a fetch from before a score neither hides it nor removes it from the next change', async () => {
  const { reads, given, isThere, score, give, readAgain } = openConversation();
  reads[0]!.resolve(conversationWith(null));
  await isThere();
  readAgain();
  await waitFor(() => expect(reads).toHaveLength(2));
  give({ score: -7 });
  await waitFor(() => expect(given).toHaveLength(1));
  await act(async () => reads[1]!.resolve(conversationWith(null)));
  give({ scoreTags: 'promised too much' });
  await waitFor(() => expect(score()).toBe(-7));
  given[0]!.resolve();
  await waitFor(() => expect(given).toHaveLength(2));
  expect(given[1]!.feedback).toEqual({ score: -7, scoreText: null, scoreTags: 'promised too much' });
});

test('a conversation is refetched after its last change is saved', async () => {
  const { reads, given, isThere, score, give } = openConversation();
  reads[0]!.resolve(conversationWith(null));
  await isThere();
  give({ score: 4 });
  give({ score: 5 });
  await waitFor(() => expect(given).toHaveLength(1));
  given[0]!.resolve();
  await waitFor(() => expect(given).toHaveLength(2));
  expect(reads).toHaveLength(1);
  given[1]!.reject(new Error('It is locked.'));
  await waitFor(() => expect(reads).toHaveLength(2));
  reads[1]!.resolve(conversationWith({ score: 4 }));
  await waitFor(() => expect(score()).toBe(4));
});
