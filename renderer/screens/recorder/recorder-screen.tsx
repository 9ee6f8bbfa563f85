import { useEffect, useState } from 'react';
import { Dot } from '../../components/badges.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { Button } from '../../components/button.tsx';
import { useConversation } from '../../queries/audit.ts';
import { useRecordedCalls } from '../../queries/recorded-calls.ts';
import { CallDetail } from './call-detail.tsx';
import { CallsTable } from './calls-table.tsx';
import { ConnectPanel } from './connect-panel.tsx';
import './recorder.css';

interface SelectedCallProps {
  conversationId: string;
  /** The newest call of it in the list; undefined if the list has no room for it any more. */
  newestRunId: string | undefined;
  onWork: () => void;
}

/** The conversation, read again when the list shows a newer call of it. */
function SelectedCall({ conversationId, newestRunId, onWork }: SelectedCallProps) {
  const { data, error, isFetching, refetch } = useConversation(conversationId);
  const isOutdated =
    data?.id === conversationId &&
    newestRunId !== undefined &&
    data?.runs.every(({ conversationRunId, status }) => conversationRunId !== newestRunId || status === 'Running');
  useEffect(() => {
    if (isOutdated) void refetch();
  }, [isOutdated, refetch, newestRunId]);
  return (
    <section className="panel line-left recorder__detail" aria-label="One call">
      {data?.id === conversationId ? (
        <CallDetail key={data.id} conversation={data} onWork={onWork} />
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

/** How to connect a program, its calls as they arrive, and what can be made of one. */
export function RecorderScreen() {
  const [openedAt] = useState(() => Date.now());
  const calls = useRecordedCalls();
  const [chosen, setChosen] = useState<string | null>(null);
  const rows = calls.data?.rows ?? [];
  const selectedId = chosen ?? rows[0]?.conversationId ?? null;
  const selected = rows.find(({ conversationId }) => conversationId === selectedId);
  const newest = rows[0]?.run;
  const isNew = newest !== undefined && Date.parse(newest.createdAt) >= openedAt;
  return (
    <div className="recorder">
      <ConnectPanel program={isNew ? newest.origin.client : undefined} />
      <section className="panel" aria-label="Recorded calls">
        <div className="header header--line">
          <h2>Calls</h2>
          <span className="row small accent">
            <Dot tone="accent" />
            Live
          </span>
        </div>
        {calls.error && !calls.data ? (
          <div className="recorder__state">
            <ErrorFailure title="Couldn't load the calls" error={calls.error}>
              <Button onClick={() => void calls.refetch()}>Retry</Button>
            </ErrorFailure>
          </div>
        ) : !calls.data ? (
          <LoadingRows label="Loading calls" rows={8} />
        ) : rows.length === 0 ? (
          <div className="recorder__state">
            <EmptyState
              title="No calls yet"
              reason="Calls of other programs appear here as they arrive, with their messages, tokens and cost."
            />
          </div>
        ) : (
          <CallsTable rows={rows} selectedId={selectedId} onSelect={setChosen} />
        )}
      </section>
      {selectedId !== null && (
        <SelectedCall
          conversationId={selectedId}
          newestRunId={selected?.run.runId}
          onWork={() => setChosen(selectedId)}
        />
      )}
    </div>
  );
}
