import { useMemo } from 'react';
import { runsOnDevice } from '../../../components/models/model-list.ts';
import { type SentMessage, sentMessages } from '../../../components/sent-messages.ts';
import { useRun, useRuns } from '../../../queries/runs.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { useChosenModel } from '../session/use-runner.ts';
import { type CacheBreak, findCacheBreak } from './cache-break.ts';

/**
 * Where the messages first differ from those of the draft's last run on the same model: the provider's cache ends there. Null without
 * such a run, on the device, and for grounded prompts, whose passages are known only when a run has found them.
 */
export function useCacheBreak(draft: Draft, messages: readonly SentMessage[]): CacheBreak | null {
  const model = useChosenModel(draft);
  const runs = useRuns({ draftId: draft.id }).data;
  const last = runs?.pages
    .flatMap(({ data }) => data)
    .find(
      ({ aiSystem, model: name, status }) =>
        aiSystem === draft.aiSystem && name === draft.model && (status === 'Completed' || status === 'Cancelled'),
    );
  const run = useRun(last?.runId ?? null).data;
  const isGrounded = (draft.grounding?.dataspaceIds.length ?? 0) > 0;
  const isCached = model !== null && !runsOnDevice(model) && !isGrounded;
  return useMemo(() => {
    if (!run || !isCached || (run.input.dataspaceIds?.length ?? 0) > 0) return null;
    return findCacheBreak(messages, sentMessages(run.input.systemMessage, run.input.messages));
  }, [isCached, messages, run]);
}
