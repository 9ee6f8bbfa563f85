import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { listDisagreements, readReviewAgreement } from '../../shared/contract/review-agreement.ts';
import { adjudicateItem, type AnswersInput } from '../../shared/contract/reviews.ts';
import { useHost } from '../host/host-context.tsx';
import { reviewerHeaders, useActingReviewer } from '../stores/acting-reviewer.ts';
import { reviewsKey } from './reviewers.ts';

const itemsPerPage = 100;

export function useReviewAgreement(id: string) {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useQuery({
    queryKey: reviewsKey(token, 'agreement', id),
    queryFn: ({ signal }) =>
      client.call(readReviewAgreement, { signal, headers: reviewerHeaders(token), parameters: { id } }),
  });
}

/** A cell of a confusion matrix, or all disagreements about an item of the rubric. */
export interface DisagreementsQuery {
  readonly rubricItemId: string;
  readonly first?: string;
  readonly second?: string;
  readonly against?: string;
  readonly firstValue?: string;
  readonly secondValue?: string;
}

export function useDisagreements(id: string, query: DisagreementsQuery) {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useInfiniteQuery({
    queryKey: reviewsKey(token, 'disagreements', id, query),
    initialPageParam: 0,
    queryFn: ({ signal, pageParam }) =>
      client.call(listDisagreements, {
        signal,
        headers: reviewerHeaders(token),
        parameters: { id },
        query: { ...query, offset: pageParam, limit: itemsPerPage },
      }),
    getNextPageParam: ({ offset, data, total }) => (offset + data.length < total ? offset + data.length : undefined),
    select: ({ pages }) => ({ items: pages.flatMap(({ data }) => data), total: pages[0]?.total ?? 0 }),
  });
}

/** Writes gold values; the reviews stay. The caller shows the error. */
export function useAdjudicate(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const token = useActingReviewer((state) => state.token);
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ itemId, answers }: { itemId: string; answers: AnswersInput }) =>
      client.call(adjudicateItem, { headers: reviewerHeaders(token), parameters: { id, itemId }, body: { answers } }),
    onSuccess: () => {
      // Not awaited: the next item opens at once, and the keys are for it.
      void queryClient.invalidateQueries({ queryKey: reviewsKey(token) });
      // The gold values became feedback.
      void queryClient.invalidateQueries({ queryKey: ['audit'] });
    },
  });
}
