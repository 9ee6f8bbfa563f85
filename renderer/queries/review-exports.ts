import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  calibrateFromReviews,
  createReviewDataset,
  exportReviewQueue,
  type ReviewExportFormat,
} from '../../shared/contract/review-exports.ts';
import { useHost } from '../host/host-context.tsx';
import { reviewerHeaders, useActingReviewer } from '../stores/acting-reviewer.ts';

/** The reviews as a file. */
export function useExportReviews(id: string) {
  const { client } = useHost();
  const token = useActingReviewer((state) => state.token);
  return useMutation({
    mutationFn: (format: ReviewExportFormat) =>
      client.download(exportReviewQueue, { headers: reviewerHeaders(token), parameters: { id }, query: { format } }),
  });
}

export interface ReviewDatasetInput {
  readonly name: string;
  readonly ratings: boolean;
  readonly expected?: { readonly rubricItemId?: string; readonly passFrom?: number };
}

/** Starts a dataset of the reviewed runs. The caller shows the error. */
export function useReviewDataset(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ReviewDatasetInput) => client.call(createReviewDataset, { parameters: { id }, body }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['dataset-jobs'] }),
  });
}

export interface JudgeLabels {
  readonly judgeId: string;
  readonly rubricItemId: string;
  /** Of a score. */
  readonly passFrom?: number;
}

/** Labels answers for a judge by the reviews. The caller shows the error. */
export function useLabelJudge(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: JudgeLabels) => client.call(calibrateFromReviews, { parameters: { id }, body }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['judges'] }),
  });
}
