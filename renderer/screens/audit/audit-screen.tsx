import { Bookmark } from 'lucide-react';
import { useMemo, useRef, useState, type RefObject } from 'react';
import { useLocation } from 'wouter';
import type { AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import type { ConversationRun } from '../../../shared/contract/conversations.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatCount } from '../../components/format.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Popover } from '../../components/popover.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { findAuditMoment, useAuditHead, type AuditListHead } from '../../queries/audit-list.ts';
import { useAuditFacets, useAuditSummary } from '../../queries/audit.ts';
import { useHostState } from '../../queries/host-state.ts';

import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useActions } from '../../stores/actions.ts';
import { usePlace } from '../../stores/activity.ts';
import { clearSelection, useAuditSelection } from '../../stores/audit-selection.ts';
import './audit.css';
import { DetailPane } from './detail/detail-pane.tsx';
import { EvidenceDialog } from './evidence/evidence-dialog.tsx';
import { FilterBar } from './filter/filter-bar.tsx';
import { filterChips } from './filter/filter-fields.ts';
import { useAuditAddress, type AddressedAudit } from './filter/use-audit-address.ts';
import { ConversationList } from './list/conversation-list.tsx';
import { ListHeader } from './list/list-header.tsx';
import { useAuditList, type AuditListState } from './list/use-audit-list.ts';
import { readReplayAddress } from './replay/replay-address.ts';
import { ReplayDialog } from './replay/replay-dialog.tsx';
import { ReplaysPage } from './replay/replays-page.tsx';
import { SampleSetButton, SamplesNotice } from './samples/sample-set.tsx';
import { exportOf, replayOf } from './selection-words.ts';
import { SummaryStrip } from './summary/summary-strip.tsx';
import { ViewsPanel } from './views/views-panel.tsx';

function useListActions(list: AuditListState): void {
  const hasSelection = useAuditSelection(({ rows, isAll }) => isAll || rows.size > 0);
  const isEnabled = list.total > 0;
  const move = (by: number, isExtending = false) => list.moveTo((list.active ?? -1) + by, { isExtending });
  const group = 'Audit';
  useActions('audit-list', [
    { id: 'audit.next', title: 'Next conversation', group, keys: 'J', isEnabled, run: () => move(1) },
    { id: 'audit.back', title: 'Conversation before it', group, keys: 'K', isEnabled, run: () => move(-1) },
    { id: 'audit.next.n', title: 'Next conversation', group, keys: 'N', isHiddenInPalette: true, run: () => move(1) },
    {
      id: 'audit.back.p',
      title: 'Conversation before it',
      group,
      keys: 'P',
      isHiddenInPalette: true,
      run: () => move(-1),
    },
    { id: 'audit.pick', title: 'Pick it, or put it back', group, keys: 'X', isEnabled, run: list.toggleActive },
    {
      id: 'audit.pick.down',
      title: 'Pick down to the next',
      group,
      keys: 'Shift+J',
      isEnabled,
      run: () => move(1, true),
    },
    {
      id: 'audit.pick.up',
      title: 'Pick up to the one before',
      group,
      keys: 'Shift+K',
      isEnabled,
      run: () => move(-1, true),
    },
    { id: 'audit.pick.none', title: 'Pick none', group, keys: 'Escape', isEnabled: hasSelection, run: clearSelection },
  ]);
}

function NothingMatches({ address }: { address: AddressedAudit }) {
  return (
    <div className="audit__state">
      <EmptyState
        title="No conversation matches"
        reason="All conditions must hold for one and the same run. Take one out, or begin again."
      >
        <Button onClick={() => address.search({ filter: {} })}>Clear all filters</Button>
      </EmptyState>
    </div>
  );
}

interface WorkProps {
  head: AuditListHead;
  isPlaceholder: boolean;
  address: AddressedAudit;
  facets: AuditFacets | undefined;
  listRef: RefObject<HTMLDivElement | null>;
  refresh: { isBusy: boolean; run: () => void };
  isExporting: boolean;
  onExported: () => void;
}

/** The figures, the list and the open conversation. */
function Work({ head, isPlaceholder, address, facets, listRef, refresh, isExporting, onExported }: WorkProps) {
  const { client } = useHost();
  const picked = useAuditSelection();
  const [replayed, setReplayed] = useState<{ run: ConversationRun; name: string } | null>(null);
  const list = useAuditList(head, isPlaceholder, address);
  const summary = useAuditSummary(address.filter);
  const { filter, search } = address;
  // Hundreds of bars, which going through the list leaves as they are.
  const figures = useMemo(
    () => (
      <SummaryStrip
        query={summary}
        onSpan={(startDate, endDate) => search({ filter: { ...filter, startDate, endDate } })}
      />
    ),
    [summary.data, summary.error, summary.isPlaceholderData, summary.isFetching, filter, address.sort],
  );
  const focusRead = () => document.getElementById('audit-read')?.focus();
  useListActions(list);
  const goTo = async (at: string) => {
    const index = await findAuditMoment(client, head, at);
    list.moveTo(index);
    listRef.current?.focus();
  };
  return (
    <>
      <section className="panel audit__main" aria-label="Conversations">
        {figures}
        <ListHeader
          total={list.total}
          isTotalExact={list.isTotalExact}
          everything={facets?.conversations ?? null}
          milliseconds={head.milliseconds}
          sort={address.sort}
          onSort={(sort) => address.search({ sort })}
          onGo={(at) => void goTo(at)}
          onRefresh={refresh.run}
          isRefreshing={refresh.isBusy}
        />
        {list.total === 0 ? (
          <NothingMatches address={address} />
        ) : (
          <ConversationList list={list} facets={facets} listRef={listRef} onOpen={focusRead} />
        )}
      </section>
      <DetailPane
        list={list}
        address={address}
        facets={facets}
        listRef={listRef}
        onReplay={(run, name) => setReplayed({ run, name })}
      />
      {isExporting && <EvidenceDialog {...exportOf(picked, address.filter, list.total)} isOpen onClose={onExported} />}
      {replayed && (
        <ReplayDialog
          {...replayOf(picked, address.filter, { runId: replayed.run.conversationRunId, name: replayed.name })}
          promptText={picked.isAll || picked.rows.size > 0 ? null : replayed.run.input.promptText}
          isOpen
          onClose={() => setReplayed(null)}
        />
      )}
    </>
  );
}

/** Many runs that were never searched before take seconds: said, so that nobody takes it for a fault. */
const manyRuns = 50_000;

function FirstReading() {
  const runs = useHostState().data?.runs ?? 0;
  return (
    <div>
      <LoadingRows label="Reading the conversations" rows={12} />
      {runs > manyRuns && (
        <p className="placeholder audit__state small secondary">
          {formatCount(runs)} runs are here. The first search after they came reads them all; every later one is at
          once.
        </p>
      )}
    </div>
  );
}

function NoRuns() {
  const [, navigate] = useLocation();
  return (
    <div className="audit__state">
      <EmptyState
        title="No runs yet"
        reason="Every run of this window and of every caller is kept here, with everything that was sent and answered."
      >
        <Button onClick={() => navigate('/playground')}>Run a prompt</Button>
        <SampleSetButton />
      </EmptyState>
    </div>
  );
}

/** What narrows the list first, for the title bar. */
function placeName(filter: AuditFilter, facets: AuditFacets | undefined): string | null {
  const [first] = filterChips(filter, facets);
  return first ? `${first.name} ${first.value}` : (filter.text ?? null);
}

/** All conversations: found, read, judged and handed over; beside them the replays. */
export function AuditScreen() {
  const [location] = useLocation();
  const replayId = readReplayAddress(location);
  return replayId === undefined ? <Conversations /> : <ReplaysPage id={replayId} />;
}

function Conversations() {
  const address = useAuditAddress();
  const { filter, sort, search } = address;
  const facets = useAuditFacets().data;
  const summary = useAuditSummary(filter).data;
  const head = useAuditHead({ filter, sort });
  const isWide = useMediaQuery('(min-width: 1100px)');
  const listRef = useRef<HTMLDivElement>(null);
  const [areViewsOpen, setViewsOpen] = useState(false);
  const [isExporting, setExporting] = useState(false);
  usePlace(placeName(filter, facets));
  const views = (
    <ViewsPanel
      filter={filter}
      sort={sort}
      facets={facets}
      summary={summary}
      onOpen={(nextFilter, nextSort) => {
        setViewsOpen(false);
        search({ filter: nextFilter, sort: nextSort });
      }}
    />
  );
  const viewsButton = (
    <Popover
      label="Saved views"
      isOpen={areViewsOpen}
      onOpenChange={setViewsOpen}
      className="audit__views-menu"
      trigger={<IconButton icon={Bookmark} label="Saved views" variant="default" />}
    >
      {views}
    </Popover>
  );
  return (
    <>
      <FilterBar
        address={address}
        facets={facets}
        onLeave={() => listRef.current?.focus()}
        onExport={() => setExporting(true)}
        start={isWide ? null : viewsButton}
      />
      <SamplesNotice />
      <div className={classNames('audit', !isWide && 'audit--narrow')}>
        {isWide && views}
        {head.data ? (
          facets?.runs === 0 ? (
            <NoRuns />
          ) : (
            <Work
              head={head.data}
              isPlaceholder={head.isPlaceholderData}
              address={address}
              facets={facets}
              listRef={listRef}
              refresh={{ isBusy: head.isFetching, run: () => void head.refetch() }}
              isExporting={isExporting}
              onExported={() => setExporting(false)}
            />
          )
        ) : head.error ? (
          <div className="audit__state">
            <ErrorFailure title="The list could not be read" error={head.error}>
              <Button onClick={() => void head.refetch()}>Try again</Button>
            </ErrorFailure>
          </div>
        ) : (
          <FirstReading />
        )}
      </div>
    </>
  );
}
