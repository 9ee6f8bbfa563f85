import { useMemo, useState } from 'react';
import { Segmented } from '../../../components/choices.tsx';
import { formatCost, formatRunDuration, formatTime } from '../../../components/format.ts';
import { Spinner } from '../../../components/marks.tsx';
import { ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { Button } from '../../../components/button.tsx';
import { VirtualList } from '../../../components/virtual-list.tsx';
import { useRuns } from '../../../queries/runs.ts';
import type { LiveRun } from '../../../stores/playground-run.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { errorWord, historyRows } from './history-model.ts';
import type { HistoryRow } from './history-model.ts';

const rowHeight = 45;
const scopes = [
  { value: 'draft', label: 'This prompt' },
  { value: 'all', label: 'All' },
] as const;

function State({ row }: { row: HistoryRow }) {
  if (row.status === 'Running')
    return (
      <span className="row">
        <Spinner />
        <span className="visually-hidden">Streaming</span>
      </span>
    );
  if (row.status === 'Failed') return <span className="negative">Failed</span>;
  return row.status === 'Cancelled' ? <span className="tertiary">Stopped</span> : null;
}

function Row({ row, isShown, isAll }: { row: HistoryRow; isShown: boolean; isAll: boolean }) {
  const facts = [
    isAll ? row.title : null,
    row.totalMs === null ? null : formatRunDuration(row.totalMs),
    row.cost === null || row.cost === 0 ? null : formatCost(row.cost),
    row.errorCode === null ? null : errorWord(row.errorCode),
    row.servedBy?.startsWith('on-device') ? 'on-device' : null,
  ].filter((fact) => fact !== null);
  return (
    <div className={isShown ? 'history__run is-selected' : 'history__run'}>
      <span className="history__model truncate">{row.model}</span>
      <span className="history__time">{row.status === 'Running' ? 'Now' : formatTime(row.createdAt)}</span>
      <span className="history__meta truncate">
        {facts.map((fact) => (
          <i key={fact}>{fact}</i>
        ))}
      </span>
      <span className="history__state">
        <State row={row} />
      </span>
    </div>
  );
}

export interface HistoryPanelProps {
  draftId: string;
  live: LiveRun | null;
  /** The run whose answer is on the screen. */
  shownRunId: string | null;
  /** Puts a run back as it was. */
  onPutBack: (runId: string) => void;
}

/** The runs of this prompt, or all of the window's and of other callers; each can be put back as it was. */
export function HistoryPanel({ draftId, live, shownRunId, onPutBack }: HistoryPanelProps) {
  const scope = usePlaygroundView((view) => view.historyScope);
  const runs = useRuns(scope === 'draft' ? { draftId } : {});
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const kept = useMemo(() => (runs.data?.pages ?? []).flatMap(({ data }) => data), [runs.data]);
  const rows = useMemo(() => historyRows(kept, live), [kept, live]);
  const putBack = (row: HistoryRow): void => {
    if (!row.isNew) onPutBack(row.runId);
  };
  return (
    <section className="panel history" aria-label="History">
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
      {runs.isPending && <LoadingRows label="Loading the history" rows={4} />}
      {runs.isError && (
        <div className="history__note">
          <ErrorFailure title="The history could not be read" error={runs.error}>
            <Button onClick={() => void runs.refetch()}>Read it again</Button>
          </ErrorFailure>
        </div>
      )}
      {runs.isSuccess && rows.length === 0 && (
        <p className="history__note small tertiary">
          No runs yet. Every run of this prompt is kept here and can be put back as it was.
        </p>
      )}
      {rows.length > 0 && (
        <VirtualList
          label="Runs, newest first. Enter puts one back"
          className="history__list"
          items={rows}
          itemKey={({ runId }) => runId}
          rowHeight={rowHeight}
          selectedKey={selectedId ?? shownRunId}
          onSelect={({ runId }) => setSelectedId(runId)}
          onOpen={putBack}
          onEndReached={() => {
            if (runs.hasNextPage && !runs.isFetchingNextPage) void runs.fetchNextPage();
          }}
          renderItem={(row, isSelected) => (
            <div className="history__cell" onClick={() => putBack(row)}>
              <Row row={row} isShown={isSelected} isAll={scope === 'all'} />
            </div>
          )}
        />
      )}
    </section>
  );
}
