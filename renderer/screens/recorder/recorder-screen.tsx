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

/** The conversation, and again when the list shows a newer call of it. */
function useSelected(conversationId: string | null, newestRunId: string | undefined) {
  const { data, refetch } = useConversation(conversationId);
  const isOutdated =
    data?.id === conversationId &&
    newestRunId !== undefined &&
    data?.runs.every(({ conversationRunId, status }) => conversationRunId !== newestRunId || status === 'Running');
  useEffect(() => {
    if (isOutdated) void refetch();
  }, [isOutdated, refetch, newestRunId]);
  return data?.id === conversationId ? data : undefined;
}

/** How to connect a program, its calls as they arrive, and what can be made of one. */
export function RecorderScreen() {
  const [openedAt] = useState(() => Date.now());
  const calls = useRecordedCalls();
  const [chosen, setChosen] = useState<string | null>(null);
  const rows = calls.data?.rows ?? [];
  const selected = rows.find(({ conversationId }) => conversationId === chosen) ?? rows[0];
  const conversation = useSelected(selected?.conversationId ?? null, selected?.run.runId);
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
          <CallsTable rows={rows} selectedId={selected?.conversationId ?? null} onSelect={setChosen} />
        )}
      </section>
      {conversation && <CallDetail key={conversation.id} conversation={conversation} />}
    </div>
  );
}
