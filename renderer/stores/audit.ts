import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { AuditRow, AuditSource } from '../../shared/contract/audit.ts';
import type { Feedback, FeedbackInput } from '../../shared/contract/conversations.ts';
import type { ExportColumn, ExportFormat, RedactionRule } from '../../shared/contract/audit-exports.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

export const runParts = ['conversation', 'prompt', 'passages', 'headers', 'timing', 'provider', 'json'] as const;
export type RunPart = (typeof runParts)[number];

/** How conversations are displayed; shared by all of them. */
interface AuditViewState {
  part: RunPart;
  answerView: 'markdown' | 'plain';
  /** What the audit shows if there is a team database. */
  source: AuditSource;
  /** Ids of the saved views in their order; newer views follow. */
  viewOrder: readonly string[];
}

/** Written at once, so that it survives a crash as well as a restart. */
export const useAuditViewState = create<AuditViewState>()(
  persist((): AuditViewState => ({ part: 'conversation', answerView: 'markdown', source: 'device', viewOrder: [] }), {
    name: 'touchstone.audit',
    version: 1,
  }),
);
shareBetweenWindows(useAuditViewState);

export type SelectedRow = Pick<AuditRow, 'conversationId' | 'name'> & { runId: string };

/** Conversations that a person selected for a replay or for evidence. */
interface AuditSelection {
  /** The address of the list that was open last, to go back to from a replay. */
  address: string;
  /** The list that they belong to. Another list starts with an empty selection. */
  list: string;
  /** Everything in the list is selected, and `rows` is ignored. */
  isAll: boolean;
  /** By the id of the conversation, in the order of selection. */
  rows: ReadonlyMap<string, SelectedRow>;
  /** Index of the row where a range starts. */
  anchor: number | null;
  /** Ranges whose rows are still being read. */
  readings: number;
  /** Grows when the whole selection is replaced: rows that are still being read for it are no longer wanted. */
  edition: number;
}

const nothing = { isAll: false, rows: new Map<string, SelectedRow>(), anchor: null, readings: 0 };

export const useAuditSelection = create<AuditSelection>()(() => ({
  address: '/audit',
  list: '',
  ...nothing,
  edition: 0,
}));

/** Whether there is a selection to clear, or one is being read. */
export function hasSelection({ isAll, rows, readings }: AuditSelection): boolean {
  return isAll || rows.size > 0 || readings > 0;
}

export function setListAddress(address: string): void {
  useAuditSelection.setState({ address });
}

function replaceSelection(change: Partial<AuditSelection>): void {
  useAuditSelection.setState(({ edition }) => ({ ...nothing, ...change, edition: edition + 1 }));
}

/** Clears the selection for another list. */
export function selectIn(list: string): void {
  if (useAuditSelection.getState().list !== list) replaceSelection({ list });
}

export function clearSelection(): void {
  replaceSelection({});
}

export function selectAll(): void {
  replaceSelection({ isAll: true });
}

function selected({ conversationId, name, run }: AuditRow): SelectedRow {
  return { conversationId, name, runId: run.runId };
}

/** Selects or deselects a row. The next range starts here. */
export function toggleRow(row: AuditRow, index: number): void {
  useAuditSelection.setState(({ rows, isAll }) => {
    const next = new Map(isAll ? [] : rows);
    if (!next.delete(row.conversationId)) next.set(row.conversationId, selected(row));
    return { rows: next, isAll: false, anchor: index };
  });
}

/** Selects more rows. The range still starts at `anchor`. */
function addRows(added: readonly AuditRow[], anchor: number): void {
  useAuditSelection.setState(({ rows }) => {
    const next = new Map(rows);
    for (const row of added) next.set(row.conversationId, selected(row));
    return { rows: next, isAll: false, anchor };
  });
}

/** Selects more rows once they are read. Rejects if they can't be. If the selection is replaced before, nothing happens. */
export async function selectRange(reading: Promise<readonly AuditRow[]>, anchor: number): Promise<void> {
  const { edition } = useAuditSelection.getState();
  const isCurrent = (): boolean => useAuditSelection.getState().edition === edition;
  const count = (change: number): void =>
    useAuditSelection.setState(({ readings }) => ({ readings: readings + change }));
  count(1);
  try {
    const added = await reading;
    if (isCurrent()) addRows(added, anchor);
  } catch (error) {
    if (isCurrent()) throw error;
  } finally {
    if (isCurrent()) count(-1);
  }
}

/** One change of feedback that can be undone. */
export interface FeedbackStep {
  conversationId: string;
  runId: string;
  /** The feedback before the change. */
  before: FeedbackInput;
}

const maxSteps = 100;

/** Changes of feedback in this window, the newest last. */
export const useFeedbackSteps = create<{ steps: readonly FeedbackStep[] }>()(() => ({ steps: [] }));

export function addFeedbackStep(step: FeedbackStep): void {
  useFeedbackSteps.setState(({ steps }) => ({ steps: [...steps, step].slice(-maxSteps) }));
}

/** Removes the newest step and returns it, to undo it. */
export function popFeedbackStep(): FeedbackStep | undefined {
  const { steps } = useFeedbackSteps.getState();
  useFeedbackSteps.setState({ steps: steps.slice(0, -1) });
  return steps.at(-1);
}

/** Feedback as the API expects it: null for none. */
export function feedbackInput(feedback: Feedback | null | undefined): FeedbackInput {
  const { score = null, scoreText = null, scoreTags = null } = feedback ?? {};
  return { score, scoreText, scoreTags };
}

/** The fields of the form for a new pack. */
export interface PackDraft {
  columns: readonly ExportColumn[];
  kinds: readonly StandardKind[];
  patterns: readonly OwnPattern[];
  formats: readonly ExportFormat[];
  form: 'folder' | 'zip';
  runs: 'all' | 'matched';
  /** Whether the pack contains the files of prompts. */
  files: boolean;
}

export type StandardKind = Exclude<RedactionRule['kind'], 'pattern'>;

export interface OwnPattern {
  name: string;
  pattern: string;
}

/** What an auditor needs to follow a conversation. */
export const essentialColumns: readonly ExportColumn[] = [
  'conversationId',
  'conversationName',
  'runId',
  'createdAt',
  'status',
  'callerId',
  'aiSystem',
  'model',
  'systemMessage',
  'renderedPrompt',
  'messages',
  'content',
  'toolCalls',
  'finishReason',
  'errorMessage',
  'citations',
  'feedbackScore',
  'feedbackText',
  'feedbackTags',
];

const firstDraft: PackDraft = {
  columns: essentialColumns,
  kinds: ['secret', 'email', 'phone', 'card', 'account'],
  patterns: [],
  formats: ['html', 'jsonl', 'csv'],
  form: 'zip',
  runs: 'all',
  files: true,
};

/** The settings of the next evidence pack. Stored, so that custom patterns survive a crash or a restart. */
export const usePackDraft = create<PackDraft>()(
  persist((): PackDraft => firstDraft, { name: 'touchstone.evidence-pack', version: 1 }),
);
shareBetweenWindows(usePackDraft);
