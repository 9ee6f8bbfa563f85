import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { AuditRow } from '../../../../shared/contract/audit.ts';
import { useHost } from '../../../host/host-context.tsx';
import {
  readAuditRows,
  rowsPerPage,
  useAuditPlace,
  useAuditRows,
  type AuditListHead,
  type AuditRows,
} from '../../../queries/audit-list.ts';
import { addRows, selectIn, toggleRow, useAuditSelection } from '../../../stores/audit-selection.ts';
import type { AddressedAudit } from '../filter/use-audit-address.ts';
import { writeFilter } from '../filter/filter-address.ts';
import { rowHeight } from './conversation-row.tsx';
import { useRowWindow, type RowWindow } from './use-row-window.ts';
import { useWantedPages } from './use-wanted-pages.ts';

/** More rows than this are picked with "select all that match". */
const mostInRange = 2_000;

export interface AuditListState {
  window: RowWindow;
  rows: AuditRows;
  total: number;
  /** Place of the row whose conversation is shown; null in an empty list. */
  active: number | null;
  activeRow: AuditRow | undefined;
  /** What is shown belongs to the search before; the new one is on its way. */
  isBehind: boolean;
  /** Goes to a row, picking all rows on the way if told. */
  moveTo: (index: number, options?: { isExtending?: boolean }) => void;
  /** Picks a row or puts it back. */
  toggle: (index: number) => void;
}

/** Which row is the active one: the one that the address names, the first one while it names none. */
function useCursor(head: AuditListHead, address: AddressedAudit) {
  const { conversationId } = address;
  // A move to a row that is not read yet is kept here until the row is there and can be named in the address.
  const [cursor, setCursor] = useState<{ snapshot: string; index: number; conversationId: string | null } | null>(null);
  const own = cursor?.snapshot === head.snapshot ? cursor : null;
  const isKnown = own !== null && (own.conversationId === null || own.conversationId === conversationId);
  const place = useAuditPlace(head, isKnown ? null : conversationId);
  const index = isKnown ? own.index : conversationId === null ? 0 : (place.data ?? null);
  return { index, isPending: isKnown && own.conversationId === null, setCursor };
}

/** The list of the screen: rows from any place, the active one, and what picks rows. */
export function useAuditList(head: AuditListHead, isPlaceholder: boolean, address: AddressedAudit): AuditListState {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [total, setTotal] = useState(head.total);
  const window = useRowWindow(total, rowHeight);
  const { index, isPending, setCursor } = useCursor(head, address);
  const inView = useWantedPages({ ...window, count: total });
  const atCursor = index === null ? [] : [Math.floor(index / rowsPerPage)];
  const rows = useAuditRows(head, [...new Set([...inView, ...atCursor])]);
  useEffect(() => setTotal(rows.total), [rows.total]);
  const active = total === 0 ? null : index;
  const activeRow = active === null ? undefined : rows.rowAt(active);
  const list = writeFilter(head.filter, head.sort);
  useEffect(() => selectIn(list), [list]);

  const { open } = address;
  useEffect(() => {
    if (!isPending || !activeRow || active === null) return;
    setCursor({ snapshot: head.snapshot, index: active, conversationId: activeRow.conversationId });
    open(activeRow.conversationId);
  }, [isPending, activeRow, active, head.snapshot, open, setCursor]);

  const extend = async (from: number, to: number): Promise<void> => {
    const [first, last] = [Math.min(from, to), Math.min(Math.max(from, to), Math.min(from, to) + mostInRange - 1)];
    addRows(await readAuditRows({ client, queryClient }, head, { first, last }), from);
  };
  return {
    window,
    rows,
    total,
    active,
    activeRow,
    isBehind: isPlaceholder,
    moveTo(target, { isExtending = false } = {}) {
      const next = Math.max(0, Math.min(total - 1, target));
      if (isExtending) void extend(useAuditSelection.getState().anchor ?? active ?? next, next);
      setCursor({ snapshot: head.snapshot, index: next, conversationId: null });
    },
    toggle(target) {
      const row = rows.rowAt(target);
      if (row) toggleRow(row, target);
    },
  };
}
