import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { listDisagreements, readReviewAgreement } from '../../shared/contract/review-agreement.ts';
import { adjudicateItem, type AnswersInput } from '../../shared/contract/reviews.ts';
import { useHost } from '../host/host-context.tsx';
import { reviewerHeaders, useActingReviewer } from '../stores/acting-reviewer.ts';
import { renewFeedback } from './audit.ts';
import { reviewsKey } from './reviewers.ts';

const itemsPerPage = 100;

/** Which answers to one item of the rubric stand for a judge's pass and a flag of the guard. */
export interface ChosenMeaning {
  readonly rubricItemId: string;
  readonly passValue?: string;
  readonly flaggedValue?: string;
}

/** Another choice keeps the figures of the earlier one until its own are there. */
export function useReviewAgreement(id: string, meaning: ChosenMeaning | undefined) {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useQuery({
    queryKey: reviewsKey(token, 'agreement', id, meaning),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client.call(readReviewAgreement, {
        signal,
        headers: reviewerHeaders(token),
        parameters: { id },
        query: { ...meaning },
      }),
  });
}

/** A cell of a confusion matrix, or all disagreements about an item of the rubric. */
export interface DisagreementsQuery {
  readonly rubricItemId: string;
  readonly first?: string;
  readonly second?: string;
  readonly against?: string;
  readonly passValue?: string;
  readonly flaggedValue?: string;
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
      void renewFeedback(queryClient);
    },
  });
}
