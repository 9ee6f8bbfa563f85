import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { useCallback, useEffect, useEffectEvent, useRef } from 'react';
import {
  type AuditExportInput,
  createAuditExport,
  deleteAuditExport,
  followAuditExports,
  listAuditExports,
  previewRedaction,
  resumeAuditExport,
  stopAuditExport,
} from '../../shared/contract/audit-exports.ts';
import { useHost } from '../host/host-context.tsx';
import { useFollowedList } from './follow.ts';
import {
  createReplay,
  deleteReplay,
  followReplays,
  listReplays,
  readReplayResults,
  type Replay,
  type ReplayInput,
  resumeReplay,
  retryReplay,
  stopReplay,
} from '../../shared/contract/audit-replay.ts';
import { auditFacetsKey, auditSummaryKey, forgetHiddenConversations } from './audit.ts';
import { auditListKey } from './audit-list.ts';
import { hostKey } from './host-state.ts';
import { runsKey } from './runs.ts';

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

/** Stops, resumes or deletes a pack. */
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

export type RedactionQuery = z.input<(typeof previewRedaction)['body'] & z.ZodType>;

/** The text that the rules would replace in the first runs of a selection. */
export function useRedactionPreview(question: RedactionQuery | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...exportsKey, 'preview', question],
    enabled: question !== null,
    queryFn: ({ signal }) => client.call(previewRedaction, { signal, body: question as RedactionQuery }),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

const replaysKey = ['audit', 'replays'] as const;

/** Pairs that are read at once. */
export const pairsPerPage = 100;

/** Replays, newest first, with the progress of active ones. */
export function useReplays() {
  return useFollowedList(replaysKey, (client, signal) => client.call(listReplays, { signal }), followReplays);
}

/** Before and after of one page of pairs. `progress` distinguishes states of the replay. */
export function useReplayResults(id: string, page: number, progress: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'replay-results', id, page, progress],
    queryFn: ({ signal }) =>
      client.call(readReplayResults, {
        signal,
        parameters: { id },
        query: { offset: page * pairsPerPage, limit: pairsPerPage },
      }),
    placeholderData: keepPreviousData,
  });
}

function useRenewReplays() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: replaysKey });
}

/** Starts a replay. Calls `onCreated` also when the dialog is closed by then. The caller shows the error. */
export function useCreateReplay(onCreated: (replay: Replay) => void) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ReplayInput) => client.call(createReplay, { body }),
    onSuccess: onCreated,
    onSettled: useRenewReplays(),
  });
}

type ReplayChange = 'stop' | 'resume' | 'retry' | 'delete';

export function useChangeReplay() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id, change }: { id: string; change: ReplayChange }): Promise<void> => {
      const parameters = { id };
      if (change === 'stop') await client.call(stopReplay, { parameters });
      else if (change === 'resume') await client.call(resumeReplay, { parameters });
      else if (change === 'retry') await client.call(retryReplay, { parameters });
      else await client.call(deleteReplay, { parameters });
    },
    onSettled: useRenewReplays(),
  });
}

/** All queries of runs are refetched. */
export function useRenewRuns() {
  const queryClient = useQueryClient();
  return useCallback(() => {
    for (const queryKey of [auditListKey, auditSummaryKey, auditFacetsKey, runsKey, hostKey])
      void queryClient.invalidateQueries({ queryKey });
  }, [queryClient]);
}

/**
 * Refetches the runs that a job of the host stores or deletes: when `state` changes, and when the part that shows an active job closes,
 * which learns no more of it. `state` is undefined until it is known.
 */
export function useRenewalAfterJob({ state, isActive }: { state: string | undefined; isActive: boolean }): void {
  const queryClient = useQueryClient();
  const renewRuns = useRenewRuns();
  const known = useRef(state);
  const renew = useEffectEvent(() => {
    forgetHiddenConversations(queryClient);
    renewRuns();
  });
  useEffect(() => {
    if (known.current !== undefined && known.current !== state) renew();
    known.current = state;
  }, [state]);
  const leave = useEffectEvent(() => {
    if (isActive) renew();
  });
  useEffect(() => () => leave(), []);
}
