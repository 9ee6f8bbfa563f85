import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { CompletionRequest } from '../../../../shared/contract/completions.ts';
import { previewGrounding, type GroundingChoice } from '../../../../shared/contract/grounding.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import { runsKey } from '../../../queries/runs.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { isUnderWay } from '../../../stores/playground-run.ts';
import { useLiveRuns } from '../../../stores/playground-runs.ts';
import { showToast } from '../../../stores/toasts.ts';
import { shownLive, type ShownRun } from '../answer/shown-run.ts';
import { asSent, readRequest } from '../session/run-request.ts';
import { referenceOf } from './passage-choice.ts';
import { groundedRequest } from './use-grounding.ts';

type ChosenModel = Pick<Model, 'aiSystem' | 'name'>;

export interface Comparison {
  /** The run beside the draft's own; null while there is none. */
  run: ShownRun | null;
  /** What is different about it. */
  title: string;
  /** Runs the draft twice: as it is, and without its passages. */
  withoutPassages: () => void;
  /** Opens the picker for the model that gets the same passages. */
  pickModel: () => void;
  isPicking: boolean;
  endPicking: () => void;
  onModel: (model: ChosenModel) => void;
  isUnderWay: boolean;
  stop: () => void;
  close: () => void;
}

function withoutDataspaces({ dataspaceIds: _dataspaceIds, ...request }: CompletionRequest): CompletionRequest {
  return request;
}

/** Runs a draft and, beside it, the same prompt with one thing changed, so that one sees what that thing does. */
export function useComparison(
  draft: Draft,
  model: Model | null,
  runDraft: (choice?: GroundingChoice) => void,
): Comparison {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const key = `${draft.id}/beside`;
  const live = useLiveRuns((state) => state.live[key]);
  const [title, setTitle] = useState('Without passages');
  const [isPicking, setPicking] = useState(false);
  const run = useMemo(() => {
    if (!live) return null;
    // The price of another model is not at hand here; the history tells it.
    const isSameModel = live.request.aiSystem === model?.aiSystem && live.request.model === model.name;
    return shownLive(live, isSameModel ? model : null, performance.now());
  }, [live, model]);
  const runs = useLiveRuns.getState();

  const startBeside = async (request: CompletionRequest, choice: GroundingChoice | null): Promise<void> => {
    await runs.start(client, {
      draftId: key,
      request: asSent(request, draft),
      choice,
      transport: 'sse',
      hasReasoning: false,
      onRunId: () => void queryClient.invalidateQueries({ queryKey: [...runsKey, 'list'] }),
    });
    await queryClient.invalidateQueries({ queryKey: runsKey });
  };

  const onModel = async (other: ChosenModel): Promise<void> => {
    setPicking(false);
    const request = groundedRequest(draft, model);
    const read = readRequest({ ...draft, aiSystem: other.aiSystem, model: other.name }, null);
    if (!request || 'blocker' in read) return runDraft();
    // Frames of small models take fewer passages: both get those of the draft's own.
    const { passages } = await client.call(previewGrounding, { body: request });
    const only = passages.filter(({ index }) => index !== null).map(referenceOf);
    setTitle(`${other.name}, same passages`);
    runDraft({ only });
    await startBeside(read.request, { only });
  };

  return {
    run,
    title,
    isPicking,
    withoutPassages: () => {
      const read = readRequest(draft, model);
      runDraft();
      if ('blocker' in read) return;
      setTitle('Without passages');
      void startBeside(withoutDataspaces(read.request), null);
    },
    pickModel: () => setPicking(true),
    endPicking: () => setPicking(false),
    onModel: (other) => {
      onModel(other).catch((error: unknown) => {
        const { message, requestId } = describeError(error);
        showToast({ tone: 'negative', text: message, requestId });
      });
    },
    isUnderWay: isUnderWay(live),
    stop: () => runs.stop(key),
    close: () => useLiveRuns.getState().dismiss(key),
  };
}
