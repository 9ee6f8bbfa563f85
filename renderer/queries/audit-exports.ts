import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import {
  createAuditExport,
  deleteAuditExport,
  followAuditExports,
  listAuditExports,
  previewRedaction,
  resumeAuditExport,
  stopAuditExport,
  type AuditExportInput,
} from '../../shared/contract/audit-exports.ts';
import { useHost } from '../host/host-context.tsx';
import { useFollowedList } from './follow.ts';

const exportsKey = ['audit', 'exports'] as const;

/** Evidence packs, newest first, with the progress of those that are being written. */
export function useAuditExports() {
  return useFollowedList(exportsKey, (client, signal) => client.call(listAuditExports, { signal }), followAuditExports);
}

function useRenewExports() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: exportsKey });
}

export function useCreateAuditExport() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: AuditExportInput) => client.call(createAuditExport, { body }),
    onSettled: useRenewExports(),
  });
}

/** Stops, goes on with or deletes a pack. */
export function useChangeAuditExport() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id, change }: { id: string; change: 'stop' | 'resume' | 'delete' }): Promise<void> => {
      const parameters = { id };
      if (change === 'stop') await client.call(stopAuditExport, { parameters });
      else if (change === 'resume') await client.call(resumeAuditExport, { parameters });
      else await client.call(deleteAuditExport, { parameters });
    },
    onSettled: useRenewExports(),
  });
}

export type RedactionQuestion = z.input<(typeof previewRedaction)['body'] & z.ZodType>;

/** What the rules would replace in the first runs of a selection. */
export function useRedactionPreview(question: RedactionQuestion | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...exportsKey, 'preview', question],
    enabled: question !== null,
    queryFn: ({ signal }) => client.call(previewRedaction, { signal, body: question as RedactionQuestion }),
    placeholderData: keepPreviousData,
    retry: false,
  });
}
