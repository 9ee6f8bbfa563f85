import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { AuditFacets } from '../../../shared/contract/audit.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatCount } from '../../components/format.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useAuditHead } from '../../queries/audit-list.ts';
import { useAuditFacets, useAuditSummary } from '../../queries/audit.ts';
import { useAuditSource } from '../../queries/team.ts';
import { useHostState } from '../../queries/host-state.ts';
import { readReviewsAddress } from '../../shell/addresses.ts';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { setListAddress } from '../../stores/audit.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { ConversationsView, type ConversationsViewProps } from './conversations-view.tsx';
import { FilterBar } from './filter/filter-bar.tsx';
import { filterChips } from '../../components/run-filter/filter-fields.ts';
import { type AddressedAudit, useAuditAddress } from './filter/use-audit-address.ts';
import { ImportLog } from './import/import-log.tsx';
import { ReplaysPage } from './replay/replays-page.tsx';
import { SampleSetButton, SamplesNotice } from './sample-set.tsx';
import { ViewsMenu, ViewsPanel, type ViewsPanelProps } from './views-panel.tsx';
import './audit.css';

/** The replay that an address opens: null for the newest one, undefined if the address isn't one of replays. */
function readReplayAddress(location: string): string | null | undefined {
  const [, , part, id] = location.split('/');
  return part === 'replays' ? id || null : undefined;
}

/** The first search of many runs takes seconds. The screen says so, so that it doesn't look like a fault. */
const manyRuns = 50_000;

function FirstReading() {
  const runs = useHostState().data?.runs ?? 0;
  return (
    <div>
      <LoadingRows label="Loading conversations" rows={12} />
      {runs > manyRuns && (
        <p className="placeholder audit__state small secondary">
          Indexing {formatCount(runs)} runs for the first search. Later searches are instant.
        </p>
      )}
    </div>
  );
}

/** While the list loads, or when it couldn't be loaded. */
function WithoutList({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!error) return <FirstReading />;
  return (
    <div className="audit__state">
      <ErrorFailure title="Couldn't load the conversations" error={error}>
        <Button onClick={onRetry}>Retry</Button>
      </ErrorFailure>
    </div>
  );
}

function NoRuns({ onImport }: { onImport: () => void }) {
  const [, navigate] = useLocation();
  return (
    <div className="audit__state">
      <EmptyState
        title="No runs yet"
        reason="Runs from this window and from API clients appear here, with the full request and response."
      >
        <Button onClick={() => navigate('/playground')}>Run a prompt</Button>
        <Button onClick={onImport}>Import logs</Button>
        <SampleSetButton />
      </EmptyState>
    </div>
  );
}

/** The first filter, for the title bar. */
function pageTitle({ filter, span }: AddressedAudit, facets: AuditFacets | undefined): string | null {
  const [first] = filterChips(filter, facets, span);
  return first ? `${first.name} ${first.value}` : (filter.text ?? null);
}

const Reviews = lazyPart('Reviews', async () => (await import('./reviews/reviews-page.tsx')).ReviewsPage);

/** The conversations, the replays, or the reviews. */
export function AuditScreen() {
  const [location] = useLocation();
  if (readReviewsAddress(location)) return <Reviews />;
  const replayId = readReplayAddress(location);
  return replayId === undefined ? <Conversations /> : <ReplaysPage id={replayId} />;
}

interface ListOrStateProps extends Omit<ConversationsViewProps, 'head' | 'isPlaceholder' | 'refresh'> {
  head: ReturnType<typeof useAuditHead>;
  onImport: () => void;
}

/** The conversations, or why there are none to show. */
function ListOrState({ head, onImport, ...view }: ListOrStateProps) {
  const { address, facets } = view;
  if (!head.data) return <WithoutList error={head.error} onRetry={() => void head.refetch()} />;
  if (facets?.runs === 0) return <NoRuns onImport={onImport} />;
  return (
    <ConversationsView
      {...view}
      head={head.data}
      isPlaceholder={head.isPlaceholderData}
      refresh={{ isBusy: head.isFetching, run: () => (address.span === null ? void head.refetch() : address.renew()) }}
    />
  );
}

function Conversations() {
  const [location] = useLocation();
  const address = useAuditAddress();
  useEffect(() => {
    setListAddress(location);
  }, [location]);
  const { filter, sort, span, search } = address;
  const source = useAuditSource();
  const facets = useAuditFacets().data;
  const summary = useAuditSummary(filter).data;
  const head = useAuditHead({ filter, sort, source });
  const isWide = useMediaQuery('(min-width: 1100px)');
  const listRef = useRef<HTMLDivElement>(null);
  const [isExporting, setExporting] = useState(false);
  const [isImporting, setImporting] = useState(false);
  useShowPageTitle(pageTitle(address, facets));
  const views: ViewsPanelProps = {
    filter,
    sort,
    span,
    facets,
    summary,
    onOpen: (nextFilter, nextSort, nextSpan) => search({ filter: nextFilter, sort: nextSort, span: nextSpan }),
  };
  return (
    <>
      <FilterBar
        address={address}
        facets={facets}
        onLeave={() => listRef.current?.focus()}
        onExport={() => setExporting(true)}
        onImport={() => setImporting(true)}
        start={isWide ? null : <ViewsMenu {...views} />}
      />
      <SamplesNotice />
      {isImporting && (
        <ImportLog
          onClose={() => setImporting(false)}
          onShow={(importId) => {
            setImporting(false);
            search({ filter: { importId } });
          }}
        />
      )}
      <div className={classNames('audit', !isWide && 'audit--narrow')}>
        {isWide && <ViewsPanel {...views} />}
        <ListOrState
          head={head}
          address={address}
          facets={facets}
          listRef={listRef}
          isExporting={isExporting}
          onExported={() => setExporting(false)}
          onImport={() => setImporting(true)}
        />
      </div>
    </>
  );
}
