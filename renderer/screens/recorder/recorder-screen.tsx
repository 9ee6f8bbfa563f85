import { ChevronDown } from 'lucide-react';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { AppError } from '../../../shared/app-error.ts';
import type { AuditFilter, AuditPage, AuditRow } from '../../../shared/contract/audit.ts';
import { Dot } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { formatPlural, formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Menu } from '../../components/menu.tsx';
import { EmptyState, ErrorFailure, LoadingRows, Notice } from '../../components/state-panels.tsx';
import { useConversation } from '../../queries/audit.ts';
import {
  isRecording,
  recordedApis,
  useRecordedCalls,
  useRecorderState,
  useRenewFacets,
} from '../../queries/recorded-calls.ts';
import { useSettings } from '../../queries/settings.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { useRecorderView } from '../../stores/recorder.ts';
import { CallDetail } from './call-detail.tsx';
import { CallsTable } from './calls-table.tsx';
import { ConnectPanel } from './connect-panel.tsx';
import { RecorderToolbar } from './recorder-toolbar.tsx';
import './recorder.css';

interface SelectedCallProps {
  conversationId: string;
  /** The newest call of it in the list; undefined if the list has no room for it any more. */
  newest: AuditRow['run'] | undefined;
  /** The terms that were searched. */
  search: string;
  onWork: () => void;
}

/** The conversation, read again when the list shows a newer call of it. */
function SelectedCall({ conversationId, newest, search, onWork }: SelectedCallProps) {
  const { data, error, isFetching, refetch } = useConversation(conversationId);
  const runId = newest?.runId;
  const known = data?.runs.find(({ conversationRunId }) => conversationRunId === runId);
  const isOutdated =
    data?.id === conversationId &&
    newest !== undefined &&
    (known === undefined || (known.status === 'Running' && newest.status !== 'Running'));
  useEffect(() => {
    if (isOutdated) void refetch();
  }, [isOutdated, refetch, runId]);
  return (
    <section className="panel line-left recorder__detail" aria-label="One call">
      {data?.id === conversationId ? (
        <CallDetail key={data.id} conversation={data} openRunId={runId} search={search} onWork={onWork} />
      ) : error instanceof AppError && error.code === 'not_found' ? (
        <div className="recorder__state">
          <EmptyState title="Call not found" reason="It was deleted.">
            <Button onClick={() => useRecorderView.setState({ chosenId: null })}>Show newest call</Button>
          </EmptyState>
        </div>
      ) : error ? (
        <div className="recorder__state">
          <ErrorFailure title="Couldn't load the call" error={error}>
            <Button isBusy={isFetching} onClick={() => void refetch()}>
              Retry
            </Button>
          </ErrorFailure>
        </div>
      ) : (
        <LoadingRows label="Loading the call" rows={6} />
      )}
    </section>
  );
}

/** Calls that went through, or were blocked, without a record. */
function FailedRecords() {
  const counts = useRecorderState().data;
  const dismissed = useRecorderView((view) => view.dismissedFailures);
  const isBlocked = useSettings().data?.recorder.onFailure === 'block';
  if (!counts || counts.failed <= dismissed || counts.lastFailureAt === null) return null;
  return (
    <div className="recorder__notice">
      <Notice tone="caution">
        <p>
          {formatPlural(counts.failed, 'call')} since the start couldn't be recorded, the last one at{' '}
          {formatTime(counts.lastFailureAt)}.{' '}
          {isBlocked ? 'Such calls are blocked.' : 'The programs got their answers.'} The disk may be full; the log has
          the reason.{' '}
          <Link href={settingsAddress('recording')} className="link">
            Recording settings
          </Link>
        </p>
      </Notice>
      <Button
        size="small"
        variant="quiet"
        onClick={() => useRecorderView.setState({ dismissedFailures: counts.failed })}
      >
        Dismiss
      </Button>
    </div>
  );
}

const groupings = { conversation: 'Group by conversation', program: 'Group by program' } as const;

function GroupingMenu() {
  const grouping = useRecorderView((view) => view.grouping);
  const items = (['conversation', 'program'] as const).map((value) => ({
    label: groupings[value],
    isChecked: value === grouping,
    onSelect: () => useRecorderView.setState({ grouping: value }),
  }));
  return (
    <Menu align="end" groups={[items]}>
      <Button size="small" variant="quiet" className="recorder__grouping">
        {groupings[grouping]}
        <Icon icon={ChevronDown} size="tiny" />
      </Button>
    </Menu>
  );
}

/** Nothing recorded yet, or nothing that matches. */
function NoCalls() {
  const { filter, clearedAt } = useRecorderView();
  if (Object.keys(filter).length > 0) {
    return (
      <EmptyState title="No matching calls" reason="Change the search or remove a filter.">
        <Button onClick={() => useRecorderView.setState({ filter: {} })}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (clearedAt !== null) {
    return (
      <EmptyState title={`No calls since ${formatTime(clearedAt)}`} reason="Earlier calls are still in the audit.">
        <Button onClick={() => useRecorderView.setState({ clearedAt: null })}>Show all</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No calls yet"
      reason="Calls of other programs appear here as they arrive, with their messages, tokens and cost."
    />
  );
}

/** What the person filters by, among the recorded calls since the list was cleared. */
function useListFilter(): AuditFilter {
  const { filter, clearedAt } = useRecorderView();
  return useMemo(() => {
    const starts = [filter.startDate, clearedAt].filter((start) => start != null);
    const [startDate] = starts.toSorted((one, other) => Date.parse(other) - Date.parse(one));
    return { ...filter, origins: filter.origins ?? recordedApis, ...(startDate && { startDate }) };
  }, [filter, clearedAt]);
}

/** Changes when a call begins or ends. */
function revisionOf({ rows, total }: AuditPage): string {
  const running = rows.filter(({ run }) => run.status === 'Running').length;
  return `${rows[0]?.run.runId ?? ''} ${running} ${total}`;
}

function choose(id: string): void {
  useRecorderView.setState({ chosenId: id });
}

interface CallsPanelProps {
  calls: ReturnType<typeof useRecordedCalls>;
  filter: AuditFilter;
  listRef: RefObject<HTMLDivElement | null>;
  selectedId: string | null;
}

function CallsPanel({ calls: { data, error, refetch }, filter, listRef, selectedId }: CallsPanelProps) {
  const recorder = useSettings().data?.recorder;
  return (
    <section className="panel" aria-label="Recorded calls">
      <div className="header header--line">
        <h2>Calls</h2>
        {(!recorder || isRecording(recorder)) && (
          <span className="row small accent">
            <Dot tone="accent" />
            Live
          </span>
        )}
        <span className="grow" />
        <GroupingMenu />
      </div>
      <FailedRecords />
      {error && !data ? (
        <div className="recorder__state">
          <ErrorFailure title="Couldn't load the calls" error={error}>
            <Button onClick={() => void refetch()}>Retry</Button>
          </ErrorFailure>
        </div>
      ) : !data ? (
        <LoadingRows label="Loading calls" rows={8} />
      ) : data.rows.length === 0 ? (
        <div className="recorder__state">
          <NoCalls />
        </div>
      ) : (
        <CallsTable listRef={listRef} page={data} filter={filter} selectedId={selectedId} onSelect={choose} />
      )}
    </section>
  );
}

/** How to connect a program, its calls as they arrive, and what can be made of one. */
export function RecorderScreen() {
  const [openedAt] = useState(() => Date.now());
  const filter = useListFilter();
  const calls = useRecordedCalls(filter);
  const revision = calls.data ? revisionOf(calls.data) : '';
  useRenewFacets(revision);
  const list = useRef<HTMLDivElement>(null);
  const chosenId = useRecorderView((view) => view.chosenId);
  const rows = calls.data?.rows ?? [];
  const selectedId = chosenId ?? rows[0]?.conversationId ?? null;
  const selected = rows.find(({ conversationId }) => conversationId === selectedId);
  const newest = rows[0]?.run;
  const isConnectOpen = useRecorderView((view) => view.isConnectOpen) ?? rows.length === 0;
  const isNew = newest !== undefined && Date.parse(newest.createdAt) >= openedAt;
  return (
    <>
      <RecorderToolbar
        filter={filter}
        isConnectOpen={isConnectOpen}
        isEmpty={rows.length === 0}
        revision={revision}
        onLeave={() => list.current?.focus()}
      />
      <div className="recorder" data-connect={isConnectOpen || undefined}>
        <ConnectPanel program={isNew ? newest.origin.client : undefined} newestAt={newest?.createdAt ?? null} />
        <CallsPanel calls={calls} filter={filter} listRef={list} selectedId={selectedId} />
        {selectedId !== null && (
          <SelectedCall
            conversationId={selectedId}
            newest={selected?.run}
            search={filter.text ?? ''}
            onWork={() => choose(selectedId)}
          />
        )}
      </div>
    </>
  );
}
