import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { previewGrounding, type GroundingChoice } from '../../../../shared/contract/grounding.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import { runsKey } from '../../../queries/runs.ts';
import { useDrafts, type ComparedColumn, type Draft } from '../../../stores/playground-drafts.ts';
import { columnSlot, startCompletion } from '../../../stores/completion-runs.ts';
import { dismissRun, stopRun, useLiveRuns } from '../../../stores/live-runs.ts';
import { isActive } from '../../../stores/run-stream.ts';
import { showToast } from '../../../stores/toasts.ts';
import { groundedRequest, referenceOf } from '../grounding/grounding-model.ts';
import { asSent, readChoice, readRequest } from '../session/run-request.ts';

type ChosenModel = Pick<Model, 'aiSystem' | 'name'>;

/** Beside the draft's own answer; more columns than four can't be read side by side. */
export const maxComparedColumns = 3;

export interface Comparison {
  /** The columns beside the draft's own answer. */
  columns: readonly ComparedColumn[];
  isActive: boolean;
  canAdd: boolean;
  isRunning: boolean;
  /** The column whose model is chosen in the picker; `new` for another column, null while the picker is closed. */
  picking: string | null;
  /** Opens the picker for another column; with `run`, all columns run once the model is chosen. */
  add: (options?: { run: boolean }) => void;
  changeModel: (columnId: string) => void;
  endPicking: () => void;
  onModel: (model: ChosenModel) => void;
  onModelAndRun: (model: ChosenModel) => void;
  /** Runs the draft as it is and, beside it, without its passages. */
  withoutPassages: () => void;
  run: () => void;
  runColumn: (columnId: string) => void;
  stop: () => void;
  stopColumn: (columnId: string) => void;
  remove: (columnId: string) => void;
  close: () => void;
}

const noColumns: readonly ComparedColumn[] = [];

function draftNow(draftId: string): Draft | undefined {
  return useDrafts.getState().drafts.find(({ id }) => id === draftId);
}

function changeColumns(
  draftId: string,
  change: (columns: readonly ComparedColumn[]) => readonly ComparedColumn[],
): void {
  const draft = draftNow(draftId);
  if (draft) useDrafts.getState().change(draftId, { compared: change(draft.compared ?? noColumns) });
}

function changeColumn(draftId: string, columnId: string, change: Partial<ComparedColumn>): void {
  changeColumns(draftId, (columns) =>
    columns.map((column) => (column.id === columnId ? { ...column, ...change } : column)),
  );
}

function newColumn({ aiSystem, name }: ChosenModel, isGrounded: boolean): ComparedColumn {
  return { id: crypto.randomUUID(), aiSystem, model: name, isGrounded, runId: null };
}

/** Runs columns of a draft, each as a run of its own in the history. */
function useColumnRuns(draftId: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();

  async function start(column: ComparedColumn, choice: GroundingChoice | null): Promise<void> {
    const draft = draftNow(draftId);
    // Finding the passages takes time, in which a column or the whole draft may be removed.
    if (!draft?.compared?.some(({ id }) => id === column.id)) return;
    // A column without grounding is there to be compared with the draft's own model.
    const { aiSystem, model } = column.isGrounded ? column : draft;
    const read = readRequest({ ...draft, aiSystem, model }, null);
    if ('blocker' in read) return;
    const { dataspaceIds, ...rest } = read.request;
    const request = column.isGrounded && dataspaceIds ? { ...rest, dataspaceIds } : rest;
    changeColumn(draftId, column.id, { aiSystem, model });
    await startCompletion(client, columnSlot(draftId, column.id), {
      request: asSent(request, draft),
      choice: column.isGrounded ? choice : null,
      transport: draft.transport,
      isCompared: true,
      hasReasoning: true,
      onRunId: (runId) => {
        changeColumn(draftId, column.id, { runId });
        void queryClient.invalidateQueries({ queryKey: [...runsKey, 'list'] });
      },
    });
    await queryClient.invalidateQueries({ queryKey: runsKey });
  }

  /** The passages that all columns get: templates of small models take fewer, so each would choose others. */
  async function samePassages(draft: Draft, model: Model | null, signal: AbortSignal): Promise<GroundingChoice | null> {
    const request = groundedRequest(draft, model);
    if (request === null) return null;
    const { passages } = await client.call(previewGrounding, { body: request, signal });
    return { only: passages.filter(({ index }) => index !== null).map(referenceOf) };
  }

  return { start, samePassages };
}

/** Which column the picker is open for. */
function usePicking(draft: Draft, runAll: () => void) {
  const [picking, setPicking] = useState<{ columnId: string; isRun: boolean } | null>(null);
  const choose = (model: ChosenModel, isRun: boolean): void => {
    if (!picking) return;
    setPicking(null);
    const { columnId } = picking;
    if (columnId === 'new') {
      changeColumns(draft.id, (columns) =>
        columns.length < maxComparedColumns ? [...columns, newColumn(model, true)] : columns,
      );
    } else {
      dismissRun(columnSlot(draft.id, columnId));
      changeColumn(draft.id, columnId, { aiSystem: model.aiSystem, model: model.name, runId: null, isGrounded: true });
    }
    if (isRun || picking.isRun) runAll();
  };
  return {
    picking: picking?.columnId ?? null,
    add: (options?: { run: boolean }) => setPicking({ columnId: 'new', isRun: options?.run ?? false }),
    changeModel: (columnId: string) => setPicking({ columnId, isRun: false }),
    endPicking: () => setPicking(null),
    onModel: (model: ChosenModel) => choose(model, false),
    onModelAndRun: (model: ChosenModel) => choose(model, true),
  };
}

/** The draft on up to three other models, or without its passages, beside its own answer. */
export function useComparison(
  draft: Draft,
  model: Model | null,
  runDraft: (choice?: GroundingChoice) => void,
): Comparison {
  const columns = draft.compared ?? noColumns;
  const { start, samePassages } = useColumnRuns(draft.id);
  const preparing = useRef<AbortController | null>(null);
  const [isPreparing, setPreparing] = useState(false);
  const isRunning = useLiveRuns(({ runs }) => columns.some(({ id }) => isActive(runs[columnSlot(draft.id, id)])));

  const startAll = async (): Promise<void> => {
    const current = draftNow(draft.id);
    const wanted = current?.compared ?? noColumns;
    if (!current || 'blocker' in readRequest(current, model)) return runDraft();
    const controller = new AbortController();
    preparing.current?.abort();
    preparing.current = controller;
    const isShared = wanted.some(({ isGrounded }) => isGrounded);
    setPreparing(true);
    try {
      const same = isShared ? await samePassages(current, model, controller.signal) : null;
      if (controller.signal.aborted || !draftNow(draft.id)) return;
      runDraft(same ?? undefined);
      for (const column of wanted) void start(column, same ?? readChoice(current));
    } finally {
      if (preparing.current === controller) setPreparing(false);
    }
  };
  const report = (error: unknown): void => {
    if (preparing.current?.signal.aborted) return;
    const { message, requestId } = describeError(error);
    showToast({ tone: 'negative', text: message, requestId });
  };
  const run = (): void => void startAll().catch(report);
  const picker = usePicking(draft, run);

  const stop = (): void => {
    preparing.current?.abort();
    for (const { id } of columns) stopRun(columnSlot(draft.id, id));
  };
  const remove = (columnId: string): void => {
    dismissRun(columnSlot(draft.id, columnId));
    changeColumns(draft.id, (all) => all.filter(({ id }) => id !== columnId));
  };
  return {
    columns,
    isActive: columns.length > 0,
    canAdd: columns.length < maxComparedColumns,
    isRunning: isRunning || isPreparing,
    ...picker,
    withoutPassages: () => {
      const without = newColumn({ aiSystem: draft.aiSystem, name: draft.model }, false);
      changeColumns(draft.id, (all) =>
        all.some(({ isGrounded }) => !isGrounded) || all.length >= maxComparedColumns ? all : [...all, without],
      );
      run();
    },
    run,
    runColumn: (columnId) => {
      const column = columns.find(({ id }) => id === columnId);
      if (column) void start(column, readChoice(draft));
    },
    stop,
    stopColumn: (columnId) => stopRun(columnSlot(draft.id, columnId)),
    remove,
    close: () => {
      for (const { id } of columns) remove(id);
    },
  };
}
