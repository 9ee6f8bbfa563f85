import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { AuditRow } from '../../../../shared/contract/audit.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import {
  findAuditMoment,
  readAuditRows,
  rowsPerPage,
  useAuditIndex,
  useAuditRows,
  type AuditListHead,
} from '../../../queries/audit-list.ts';
import { selectIn, selectRange, toggleRow, useAuditSelection } from '../../../stores/audit.ts';
import { showToast } from '../../../stores/toasts.ts';
import type { AddressedAudit } from '../filter/use-audit-address.ts';
import { writeFilter } from '../../../shell/audit-address.ts';

/** Longer ranges need "select all that match". */
const maxRange = 2_000;

export interface AuditListState {
  head: AuditListHead;
  total: number;
  isTotalExact: boolean;
  /** Index of the row whose conversation is shown; null in an empty list. */
  active: number | null;
  activeRow: AuditRow | undefined;
  /** The rows around the active one that have loaded. */
  neighbours: readonly (AuditRow | undefined)[];
  /** The list still shows the previous search; the new one is loading. */
  isBehind: boolean;
  /** Moves to a row; `isExtending` selects all rows between. */
  moveTo: (index: number, options?: { isExtending?: boolean }) => void;
  /** Moves to a moment in a list that is sorted by time, unless a person moves elsewhere first. */
  goTo: (at: string, onMoved: () => void) => void;
  isGoing: boolean;
  /** Selects or deselects the active row. */
  toggleActive: () => void;
}

/** The active row: the one in the address, otherwise the first. */
function useCursor(head: AuditListHead, address: AddressedAudit) {
  const { conversationId } = address;
  // A move to a row that hasn't loaded is stored here until the row has an ID for the address.
  const [cursor, setCursor] = useState<{ snapshot: string; index: number; conversationId: string | null } | null>(null);
  const own = cursor?.snapshot === head.snapshot ? cursor : null;
  const isKnown = own !== null && (own.conversationId === null || own.conversationId === conversationId);
  const addressedIndex = useAuditIndex(head, isKnown ? null : conversationId);
  const index = isKnown ? own.index : conversationId === null ? 0 : (addressedIndex.data ?? null);
  return { index, isPending: isKnown && own.conversationId === null, setCursor };
}

function useExtend(head: AuditListHead) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return (from: number, to: number): void => {
    const [first, last] = [Math.min(from, to), Math.min(Math.max(from, to), Math.min(from, to) + maxRange - 1)];
    selectRange(readAuditRows({ client, queryClient }, head, { first, last }), from).catch((error: unknown) => {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: `Couldn't extend the selection. ${message}`, requestId });
    });
  };
}

/**
 * The list without the parts that depend on the scroll position: its length, the active row, and selecting rows. Scrolling renders
 * only the list again.
 */
export function useAuditList(head: AuditListHead, isPlaceholder: boolean, address: AddressedAudit): AuditListState {
  const { client } = useHost();
  const { index, isPending, setCursor } = useCursor(head, address);
  const near = index === null ? [] : [index - 1, index, index + 1].filter((neighbour) => neighbour >= 0);
  const rows = useAuditRows(head, [...new Set(near.map((neighbour) => Math.floor(neighbour / rowsPerPage)))]);
  const { total, isTotalExact } = rows;
  const active = total === 0 ? null : index;
  const activeRow = active === null ? undefined : rows.rowAt(active);
  // A relative span ends now: its dates differ whenever the screen opens, but the list is the same.
  const list = writeFilter(head.filter, head.sort, address.span);
  useEffect(() => {
    selectIn(list);
  }, [list]);

  const { open } = address;
  useEffect(() => {
    if (!isPending || !activeRow || active === null) return;
    setCursor({ snapshot: head.snapshot, index: active, conversationId: activeRow.conversationId });
    open(activeRow.conversationId);
  }, [isPending, activeRow, active, head.snapshot, open, setCursor]);

  const extend = useExtend(head);
  const moves = useRef(0);
  const move = (next: number): void => {
    moves.current += 1;
    setCursor({ snapshot: head.snapshot, index: next, conversationId: null });
  };
  const finding = useMutation({ mutationFn: (at: string) => findAuditMoment(client, head, at) });
  return {
    head,
    total,
    isTotalExact,
    active,
    activeRow,
    neighbours: active === null ? [] : [rows.rowAt(active + 1), rows.rowAt(active - 1)],
    isBehind: isPlaceholder,
    moveTo(target, { isExtending = false } = {}) {
      // The rows in view are about to be replaced; opening one would open it in the new list.
      if (isPlaceholder) return;
      const next = Math.max(0, Math.min(total - 1, target));
      if (isExtending) extend(useAuditSelection.getState().anchor ?? active ?? next, next);
      move(next);
    },
    goTo(at, onMoved) {
      if (isPlaceholder) return;
      const before = moves.current;
      const onSuccess = (found: number): void => {
        if (moves.current !== before || useAuditSelection.getState().list !== list) return;
        move(Math.max(0, Math.min(total - 1, found)));
        onMoved();
      };
      finding.mutate(at, { onSuccess });
    },
    isGoing: finding.isPending,
    toggleActive() {
      if (activeRow && active !== null) toggleRow(activeRow, active);
    },
  };
}
