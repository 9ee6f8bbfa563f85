import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { previewGrounding, type GroundingChoice } from '../../../../shared/contract/grounding.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { describeError } from '../../../components/state-panels.tsx';
import type { Client } from '../../../host/client.ts';
import { useHost } from '../../../host/host-context.tsx';
import { runsKey } from '../../../queries/runs.ts';
import { columnSlot, passagesSlot, startCompletion } from '../../../stores/completion-runs.ts';
import { dismissRun, queueRun, stopRun, useLiveRuns } from '../../../stores/live-runs.ts';
import { useDrafts, type ComparedColumn, type Draft } from '../../../stores/playground-drafts.ts';
import { isActive } from '../../../stores/run-stream.ts';
import { showToast } from '../../../stores/toasts.ts';
import { groundedRequest, referenceOf } from '../grounding/grounding-model.ts';
import { asSent, readChoice, readRequest } from '../session/run-request.ts';

type ChosenModel = Pick<Model, 'aiSystem' | 'name'>;

/** Beside the draft's own answer. More than four columns can't be read side by side. */
export const maxComparedColumns = 3;

export interface Comparison extends ComparisonActions {
  /** The columns beside the draft's own answer. */
  columns: readonly ComparedColumn[];
  isActive: boolean;
  canAdd: boolean;
  isRunning: boolean;
  /** Whether the picker for a column's model is open. */
  isPicking: boolean;
  onModel: (model: ChosenModel) => void;
  onModelAndRun: (model: ChosenModel) => void;
}

interface ComparisonActions {
  /** Opens the picker for another column; with `run`, all columns run once the model is chosen. */
  add: (options?: { run: boolean }) => void;
  changeModel: (columnId: string) => void;
  endPicking: () => void;
  /** Runs the draft and, beside it, the draft without its passages. */
  withoutPassages: () => void;
  run: () => void;
  runColumn: (columnId: string) => void;
  stop: () => void;
  stopColumn: (columnId: string) => void;
  remove: (columnId: string) => void;
  close: () => void;
}

/** What the model picker is open for. */
interface Picking {
  /** `new` adds a column. */
  columnId: string;
  /** Whether all columns run once the model is chosen. */
  isRun: boolean;
}

interface ComparisonContext {
  client: Client;
  queryClient: QueryClient;
  draftId: string;
  /** The draft's own model. */
  model: Model | null;
  runDraft: (choice: GroundingChoice | null) => void;
}

const noColumns: readonly ComparedColumn[] = [];

function findDraft(draftId: string): Draft | undefined {
  return useDrafts.getState().drafts.find(({ id }) => id === draftId);
}

function columnsOf(draftId: string): readonly ComparedColumn[] {
  return findDraft(draftId)?.compared ?? noColumns;
}

function changeColumns(
  draftId: string,
  change: (columns: readonly ComparedColumn[]) => readonly ComparedColumn[],
): void {
  if (findDraft(draftId)) useDrafts.getState().change(draftId, { compared: change(columnsOf(draftId)) });
}

function changeColumn(draftId: string, columnId: string, change: Partial<ComparedColumn>): void {
  changeColumns(draftId, (columns) =>
    columns.map((column) => (column.id === columnId ? { ...column, ...change } : column)),
  );
}

function newColumn({ aiSystem, name }: ChosenModel, isGrounded: boolean): ComparedColumn {
  return { id: crypto.randomUUID(), aiSystem, model: name, isGrounded, runId: null };
}

/** Runs a column of a draft. It is a separate run in the history. */
async function runColumn(
  { client, queryClient, draftId }: ComparisonContext,
  columnId: string,
  choice: GroundingChoice | null,
): Promise<void> {
  const draft = findDraft(draftId);
  // Finding the passages takes time, in which a column may get another model, or be removed with its draft or alone.
  const column = draft?.compared?.find(({ id }) => id === columnId);
  if (!draft || !column) return;
  // A column without grounding uses the draft's own model.
  const { aiSystem, model } = column.isGrounded ? column : draft;
  const read = readRequest({ ...draft, aiSystem, model }, null);
  if ('blocker' in read) return;
  const { dataspaceIds, ...rest } = read.request;
  const request = column.isGrounded && dataspaceIds ? { ...rest, dataspaceIds } : rest;
  changeColumn(draftId, columnId, { aiSystem, model });
  await startCompletion(client, columnSlot(draftId, columnId), {
    request: asSent(request, draft),
    choice: column.isGrounded ? choice : null,
    transport: draft.transport,
    isCompared: true,
    hasReasoning: true,
    onRunId: (runId) => {
      changeColumn(draftId, columnId, { runId });
      void queryClient.invalidateQueries({ queryKey: [...runsKey, 'list'] });
    },
  });
  await queryClient.invalidateQueries({ queryKey: runsKey });
}

/** The passages that all columns receive. Templates of small models take fewer, so each column would choose others. */
async function findSharedPassages(
  { client, model }: ComparisonContext,
  draft: Draft,
  signal: AbortSignal,
): Promise<GroundingChoice | null> {
  const request = groundedRequest(draft, model);
  if (request === null) return null;
  const { passages } = await client.call(previewGrounding, { body: request, signal });
  return { only: passages.filter(({ index }) => index !== null).map(referenceOf) };
}

async function runAll(context: ComparisonContext): Promise<void> {
  const { draftId, model, runDraft } = context;
  const draft = findDraft(draftId);
  if (!draft || 'blocker' in readRequest(draft, model)) return runDraft(null);
  const columns = draft.compared ?? noColumns;
  const slot = passagesSlot(draftId);
  const signal = queueRun(slot);
  try {
    const isShared = columns.some(({ isGrounded }) => isGrounded);
    const shared = isShared ? await findSharedPassages(context, draft, signal) : null;
    if (signal.aborted || !findDraft(draftId)) return;
    runDraft(shared);
    for (const { id } of columns) void runColumn(context, id, shared ?? readChoice(draft));
  } catch (error) {
    if (signal.aborted) return;
    const { message, requestId } = describeError(error);
    showToast({ tone: 'negative', text: message, requestId });
  } finally {
    // A later run has a separate signal.
    if (!signal.aborted) stopRun(slot);
  }
}

function createActions(
  context: ComparisonContext,
  setPicking: (picking: Picking | null) => void,
): ComparisonActions & { choose: (picking: Picking, model: ChosenModel) => void } {
  const { draftId } = context;
  const run = (): void => void runAll(context);
  const remove = (columnId: string): void => {
    dismissRun(columnSlot(draftId, columnId));
    changeColumns(draftId, (columns) => columns.filter(({ id }) => id !== columnId));
  };
  return {
    add: (options) => setPicking({ columnId: 'new', isRun: options?.run ?? false }),
    changeModel: (columnId) => setPicking({ columnId, isRun: false }),
    endPicking: () => setPicking(null),
    choose: ({ columnId, isRun }, model) => {
      setPicking(null);
      if (columnId === 'new') {
        changeColumns(draftId, (columns) =>
          columns.length < maxComparedColumns ? [...columns, newColumn(model, true)] : columns,
        );
      } else {
        dismissRun(columnSlot(draftId, columnId));
        changeColumn(draftId, columnId, {
          aiSystem: model.aiSystem,
          model: model.name,
          runId: null,
          isGrounded: true,
        });
      }
      if (isRun) run();
    },
    withoutPassages: () => {
      const draft = findDraft(draftId);
      if (!draft) return;
      const without = newColumn({ aiSystem: draft.aiSystem, name: draft.model }, false);
      changeColumns(draftId, (columns) =>
        columns.some(({ isGrounded }) => !isGrounded) || columns.length >= maxComparedColumns
          ? columns
          : [...columns, without],
      );
      run();
    },
    run,
    runColumn: (columnId) => {
      const draft = findDraft(draftId);
      if (draft) void runColumn(context, columnId, readChoice(draft));
    },
    stop: () => {
      stopRun(passagesSlot(draftId));
      for (const { id } of columnsOf(draftId)) stopRun(columnSlot(draftId, id));
    },
    stopColumn: (columnId) => stopRun(columnSlot(draftId, columnId)),
    remove,
    close: () => {
      for (const { id } of columnsOf(draftId)) remove(id);
    },
  };
}

/** The draft on up to three other models, or without its passages, beside its own answer. */
export function useComparisonState(
  { id: draftId, compared: columns = noColumns }: Pick<Draft, 'id' | 'compared'>,
  model: Model | null,
  runDraft: ComparisonContext['runDraft'],
): Comparison {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [picking, setPicking] = useState<Picking | null>(null);
  const isRunning = useLiveRuns(
    ({ runs, queued }) =>
      queued.has(passagesSlot(draftId)) || columns.some(({ id }) => isActive(runs[columnSlot(draftId, id)])),
  );
  const commands = useMemo(
    () => createActions({ client, queryClient, draftId, model, runDraft }, setPicking),
    [client, draftId, model, queryClient, runDraft],
  );
  return useMemo(() => {
    const { choose, ...actions } = commands;
    return {
      ...actions,
      columns,
      isActive: columns.length > 0,
      canAdd: columns.length < maxComparedColumns,
      isRunning,
      isPicking: picking !== null,
      onModel: (chosen: ChosenModel) => picking && choose(picking, chosen),
      onModelAndRun: (chosen: ChosenModel) => picking && choose({ ...picking, isRun: true }, chosen),
    };
  }, [columns, commands, isRunning, picking]);
}
