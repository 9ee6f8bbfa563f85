import { useMutation, useQueryClient } from '@tanstack/react-query';
import { downloadReviewQueue, importReviewQueue, mergeReviewQueue } from '../../shared/contract/review-files.ts';
import { useHost } from '../host/host-context.tsx';
import { renewFeedback } from './audit.ts';

/** A queue as a file for a colleague, or the reviews of a queue that came as one. */
export function useDownloadQueue() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.download(downloadReviewQueue, { parameters: { id } }),
  });
}

/** A queue of another installation. The caller shows the error. */
export function useImportQueue() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (file: File) => client.upload(importReviewQueue, { fields: {}, file }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['reviews'] }),
  });
}

/** Adds the reviews of a file to the queue that they are of. The caller shows the error. */
export function useMergeReviews(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (file: File) => client.upload(mergeReviewQueue, { fields: {}, parameters: { id }, file }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['reviews'] });
      // Items that are done now have given feedback.
      await renewFeedback(queryClient);
    },
  });
}
