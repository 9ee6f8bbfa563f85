import { type RefObject, useCallback, useRef, useState } from 'react';
import type { AuditFacets } from '../../../shared/contract/audit.ts';
import type { ConversationRun } from '../../../shared/contract/conversations.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/state-panels.tsx';
import type { AuditListHead } from '../../queries/audit-list.ts';
import { useActions } from '../../stores/actions.ts';
import { clearSelection, hasSelection, useAuditSelection } from '../../stores/audit.ts';
import { DetailPane } from './detail/detail-pane.tsx';
import { EvidenceDialog } from './evidence/evidence-dialog.tsx';
import type { AddressedAudit } from './filter/use-audit-address.ts';
import { ConversationList } from './list/conversation-list.tsx';
import { ListHeader } from './list/list-header.tsx';
import { type AuditListState, useAuditList } from './list/use-audit-list.ts';
import { ReplayDialog } from '../../components/replay-dialog.tsx';
import { useAuditSource } from '../../queries/team.ts';
import { exportOf, replayOf } from './selection-words.ts';
import { SummaryStrip } from './summary/summary-strip.tsx';

function useListActions(
  list: AuditListState,
  listRef: RefObject<HTMLDivElement | null>,
  detailRef: RefObject<HTMLElement | null>,
): void {
  const canClear = useAuditSelection(hasSelection);
  const isEnabled = list.total > 0;
  const move = (by: number, isExtending = false) => {
    // Enter then opens the conversation that the arrow keys selected. In an open conversation it moves to the next one instead.
    if (!detailRef.current?.contains(document.activeElement)) listRef.current?.focus();
    list.moveTo((list.active ?? -1) + by, { isExtending });
  };
  const group = 'Audit';
  useActions('audit-list', [
    { id: 'audit.next', title: 'Next conversation', group, keys: 'J', isEnabled, run: () => move(1) },
    { id: 'audit.back', title: 'Previous conversation', group, keys: 'K', isEnabled, run: () => move(-1) },
    { id: 'audit.next.n', title: 'Next conversation', group, keys: 'N', isHiddenInPalette: true, run: () => move(1) },
    {
      id: 'audit.back.p',
      title: 'Previous conversation',
      group,
      keys: 'P',
      isHiddenInPalette: true,
      run: () => move(-1),
    },
    { id: 'audit.pick', title: 'Select or deselect', group, keys: 'X', isEnabled, run: list.toggleActive },
    {
      id: 'audit.pick.down',
      title: 'Extend selection down',
      group,
      keys: 'Shift+J',
      isEnabled,
      run: () => move(1, true),
    },
    {
      id: 'audit.pick.up',
      title: 'Extend selection up',
      group,
      keys: 'Shift+K',
      isEnabled,
      run: () => move(-1, true),
    },
    {
      id: 'audit.pick.none',
      title: 'Clear selection',
      group,
      keys: 'Escape',
      isEnabled: canClear,
      run: clearSelection,
    },
  ]);
}

function NothingMatches({ address }: { address: AddressedAudit }) {
  return (
    <div className="audit__state">
      <EmptyState
        title="No matching conversations"
        reason="All filters must match the same run. Remove one or clear all."
      >
        <Button onClick={() => address.search({ filter: {} })}>Clear all filters</Button>
      </EmptyState>
    </div>
  );
}

export interface ConversationsViewProps {
  head: AuditListHead;
  isPlaceholder: boolean;
  address: AddressedAudit;
  facets: AuditFacets | undefined;
  listRef: RefObject<HTMLDivElement | null>;
  refresh: { isBusy: boolean; run: () => void };
  isExporting: boolean;
  onExported: () => void;
}

interface MatchesProps extends Pick<ConversationsViewProps, 'head' | 'address' | 'facets' | 'listRef' | 'refresh'> {
  list: AuditListState;
}

/** The matching conversations: their summary and their list. */
function Matches({ list, head, address, facets, listRef, refresh }: MatchesProps) {
  const { filter, search } = address;
  const searchSpan = useCallback(
    (startDate: string, endDate: string) => search({ filter: { ...filter, startDate, endDate } }),
    [filter, search],
  );
  const focusList = () => {
    // Who writes elsewhere by now goes on there.
    if (!document.activeElement?.matches('input, textarea, [contenteditable]')) listRef.current?.focus();
  };
  const focusRead = () => document.getElementById('audit-read')?.focus();
  return (
    <section className="panel audit__main" aria-label="Conversations">
      <SummaryStrip filter={filter} onSpan={searchSpan} />
      <ListHeader
        total={list.total}
        isTotalExact={list.isTotalExact}
        everything={facets?.conversations ?? null}
        milliseconds={head.milliseconds}
        sort={address.sort}
        onSort={(sort) => search({ sort })}
        onGo={(at) => list.goTo(at, focusList)}
        isGoing={list.isGoing}
        onRefresh={refresh.run}
        isRefreshing={refresh.isBusy}
      />
      {list.total === 0 ? (
        <NothingMatches address={address} />
      ) : (
        <ConversationList list={list} facets={facets} listRef={listRef} onOpen={focusRead} />
      )}
    </section>
  );
}

/** The matching conversations and the open one. */
export function ConversationsView(props: ConversationsViewProps) {
  const { head, isPlaceholder, address, facets, listRef, isExporting, onExported } = props;
  const selection = useAuditSelection();
  const shown = { filter: address.filter, source: useAuditSource() };
  const [replayed, setReplayed] = useState<{ run: ConversationRun; name: string } | null>(null);
  const list = useAuditList(head, isPlaceholder, address);
  const detailRef = useRef<HTMLElement>(null);
  useListActions(list, listRef, detailRef);
  return (
    <>
      <Matches list={list} head={head} address={address} facets={facets} listRef={listRef} refresh={props.refresh} />
      <DetailPane
        list={list}
        address={address}
        facets={facets}
        listRef={listRef}
        detailRef={detailRef}
        onReplay={(run, name) => setReplayed({ run, name })}
      />
      {isExporting && <EvidenceDialog {...exportOf(selection, shown, list.total)} isOpen onClose={onExported} />}
      {replayed && (
        <ReplayDialog
          {...replayOf(selection, shown, { runId: replayed.run.conversationRunId, name: replayed.name })}
          promptText={selection.isAll || selection.rows.size > 0 ? null : replayed.run.input.promptText}
          isOpen
          onClose={() => setReplayed(null)}
        />
      )}
    </>
  );
}
