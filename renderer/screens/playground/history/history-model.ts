import type { RunListItem } from '../../../../shared/contract/runs.ts';
import type { CompletionRun } from '../../../stores/live-runs.ts';

/** One line of the history. */
export type HistoryRow = Pick<
  RunListItem,
  | 'runId'
  | 'aiSystem'
  | 'model'
  | 'status'
  | 'createdAt'
  | 'totalMs'
  | 'cost'
  | 'errorCode'
  | 'servedBy'
  | 'excerpt'
  | 'promptVersion'
  | 'score'
> & {
  /** The host doesn't list it yet, so it can't be restored. */
  isNew: boolean;
};

const maxExcerptCharacters = 200;

const statuses = {
  connecting: 'Running',
  streaming: 'Running',
  completed: 'Completed',
  stopped: 'Cancelled',
  failed: 'Failed',
} as const;

/** As the host lists it: the answer, or the tools that it called, or the prompt. */
function liveExcerpt({ text, toolCalls, request }: CompletionRun): string {
  const called = toolCalls.length === 0 ? '' : `Called ${toolCalls.map(({ name }) => name).join(', ')}`;
  return (text || called || request.promptText).slice(0, maxExcerptCharacters).replace(/\s+/g, ' ').trim();
}

/** The newest run as a line. Most of its tokens change nothing in it. */
export function liveRow(run: CompletionRun): HistoryRow {
  return {
    runId: run.runId ?? run.key,
    aiSystem: run.request.aiSystem,
    model: run.request.model,
    status: statuses[run.state],
    createdAt: new Date(run.sentAt).toISOString(),
    totalMs: run.endedAt === null ? null : run.endedAt - run.startedAt,
    cost: null,
    errorCode: run.error?.code ?? null,
    servedBy: run.servedBy,
    excerpt: liveExcerpt(run),
    promptVersion: null,
    score: null,
    isNew: run.runId === null,
  };
}

/**
 * The history with the newest run. It is on top until the host lists it. Afterwards it has the window's state, because the host
 * stores a run a moment after its end.
 */
export function historyRows(listed: readonly RunListItem[], row: HistoryRow | null): HistoryRow[] {
  const rows = listed.map((run): HistoryRow => ({ ...run, isNew: false }));
  if (!row) return rows;
  const index = rows.findIndex(({ runId }) => runId === row.runId);
  const known = rows[index];
  // Without an id, an ended run can't be told from the one that the host lists, if it has started it.
  if (!known) return row.isNew && row.status !== 'Running' ? rows : [row, ...rows];
  if (known.status !== 'Running') return rows;
  return rows.with(index, { ...row, cost: known.cost, promptVersion: known.promptVersion });
}

const errorLabels: Record<string, string> = {
  rate_limited: 'rate limit',
  provider_overloaded: 'overloaded',
  provider_key_refused: 'key rejected',
  provider_not_configured: 'not set up',
  provider_silent: 'no response',
  provider_failed: 'provider failed',
  model_not_installed: 'not downloaded',
  credits_exhausted: 'no credits',
  invalid_request: 'rejected',
};

/** Why a run failed, in two words. */
export function errorLabel(code: string): string {
  return errorLabels[code] ?? code.replaceAll('_', ' ');
}
