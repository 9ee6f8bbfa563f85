import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  actAsReviewer,
  createReviewer,
  deleteReviewer,
  listReviewers,
  type ReviewerChange,
  type ReviewerInput,
  updateReviewer,
} from '../../shared/contract/reviewers.ts';
import { useHost } from '../host/host-context.tsx';
import { reviewerHeaders, useActingReviewer } from '../stores/acting-reviewer.ts';

/** Everything about reviews depends on who reviews, so that no one is shown what only another may see. */
export const reviewsKey = (token: string | null, ...rest: readonly unknown[]) => ['reviews', token, ...rest] as const;

/** All reviewers of this installation, with who reviews now. */
export function useReviewers() {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useQuery({
    queryKey: reviewsKey(token, 'reviewers'),
    queryFn: ({ signal }) =>
      client.call(listReviewers, { signal, headers: reviewerHeaders(token), query: { pageSize: 100 } }),
    select: ({ data }) => data,
  });
}

function useRenewReviews() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['reviews'] });
}

/** The caller shows the error. */
export function useCreateReviewer() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ReviewerInput) => client.call(createReviewer, { body }),
    onSettled: useRenewReviews(),
  });
}

/** Changes who reviews at this window, which then acts by the new PIN. The caller shows the error. */
export function useChangeReviewer() {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async ({ id, body }: { id: string; body: ReviewerChange }) => {
      await client.call(updateReviewer, { parameters: { id }, body, headers: reviewerHeaders(token) });
      if (body.pin === undefined) return;
      const acting = await client.call(actAsReviewer, { parameters: { id }, body: body.pin ? { pin: body.pin } : {} });
      useActingReviewer.setState({ token: acting.token });
    },
    onSettled: useRenewReviews(),
  });
}

export function useDeleteReviewer() {
  const { client } = useHost();
  return useMutation({
    /** `token` is what the window acts as the reviewer with. */
    mutationFn: ({ id, token }: { id: string; token: string | null }) =>
      client.call(deleteReviewer, { parameters: { id }, headers: reviewerHeaders(token) }),
    onSettled: useRenewReviews(),
  });
}

/** From now on this window reviews under the name. The caller shows the error. */
export function useActAsReviewer() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, pin }: { id: string; pin?: string }) =>
      client.call(actAsReviewer, { parameters: { id }, body: pin === undefined ? {} : { pin } }),
    onSuccess: ({ token }) => useActingReviewer.setState({ token }),
  });
}
