import { memo, useMemo, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { useLocation } from 'wouter';
import { Segmented } from '../../../components/choices.tsx';
import { plainText } from '../../../components/markdown/plain-text.ts';
import { formatCost, formatRunDuration, formatTime } from '../../../components/format.ts';
import { Spinner } from '../../../components/badges.tsx';
import { Score } from '../../../components/scores.tsx';
import { ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { Button } from '../../../components/button.tsx';
import { VirtualList } from '../../../components/virtual-list.tsx';
import { useRuns } from '../../../queries/runs.ts';
import { draftSlot } from '../../../stores/completion-runs.ts';
import { getActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { runAddress } from '../../../shell/addresses.ts';
import { useLiveRuns } from '../../../stores/live-runs.ts';
import { errorLabel, type HistoryRow, historyRows, liveRow } from './history-model.ts';

/** The style sheet has the same height. */
const rowHeight = 64;
const scopes = [
  { value: 'draft', label: 'This prompt' },
  { value: 'all', label: 'All' },
] as const;

const stateLabels = {
  Failed: { label: 'Failed', tone: 'negative' },
  Cancelled: { label: 'Stopped', tone: 'tertiary' },
} as const;

function State({ row }: { row: HistoryRow }) {
  if (row.status === 'Completed') return null;
  if (row.status !== 'Running') {
    const { label, tone } = stateLabels[row.status];
    return <span className={tone}>{label}</span>;
  }
  return (
    <span className="row">
      <Spinner />
      <span className="visually-hidden">Streaming</span>
    </span>
  );
}

const Row = memo(function Row({ row, isShown }: { row: HistoryRow; isShown: boolean }) {
  const cost = row.cost === null || row.cost === 0 ? null : formatCost(row.cost);
  const details = [
    row.promptVersion === null ? null : `Version ${row.promptVersion}`,
    row.totalMs === null ? null : formatRunDuration(row.totalMs),
    row.errorCode === null ? null : errorLabel(row.errorCode),
    row.servedBy?.startsWith('on-device') ? 'on-device' : null,
  ].filter((detail) => detail !== null);
  return (
    <div className={isShown ? 'history__run is-selected' : 'history__run'}>
      <span className="history__excerpt truncate">{plainText(row.excerpt).replaceAll('\n', ' ') || 'No text'}</span>
      <span className="history__time">{row.status === 'Running' ? 'Now' : formatTime(row.createdAt)}</span>
      <span className="history__model truncate" title={row.model}>
        {row.model}
      </span>
      <span className="history__score">{row.score !== null && <Score score={row.score} />}</span>
      <span className="history__meta truncate">
        {details.map((detail) => (
          <i key={detail}>{detail}</i>
        ))}
      </span>
      <span className="history__state">
        {cost}
        <State row={row} />
      </span>
    </div>
  );
});

function HistoryHeader() {
  const scope = usePlaygroundView((view) => view.historyScope);
  return (
    <div className="header line-top header--line">
      <h2>History</h2>
      <span className="grow" />
      <Segmented
        label="Runs shown"
        value={scope}
        onValueChange={(historyScope) => usePlaygroundView.setState({ historyScope })}
        options={scopes}
      />
    </div>
  );
}

/** The runs of this prompt, or all runs of all callers. Selecting one restores it. */
export function HistoryPanel() {
  const [, navigate] = useLocation();
  const draftId = useDrafts((state) => getActiveDraft(state).id);
  const shownRunId = useDrafts((state) => getActiveDraft(state).shownRunId);
  const live = useLiveRuns(
    useShallow(({ runs }) => {
      const run = runs[draftSlot(draftId)];
      return run ? liveRow(run) : null;
    }),
  );
  const scope = usePlaygroundView((view) => view.historyScope);
  const runs = useRuns(scope === 'draft' ? { draftId } : {});
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const listed = useMemo(() => (runs.data?.pages ?? []).flatMap(({ data }) => data), [runs.data]);
  const rows = useMemo(() => historyRows(listed, live), [listed, live]);
  const restore = (row: HistoryRow): void => {
    if (!row.isNew) navigate(runAddress(row.runId));
  };
  return (
    <section className="panel history" aria-label="History">
      <HistoryHeader />
      {runs.isPending && <LoadingRows label="Loading the history" rows={4} />}
      {runs.isError && (
        <div className="history__note">
          <ErrorFailure title="Couldn't load the history" error={runs.error}>
            <Button onClick={() => void runs.refetch()}>Retry</Button>
          </ErrorFailure>
        </div>
      )}
      {runs.isSuccess && rows.length === 0 && (
        <p className="history__note small tertiary">
          {scope === 'draft'
            ? 'Runs of this prompt appear here. Select one to restore it.'
            : 'Runs appear here. Select one to restore it.'}
        </p>
      )}
      {rows.length > 0 && (
        <VirtualList
          label="Runs, newest first. Press Enter to restore one"
          className="history__list"
          items={rows}
          itemKey={({ runId }) => runId}
          rowHeight={rowHeight}
          selectedKey={selectedId ?? shownRunId}
          onSelect={({ runId }) => setSelectedId(runId)}
          onOpen={restore}
          onEndReached={() => {
            if (runs.hasNextPage && !runs.isFetchingNextPage) void runs.fetchNextPage();
          }}
          renderItem={(row, isSelected) => (
            <div className="history__cell" onClick={() => restore(row)}>
              <Row row={row} isShown={isSelected} />
            </div>
          )}
        />
      )}
    </section>
  );
}
