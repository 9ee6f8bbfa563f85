import { create } from 'zustand';
import type { AuditRow } from '../../shared/contract/audit.ts';

export type SelectedRow = Pick<AuditRow, 'conversationId' | 'name'> & { runId: string };

/** Conversations that a person selected for a replay or for evidence. */
interface AuditSelection {
  /** The address of the list that was open last, to go back to from a replay. */
  address: string;
  /** The list they were picked from; another one begins with none. */
  list: string;
  /** Everything in the list, whatever `rows` says. */
  isAll: boolean;
  /** By the id of the conversation, in the order of picking. */
  rows: ReadonlyMap<string, SelectedRow>;
  /** Where a range begins. */
  anchor: number | null;
}

const nothing = { isAll: false, rows: new Map<string, SelectedRow>(), anchor: null };

export const useAuditSelection = create<AuditSelection>()(() => ({ address: '/audit', list: '', ...nothing }));

export function noteListAddress(address: string): void {
  useAuditSelection.setState({ address });
}

/** Begins anew when the list is another one. */
export function selectIn(list: string): void {
  if (useAuditSelection.getState().list !== list) useAuditSelection.setState({ list, ...nothing });
}

export function clearSelection(): void {
  useAuditSelection.setState(nothing);
}

export function selectAll(): void {
  useAuditSelection.setState({ ...nothing, isAll: true });
}

function selected({ conversationId, name, run }: AuditRow): SelectedRow {
  return { conversationId, name, runId: run.runId };
}

/** Picks a row, or puts it back; the next range begins here. */
export function toggleRow(row: AuditRow, index: number): void {
  useAuditSelection.setState(({ rows, isAll }) => {
    const next = new Map(isAll ? [] : rows);
    if (!next.delete(row.conversationId)) next.set(row.conversationId, selected(row));
    return { rows: next, isAll: false, anchor: index };
  });
}

/** Picks further rows and leaves where the range begins. */
export function addRows(added: readonly AuditRow[], anchor: number): void {
  useAuditSelection.setState(({ rows }) => {
    const next = new Map(rows);
    for (const row of added) next.set(row.conversationId, selected(row));
    return { rows: next, isAll: false, anchor };
  });
}
