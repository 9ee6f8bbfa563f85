import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { GroundingChoice } from '../../../../shared/contract/grounding.ts';
import { followOnDevice, type OnDeviceModel } from '../../../../shared/contract/on-device.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import type { Client } from '../../../host/client.ts';
import { useHost } from '../../../host/host-context.tsx';
import { hostKey } from '../../../queries/host-state.ts';
import { modelsKey, useModels } from '../../../queries/providers.ts';
import { onDeviceQuery, useInstallOnDevice } from '../../../queries/on-device.ts';
import { conversationKey } from '../../../queries/audit.ts';
import { promptUsageKey } from '../../../queries/prompt-details.ts';
import { runsKey, useRun } from '../../../queries/runs.ts';
import { getActiveDraft, useDrafts, type Draft } from '../../../stores/playground-drafts.ts';
import { type CompletionOptions, draftSlot, startCompletion, stepsSlot } from '../../../stores/completion-runs.ts';
import { queueRun, stopRun, useLiveRuns, type CompletionRun, type CompletionSlot } from '../../../stores/live-runs.ts';
import { isActive } from '../../../stores/run-stream.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { clearResults } from '../../../stores/tool-results.ts';
import type { ContinueRun } from '../answer/tool-steps.tsx';
import { shownLive, type ShownRun, shownStored, withStored } from '../answer/shown-run.ts';
import { runsOnDevice } from '../../../components/models/model-list.ts';
import { automaticResults, type StepUse } from '../../../components/tool-calls/automatic-results.ts';
import { asSent, type Blocker, readChoice, readRequest } from './run-request.ts';

/** The details of the chosen model; null while the list loads, and for a name that no list has. */
export function useChosenModel({ aiSystem, model }: Pick<Draft, 'aiSystem' | 'model'>): Model | null {
  const { data } = useModels();
  return useMemo(
    () => data?.data.find((candidate) => candidate.aiSystem === aiSystem && candidate.name === model) ?? null,
    [data, aiSystem, model],
  );
}

/** Whether a run has to wait until the on-device model is installed. */
export function isWaitingForModel(model: Model | null): boolean {
  return model !== null && !model.isReady && runsOnDevice(model);
}

/** The newest run of a slot since the window opened; null before it. */
export function useLiveRun(slot: CompletionSlot): CompletionRun | null {
  return useLiveRuns(({ runs }) => runs[slot] ?? null);
}

/** The run whose answer is on the screen: the active one, or `shownRunId`, which was restored or ran before a restart. */
export function useShownRun(slot: CompletionSlot, shownRunId: string | null, model: Model | null): ShownRun | null {
  const live = useLiveRun(slot);
  const isLive = live !== null && (live.runId === null || live.runId === shownRunId || isActive(live));
  const isEnded = live !== null && !isActive(live);
  const stored = useRun(isLive && !isEnded ? null : ((isLive ? live.runId : null) ?? shownRunId)).data;
  return useMemo(() => {
    // The chosen model may differ from the run's.
    const pricesOf = (run: Pick<Draft, 'aiSystem' | 'model'>) =>
      run.aiSystem === model?.aiSystem && run.model === model.name ? model : null;
    if (!isLive) return stored ? shownStored(stored, pricesOf(stored)) : null;
    const prices = pricesOf(live.request);
    return withStored(shownLive(live), stored, prices);
  }, [isLive, live, model, stored]);
}

/** The open draft's run whose answer is on the screen. What is typed in the draft doesn't render the caller again. */
export function useAnswer(): ShownRun | null {
  const { id, shownRunId, aiSystem, model } = useDrafts(
    useShallow((state) => {
      const draft = getActiveDraft(state);
      return { id: draft.id, shownRunId: draft.shownRunId, aiSystem: draft.aiSystem, model: draft.model };
    }),
  );
  return useShownRun(draftSlot(id), shownRunId, useChosenModel({ aiSystem, model }));
}

/** Returns a function that reads the newest text, for buttons that don't render with every token. */
export function useReadText(run: ShownRun | null): () => string {
  const newest = useRef('');
  useLayoutEffect(() => {
    newest.current = run?.text ?? '';
  });
  return useCallback(() => newest.current, []);
}

export interface Runner {
  isActive: boolean;
  /** Queued: the run starts when the on-device model is ready. */
  isWaiting: boolean;
  /** Why the last attempt didn't start; null after an edit and for another draft. */
  blocker: Blocker | null;
  run: () => void;
  /** Runs it on these passages instead of those that the draft chooses. */
  runWith: (choice: GroundingChoice) => void;
  /** Sends the results of the last step. The new run takes the place of the shown one. */
  continueRun: ContinueRun;
  stop: () => void;
}

/** Resolves when an on-device model is installed and chosen. */
async function onDeviceModelReady(client: Client, signal: AbortSignal): Promise<void> {
  const { parts } = await client.stream(followOnDevice, { signal });
  for await (const { models } of parts) {
    if (models.some(({ state, isSelected }) => state === 'installed' && isSelected)) return;
  }
}

/** Whether reasoning may come: unknown for models outside the catalogue, such as a GGUF file. */
function mayReason(model: Model | null): boolean {
  if (model === null || model.contextTokens === null || runsOnDevice(model)) return true;
  return model.capabilities.includes('reasoning');
}

function getDraft(draftId: string): Draft | undefined {
  return useDrafts.getState().drafts.find(({ id }) => id === draftId);
}

interface StepsContext {
  client: Client;
  queryClient: QueryClient;
  draftId: string;
}

/** Reads again what a run has changed. */
async function renewAfter({ conversationId, error }: CompletionRun, queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: runsKey }),
    queryClient.invalidateQueries({ queryKey: hostKey }),
    queryClient.invalidateQueries({ queryKey: promptUsageKey }),
    // A continuation joins a conversation that was read before.
    queryClient.invalidateQueries({ queryKey: conversationKey(conversationId) }),
    error && queryClient.invalidateQueries({ queryKey: modelsKey }),
  ]);
}

/** Runs a request, and the steps after it as long as they continue automatically. */
async function runSteps({ client, queryClient, draftId }: StepsContext, first: CompletionOptions): Promise<void> {
  const [slot, betweenSteps] = [draftSlot(draftId), stepsSlot(draftId)];
  const use: StepUse = { steps: 0, cost: 0 };
  for (let options: CompletionOptions | null = first; options !== null;) {
    const { steps = [] } = options;
    const run: CompletionRun = await startCompletion(client, slot, {
      ...options,
      onRunId: (shownRunId) => {
        useDrafts.getState().change(draftId, { shownRunId });
        const continuedId = steps.at(-1)?.runId;
        if (continuedId != null) clearResults(continuedId);
        void queryClient.invalidateQueries({ queryKey: [...runsKey, 'list'] });
      },
    });
    // A switch that is turned on later, beside the finished answer, is for the next one.
    const mayContinue = usePlaygroundView.getState().continuesAutomatically && run.finishReason === 'ToolCalls';
    const signal = mayContinue ? queueRun(betweenSteps) : null;
    try {
      await renewAfter(run, queryClient);
      const draft = getDraft(draftId);
      // Compared answers are first answers.
      const isAlone = draft !== undefined && (draft.compared ?? []).length === 0;
      const isNewest = () => !signal?.aborted && useLiveRuns.getState().runs[slot]?.key === run.key;
      const context = { client, queryClient, tools: draft?.tools, isNewest };
      const results = mayContinue && isAlone ? await automaticResults(run, use, context) : null;
      const { runId, text, toolCalls: calls } = run;
      options = results && { ...options, steps: [...run.steps, { runId, text, calls, results }] };
    } finally {
      // A later run has a separate signal.
      if (signal?.aborted === false) stopRun(betweenSteps);
    }
  }
}

/** Starts and stops the runs of a draft. It reads the draft when Run is pressed, which may be newer than the drawn one. */
export function useRunner(draftId: string, model: Model | null): Runner {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const slot = draftSlot(draftId);
  const isRunning = useLiveRuns(({ runs, queued }) => isActive(runs[slot]) || queued.has(stepsSlot(draftId)));
  const isWaiting = useLiveRuns(({ queued }) => queued.has(slot));
  const current = useDrafts(({ drafts }) => drafts.find(({ id }) => id === draftId));
  const [blocked, setBlocked] = useState<{ draft: Draft; blocker: Blocker } | null>(null);
  // An edit or another draft takes the blocker off the screen.
  const blocker = blocked !== null && blocked.draft === current ? blocked.blocker : null;

  const runToEnd = useCallback(
    (first: CompletionOptions) => runSteps({ client, queryClient, draftId }, first),
    [client, draftId, queryClient],
  );

  const start = useCallback(
    async (choice?: GroundingChoice): Promise<void> => {
      const draft = getDraft(draftId);
      if (!draft) return;
      const read = readRequest(draft, model);
      setBlocked('blocker' in read ? { draft, blocker: read.blocker } : null);
      if ('blocker' in read) {
        // A queued run must not wait for a model that is ready.
        if (useLiveRuns.getState().queued.has(slot)) stopRun(slot);
        return;
      }
      await runToEnd({
        request: asSent(read.request, draft),
        choice: choice ?? readChoice(draft),
        transport: draft.transport,
        hasReasoning: mayReason(model),
      });
    },
    [draftId, model, runToEnd, slot],
  );

  const startWhenReady = useCallback(async (): Promise<void> => {
    const signal = queueRun(slot);
    try {
      await onDeviceModelReady(client, signal);
    } catch (cause) {
      if (signal.aborted) return;
      stopRun(slot);
      throw cause;
    }
    if (!signal.aborted) await start();
  }, [start, client, slot]);

  // The model may also become ready without a download: ServiceAi is routed to another one in the settings.
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- The effect starts a queued run; only a blocker that the run meets sets state.
    if (isWaiting && model?.isReady) void start();
  }, [start, isWaiting, model]);

  const run = useCallback(
    () => void (isWaitingForModel(model) ? startWhenReady() : start()),
    [start, startWhenReady, model],
  );
  const runWith = useCallback((choice: GroundingChoice) => void start(choice), [start]);
  const continueRun = useCallback<ContinueRun>(
    (request, steps) => {
      const { transport } = getDraft(draftId) ?? { transport: 'sse' };
      const metadata = { ...request.metadata, draftId };
      void runToEnd({ request: { ...request, metadata }, steps, transport, hasReasoning: mayReason(model) });
    },
    [draftId, model, runToEnd],
  );
  const stop = useCallback(() => {
    stopRun(slot);
    stopRun(stepsSlot(draftId));
  }, [draftId, slot]);
  return useMemo(
    () => ({ isActive: isRunning, isWaiting, blocker, run, runWith, continueRun, stop }),
    [isRunning, isWaiting, blocker, run, runWith, continueRun, stop],
  );
}

/** The model to offer: the one that is being downloaded, or the first of the catalogue. */
export function offeredModel(models: readonly OnDeviceModel[]): OnDeviceModel | null {
  const started = models.find(({ state }) => state !== 'absent' && state !== 'installed');
  return started ?? models.find(({ source }) => source === 'packages') ?? models[0] ?? null;
}

/** Returns a function that downloads the offered on-device model, unless its download runs. */
export function useInstallOffered(): () => void {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const { mutate } = useInstallOnDevice();
  return useCallback(() => {
    const install = (offered: OnDeviceModel | null): void => {
      if (offered && ['absent', 'paused', 'failed'].includes(offered.state)) mutate(offered.id);
    };
    // A person can press Run before the state of the models is there. The card of the download shows a failure.
    queryClient.ensureQueryData(onDeviceQuery(client)).then(
      ({ models }) => install(offeredModel(models)),
      () => {},
    );
  }, [client, mutate, queryClient]);
}
