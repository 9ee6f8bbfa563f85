import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  addReviewComment,
  type ItemView,
  listReviewItems,
  readReviewItem,
  requestSecondReview,
} from '../../shared/contract/review-items.ts';
import {
  createReviewQueue,
  deleteReviewQueue,
  listReviewQueues,
  previewReviewQueue,
  readReviewQueue,
  type ReviewQueueChange,
  type ReviewQueueInput,
  updateReviewQueue,
} from '../../shared/contract/review-queues.ts';
import {
  type AnswersInput,
  releaseItem,
  reserveItem,
  type ReviewReservation,
  skipItem,
  submitReview,
} from '../../shared/contract/reviews.ts';
import { useEffect } from 'react';
import { useHost } from '../host/host-context.tsx';
import { reviewerHeaders, useActingReviewer } from '../stores/acting-reviewer.ts';
import { forgetReviewDraft, reviewDraftId } from '../stores/review-drafts.ts';
import { renewFeedback } from './audit.ts';
import { reviewsKey } from './reviewers.ts';

/** How often the progress of others is read, in milliseconds. */
const renewalMilliseconds = 10_000;
export const itemsPerPage = 100;

function useReviewing() {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return { client, token, headers: reviewerHeaders(token) };
}

export function useReviewQueues() {
  const { client, token, headers } = useReviewing();
  return useInfiniteQuery({
    queryKey: reviewsKey(token, 'queues'),
    // API clients create queues, too.
    refetchOnMount: 'always',
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      client.call(listReviewQueues, {
        signal,
        headers,
        query: { pageSize: 50, ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
}

export function useReviewQueue(id: string) {
  const { client, token, headers } = useReviewing();
  return useQuery({
    queryKey: reviewsKey(token, 'queue', id),
    refetchInterval: renewalMilliseconds,
    queryFn: ({ signal }) => client.call(readReviewQueue, { signal, headers, parameters: { id } }),
  });
}

/** What a plan would choose. Null: nothing is asked. */
export function useQueuePreview(input: Pick<ReviewQueueInput, 'filter' | 'source' | 'itemType' | 'plan'> | null) {
  const { client } = useReviewing();
  return useQuery({
    queryKey: ['review-preview', input],
    enabled: input !== null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(previewReviewQueue, { signal, body: input! }),
  });
}

/** The caller shows the error. */
export function useCreateQueue() {
  const { client, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ReviewQueueInput) => client.call(createReviewQueue, { headers, body }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['reviews'] });
      await queryClient.invalidateQueries({ queryKey: ['rubrics'] });
    },
  });
}

/** Renames a queue, or opens or closes it for the items of new days. */
export function useChangeQueue(id: string) {
  const { client, token, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: ReviewQueueChange) => client.call(updateReviewQueue, { headers, parameters: { id }, body }),
    onSuccess: (queue) => queryClient.setQueryData(reviewsKey(token, 'queue', id), queue),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: reviewsKey(token, 'queues') });
      void queryClient.invalidateQueries({ queryKey: reviewsKey(token, 'items', id) });
    },
  });
}

export function useDeleteQueue() {
  const { client, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteReviewQueue, { headers, parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['reviews'] }),
  });
}

/** One page of the items of a view of a queue, in their order. A queue may have tens of thousands. */
export function useReviewItems(id: string, view: ItemView, page: number) {
  const { client, token, headers } = useReviewing();
  return useQuery({
    queryKey: reviewsKey(token, 'items', id, view, page),
    placeholderData: keepPreviousData,
    refetchInterval: renewalMilliseconds,
    queryFn: ({ signal }) =>
      client.call(listReviewItems, {
        signal,
        headers,
        parameters: { id },
        query: { view, offset: page * itemsPerPage, limit: itemsPerPage },
      }),
  });
}

/** One item with the reviews that the reviewer may see; null reads nothing. */
export function useReviewItem(id: string, itemId: string | null) {
  const { client, token, headers } = useReviewing();
  return useQuery({
    queryKey: reviewsKey(token, 'item', id, itemId),
    enabled: itemId !== null,
    queryFn: ({ signal }) => client.call(readReviewItem, { signal, headers, parameters: { id, itemId: itemId! } }),
  });
}

/** Asks for one more review of the reserved item. The caller shows the error. */
export function useRequestSecond(id: string) {
  const { client, token, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    // Not after a review of the item, which would end its reservation.
    scope: reviewingScope(id),
    meta: { isFailureShown: true },
    mutationFn: ({ itemId, reason }: { itemId: string; reason: string | null }) =>
      client.call(requestSecondReview, { headers, parameters: { id, itemId }, body: { reason } }),
    onSuccess: (item) =>
      queryClient.setQueryData<ReviewReservation | null>(
        reservationKey(token, id),
        (held) => held && (held.item.id === item.id ? { ...held, item } : held),
      ),
    onSettled: () => {
      for (const part of ['queue', 'items', 'item'])
        void queryClient.invalidateQueries({ queryKey: reviewsKey(token, part, id) });
    },
  });
}

/** Adds to the discussion of an item. The caller shows the error. */
export function useAddComment(id: string) {
  const { client, token, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ itemId, text }: { itemId: string; text: string }) =>
      client.call(addReviewComment, { headers, parameters: { id, itemId }, body: { text } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: reviewsKey(token, 'item', id) }),
  });
}

const reservationKey = (token: string | null, id: string) => reviewsKey(token, 'reservation', id);

/**
 * The item that is reserved, or the next one, which this reserves; null if none is left. A request for the same one is repeatable: the
 * host returns what is reserved already, with more time.
 */
export function useReservation(id: string) {
  const { client, token, headers } = useReviewing();
  return useQuery({
    queryKey: reservationKey(token, id),
    // Somebody else may have the item when the screen opens again.
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<ReviewReservation | null> =>
      (await client.call(reserveItem, { signal, headers, parameters: { id }, body: {} })) ?? null,
  });
}

/** One after the other: a review that reached the host after the end of its reservation would be rejected. */
const reviewingScope = (id: string) => ({ id: `review ${id}` });

/** What a reviewer does with the reserved item. */
export type ReviewStep =
  | { kind: 'reserve'; itemId: string }
  | { kind: 'submit'; itemId: string; answers: AnswersInput; note: string | null }
  | { kind: 'skip'; itemId: string; reason: string };

/** Shows the next item after a review or a skip. The caller shows the error. */
export function useReviewStep(id: string) {
  const { client, token, headers } = useReviewing();
  const queryClient = useQueryClient();
  const reserve = (body: { itemId?: string }) => client.call(reserveItem, { headers, parameters: { id }, body });
  async function skip(itemId: string, reason: string): Promise<void> {
    const parameters = { id, itemId };
    try {
      await client.call(skipItem, { headers, parameters, body: { reason } });
    } catch (failure) {
      // Nothing is left to skip when the run was deleted meanwhile.
      const { state } = await client.call(readReviewItem, { headers, parameters });
      if (state !== 'removed') throw failure;
    }
  }
  // A reviewer who has left meanwhile would keep the next item from others.
  const isOpen = () => queryClient.getQueryState(reservationKey(token, id)) !== undefined;
  return useMutation({
    scope: reviewingScope(id),
    meta: { isFailureShown: true },
    /** Undefined if the next item could not be reserved. */
    mutationFn: async (step: ReviewStep): Promise<ReviewReservation | null | undefined> => {
      const parameters = { id, itemId: step.itemId };
      if (step.kind === 'reserve') return (await reserve({ itemId: step.itemId })) ?? null;
      if (step.kind === 'submit') {
        await client.call(submitReview, { headers, parameters, body: { answers: step.answers, note: step.note } });
        // Here, because a reviewer who leaves at once has left the panel.
        forgetReviewDraft(reviewDraftId(token, id, step.itemId));
      } else await skip(step.itemId, step.reason);
      if (!isOpen()) return null;
      return reserve({}).then(
        (reservation) => reservation ?? null,
        () => undefined,
      );
    },
    onSuccess: (reservation) => {
      if (!isOpen()) return;
      if (reservation !== undefined) queryClient.setQueryData(reservationKey(token, id), reservation);
      // The item is done. Its panel gives way to the next one, or to the reason why there is none.
      else void queryClient.resetQueries({ queryKey: reservationKey(token, id) });
    },
    onSettled: (_reservation, _error, { kind, itemId }) => {
      // The last review of an item becomes feedback.
      if (kind === 'submit') void renewFeedback(queryClient);
      for (const part of ['queue', 'items', 'item', 'agreement', 'disagreements'])
        void queryClient.invalidateQueries({ queryKey: reviewsKey(token, part, id) });
      void queryClient.invalidateQueries({ queryKey: reviewsKey(token, 'item', id, itemId) });
    },
  });
}

/** Ends the reservation when another person begins to review at this window: the item would have no reviewer until it expires. */
export function useReleaseForOthers(id: string): void {
  const { client, token } = useReviewing();
  useEffect(() => {
    return () => {
      if (useActingReviewer.getState().token === token) return;
      // Without the host the reservation ends when it expires.
      client.call(releaseItem, { headers: reviewerHeaders(token), parameters: { id } }).catch(() => {});
    };
  }, [client, token, id]);
}

/** Ends the reservation, so that others can have the item. */
export function useReleaseItem(id: string) {
  const { client, token, headers } = useReviewing();
  const queryClient = useQueryClient();
  return useMutation({
    scope: reviewingScope(id),
    mutationFn: () => client.call(releaseItem, { headers, parameters: { id } }),
    onMutate: () => queryClient.removeQueries({ queryKey: reservationKey(token, id) }),
  });
}
