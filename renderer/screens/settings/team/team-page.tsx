import { CircleX, RotateCw, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TeamState } from '../../../../shared/contract/team.ts';
import { Spinner, StateBadge } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { ErrorFailure, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useChangeTeam, useRetryTeam, useTeam } from '../../../queries/team.ts';
import { Message } from '../connection-test.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { ConnectionForm } from './team-connection.tsx';
import { Members, SharedThings } from './team-sharing.tsx';
import './team.css';

function Status({ status }: { status: TeamState['status'] }) {
  switch (status) {
    case 'off':
      return <StateBadge tone="neutral">Not connected</StateBadge>;
    case 'connecting':
      return (
        <>
          <Spinner />
          Connecting
        </>
      );
    case 'copying':
    case 'up-to-date':
      return <StateBadge tone="positive">Connected</StateBadge>;
    case 'offline':
      return (
        <StateBadge tone="negative" icon={CircleX}>
          Offline
        </StateBadge>
      );
    case 'read-only':
      return (
        <StateBadge tone="caution" icon={TriangleAlert}>
          Reads only
        </StateBadge>
      );
  }
}

/** `Since 14:20, retrying in 40 s`. `now` is when the state was read, every two seconds. */
function statusDetail({ address, status, since, retryAt }: TeamState, now: number): string {
  if (address === null) return 'PostgreSQL 14 or later';
  const seconds = retryAt === null ? 0 : Math.max(0, Date.parse(retryAt) - now);
  const retry = retryAt === null ? null : seconds < 1000 ? 'retrying' : `retrying in ${Math.ceil(seconds / 1000)} s`;
  const isWaiting = status === 'offline' || status === 'read-only';
  const start = isWaiting && since !== null ? `Since ${formatTime(since)}` : null;
  return [start, retry].filter((part) => part !== null).join(', ');
}

function ConnectionRow({ state, readAt }: { state: TeamState; readAt: number }) {
  const disconnect = useChangeTeam();
  const retry = useRetryTeam();
  const isWaiting = state.status === 'offline' || state.status === 'read-only';
  return (
    <>
      <div className="provider__row">
        <span className="strong">Connection</span>
        <span className="provider__state" role="status">
          <Status status={state.status} />
        </span>
        <span className="provider__detail truncate">{statusDetail(state, readAt)}</span>
        <span className="provider__actions">
          {isWaiting && (
            <Button size="small" icon={RotateCw} isBusy={retry.isPending} onClick={() => retry.mutate()}>
              Retry
            </Button>
          )}
          {state.address !== null && !state.isFixed && (
            <Button size="small" isBusy={disconnect.isPending} onClick={() => disconnect.mutate(null)}>
              Disconnect
            </Button>
          )}
        </span>
      </div>
      {state.message !== null && (
        <Notice tone={state.status === 'offline' ? 'negative' : 'caution'}>
          <Message text={state.message} />
        </Notice>
      )}
      {disconnect.error && <ErrorFailure title="Couldn't disconnect" error={disconnect.error} />}
    </>
  );
}

function BacklogRow({ title, badge, detail }: { title: string; badge: ReactNode; detail: string }) {
  return (
    <div className="provider">
      <div className="provider__row team__backlog">
        <span className="strong">{title}</span>
        <span className="provider__state">{badge}</span>
        <span className="provider__detail">{detail}</span>
      </div>
    </div>
  );
}

function Waiting({ status, count }: { status: TeamState['status']; count: number }) {
  if (count === 0) return <StateBadge tone="positive">None waiting</StateBadge>;
  const text = `${formatWhole(count)} waiting`;
  if (status === 'copying') return <StateBadge tone="accent">{text}</StateBadge>;
  return (
    <StateBadge tone="caution" icon={TriangleAlert}>
      {text}
    </StateBadge>
  );
}

/** What isn't in the database yet. Reviews of shared queues are there at once, or can't be given. */
function Backlog({ state }: { state: TeamState }) {
  const { status, waitingRuns, waitingChanges, copied, rejected } = state;
  const isAway = status === 'offline' || status === 'connecting';
  const later =
    status === 'read-only' ? 'Saved on this device, and not copied' : 'Saved on this device, and copied later';
  const done =
    copied > 0 ? `${formatPlural(copied, 'run or change', 'runs and changes')} copied since the last start` : '';
  const inStep = status === 'up-to-date' && copied === 0 ? 'All runs of this device are in the team database' : done;
  const lost = rejected > 0 ? `, and the database can't store ${formatPlural(rejected, 'run')}` : '';
  return (
    <>
      <BacklogRow
        title="Runs"
        badge={<Waiting status={status} count={waitingRuns} />}
        detail={`${waitingRuns > 0 && status !== 'copying' ? later : inStep}${lost}`}
      />
      <BacklogRow
        title="Feedback"
        badge={<Waiting status={status} count={waitingChanges} />}
        detail="With deletions and other changes of copied runs"
      />
      <BacklogRow
        title="Reviews"
        badge={
          isAway ? (
            <StateBadge tone="caution" icon={TriangleAlert}>
              Not possible
            </StateBadge>
          ) : (
            <StateBadge tone="positive">Sent at once</StateBadge>
          )
        }
        detail={
          isAway
            ? 'Shared queues can only be read. Other queues work as usual'
            : 'Of shared queues. Other queues stay on this device'
        }
      />
    </>
  );
}

/** The team's PostgreSQL, to which the runs of this device are copied. */
export function TeamPage() {
  const team = useTeam();
  return (
    <SettingsPage
      title="Team database"
      lead="Runs and feedback are saved on this device first, then copied to your team’s PostgreSQL database, also after days offline. Shared review queues are in the database itself and can be reviewed only while it’s reachable."
    >
      <QueryView query={team} subject="the team database" rows={2}>
        {(state) => (
          <>
            <div className="card">
              <div className="provider">
                <ConnectionRow state={state} readAt={team.dataUpdatedAt} />
                {state.isFixed ? (
                  <p className="small secondary team__fixed">
                    <span className="mono--small breakable">{state.address}</span>, set on the command line with --team.
                  </p>
                ) : (
                  <ConnectionForm key={state.address} state={state} />
                )}
              </div>
              {state.address !== null && <Backlog state={state} />}
            </div>
            <div className="team__columns">
              <SharedThings state={state} />
              {state.address !== null && (
                <div>
                  <Members state={state} />
                </div>
              )}
            </div>
          </>
        )}
      </QueryView>
    </SettingsPage>
  );
}
