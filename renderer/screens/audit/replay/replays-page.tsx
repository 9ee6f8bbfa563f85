import { ArrowLeft, Play, RotateCcw, Square, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import {
  isSameAnswer,
  type Replay,
  type ReplayPair,
  type ReplayResults,
} from '../../../../shared/contract/audit-replay.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Switch } from '../../../components/choices.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatDuration, formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { Progress } from '../../../components/badges.tsx';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { Select } from '../../../components/select.tsx';
import { VirtualList } from '../../../components/virtual-list.tsx';
import {
  pairsPerPage,
  useChangeReplay,
  useRenewRuns,
  useReplayResults,
  useReplays,
} from '../../../queries/audit-jobs.ts';
import { useActions } from '../../../stores/actions.ts';
import { useAuditSelection } from '../../../stores/audit.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { PairView } from './pair-view.tsx';
import { replayAddress } from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import './replay.css';

type Totals = ReplayResults['before'];

/** A sum or an average; null when no run has a value. */
interface Total {
  value: number | null;
  /** Runs that the sum excludes because their value is unknown. */
  unknownRuns: number;
}

function percentChange(before: Total, after: Total): string {
  if (!before.value || after.value === null || before.unknownRuns + after.unknownRuns > 0) return '';
  const percent = Math.round((after.value / before.value - 1) * 100);
  return percent === 0 ? 'unchanged' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}

function sumOf(value: number, unknownRuns: number, runs: number): Total {
  return { value: runs > 0 && unknownRuns === runs ? null : value, unknownRuns };
}

const rows: readonly { name: string; read: (totals: Totals) => Total; format: (value: number) => string }[] = [
  {
    name: 'Tokens',
    read: ({ totalTokens, runsWithoutTokens, runs }) => sumOf(totalTokens, runsWithoutTokens, runs),
    format: formatWhole,
  },
  { name: 'Cost', read: ({ cost, runsWithoutCost, runs }) => sumOf(cost, runsWithoutCost, runs), format: formatCost },
  {
    name: 'Mean time',
    read: ({ averageTotalMs }) => ({ value: averageTotalMs, unknownRuns: 0 }),
    format: formatDuration,
  },
  {
    name: 'Mean first token',
    read: ({ averageFirstTokenMs }) => ({ value: averageFirstTokenMs, unknownRuns: 0 }),
    format: formatDuration,
  },
];

function TotalText({ total: { value, unknownRuns }, format }: { total: Total; format: (value: number) => string }) {
  if (value === null) return 'Unknown';
  return (
    <>
      {format(value)}
      {unknownRuns > 0 && <span className="tertiary"> plus {formatPlural(unknownRuns, 'unknown run')}</span>}
    </>
  );
}

/** The total change of a replay, over the pairs in which both sides completed. */
function ReplayTotals({ results }: { results: ReplayResults }) {
  const { before, after, sameAnswers } = results;
  return (
    <dl className="replay__totals">
      <div>
        <dt>Identical answers</dt>
        <dd>
          {formatWhole(sameAnswers)} <span className="tertiary">of {formatWhole(after.runs)}</span>
        </dd>
      </div>
      {rows.map(({ name, read, format }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <TotalText total={read(before)} format={format} /> <span className="tertiary">to</span>{' '}
            <TotalText total={read(after)} format={format} />{' '}
            <span className="tertiary">{percentChange(read(before), read(after))}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Controls({ replay }: { replay: Replay }) {
  const { mutate, mutateAsync } = useChangeReplay();
  const navigateFromHere = useNavigateFromHere();
  // The stream of replays may remove this one, and with it the button, before the response arrives.
  const remove = (): void => {
    const navigate = navigateFromHere();
    mutateAsync({ id: replay.id, change: 'delete' }).then(
      () => navigate(replayAddress()),
      () => {},
    );
  };
  const change = (what: 'stop' | 'resume' | 'retry') => mutate({ id: replay.id, change: what });
  const done = replay.completed + replay.failed;
  return (
    <>
      <div className="replay__progress">
        <Progress label={`Progress of ${replay.name}`} fraction={replay.total === 0 ? null : done / replay.total} />
        <span className="caption tertiary numbers nowrap">
          {formatWhole(done)} of {formatWhole(replay.total)}
          {replay.failed > 0 && `, ${formatWhole(replay.failed)} failed`}
          {replay.state === 'stopped' && ', stopped'}
        </span>
      </div>
      {replay.state === 'running' && (
        <Button size="small" icon={Square} keys="Escape" onClick={() => change('stop')}>
          Stop
        </Button>
      )}
      {replay.state === 'stopped' && (
        <Button size="small" icon={Play} onClick={() => change('resume')}>
          Resume
        </Button>
      )}
      {replay.state !== 'running' && replay.failed > 0 && (
        <Button size="small" icon={RotateCcw} onClick={() => change('retry')}>
          Retry failed
        </Button>
      )}
      <IconButton icon={Trash2} label={`Delete ${replay.name} (runs are kept)`} size="small" onClick={remove} />
    </>
  );
}

const pairWords: Record<ReplayPair['state'], string> = {
  waiting: 'queued',
  running: 'running',
  completed: '',
  failed: 'failed',
};

function pairWord(pair: ReplayPair): string {
  if (pair.state !== 'completed') return pairWords[pair.state];
  if (!pair.original || !pair.replayed) return 'changed';
  return isSameAnswer(pair.original, pair.replayed) ? 'identical' : 'changed';
}

function PairRow({ pair, isOpen }: { pair: ReplayPair; isOpen: boolean }) {
  const word = pairWord(pair);
  return (
    <div className={classNames('run-row', isOpen && 'is-selected')}>
      <span className="tertiary numbers">{pair.position + 1}</span>
      <span className="truncate grow">{pair.original?.renderedPrompt.split('\n', 1)[0] ?? 'Deleted'}</span>
      <span className={classNames('caption nowrap', word === 'failed' ? 'negative' : 'tertiary')}>{word}</span>
    </div>
  );
}

function Pairs({ results }: { results: ReplayResults }) {
  const [openAt, setOpenAt] = useState(results.offset);
  const [isDifferenceShown, setDifferenceShown] = useState(true);
  const open = results.data.find(({ position }) => position === openAt) ?? results.data[0];
  return (
    <div className="replay__work">
      <div className="panel panel--inset line-right">
        <div className="header">
          <h2>Runs</h2>
          <span className="grow" />
          <Switch label="Highlight changes" isChecked={isDifferenceShown} onCheckedChange={setDifferenceShown} />
        </div>
        <VirtualList
          label="Replayed runs"
          className="replay__list"
          items={results.data}
          itemKey={({ position }) => String(position)}
          rowHeight={28}
          selectedKey={open ? String(open.position) : null}
          onSelect={({ position }) => setOpenAt(position)}
          renderItem={(pair, isOpen) => <PairRow pair={pair} isOpen={isOpen} />}
        />
      </div>
      {open && <PairView pair={open} isDifferenceShown={isDifferenceShown} />}
    </div>
  );
}

/** A finished replay has created runs, so all queries of runs are refetched. */
function useRenewalAfterReplay(state: Replay['state']): void {
  const renew = useRenewRuns();
  const before = useRef(state);
  useEffect(() => {
    if (before.current === 'running' && state !== 'running') renew();
    before.current = state;
  }, [state, renew]);
}

function OpenReplay({ replay }: { replay: Replay }) {
  const [page, setPage] = useState(0);
  const { running, waiting, completed, failed } = replay;
  const results = useReplayResults(replay.id, page, [running, waiting, completed, failed].join());
  const { mutate } = useChangeReplay();
  useRenewalAfterReplay(replay.state);
  const pages = Math.ceil(replay.total / pairsPerPage);
  useActions('audit-replay', [
    {
      id: 'audit.replay.stop',
      title: 'Stop replay',
      group: 'Replay',
      keys: 'Escape',
      isEnabled: replay.state === 'running',
      run: () => mutate({ id: replay.id, change: 'stop' }),
    },
  ]);
  return (
    <QueryView query={results} subject="the replay" rows={8}>
      {(data) => (
        <>
          <ReplayTotals results={data} />
          {pages > 1 && (
            <div className="header header--line">
              <Button size="small" disabled={page === 0} onClick={() => setPage(page - 1)}>
                Previous {pairsPerPage}
              </Button>
              <Button size="small" disabled={page >= pages - 1} onClick={() => setPage(page + 1)}>
                Next {pairsPerPage}
              </Button>
            </div>
          )}
          <Pairs key={page} results={data} />
        </>
      )}
    </QueryView>
  );
}

/** Replays with their changes; `id` opens one, null the newest. */
export function ReplaysPage({ id }: { id: string | null }) {
  const [, navigate] = useLocation();
  const backTo = useAuditSelection(({ address }) => address);
  const replays = useReplays();
  const list = replays.data?.data ?? [];
  const replay = list.find((one) => one.id === id) ?? (id === null ? list[0] : undefined);
  useShowPageTitle(replay ? `Replays / ${replay.name}` : 'Replays');
  return (
    <>
      <div className="toolbar">
        <Button icon={ArrowLeft} variant="quiet" onClick={() => navigate(backTo)}>
          Conversations
        </Button>
        {list.length > 0 && (
          <Select
            label="Replay"
            value={replay?.id ?? null}
            placeholder="No replay"
            onValueChange={(next) => navigate(replayAddress(next))}
            options={list.map((one) => ({ value: one.id, label: `${one.name}, ${formatTime(one.createdAt)}` }))}
          />
        )}
        <span className="grow" />
        {replay && <Controls replay={replay} />}
      </div>
      <QueryView query={replays} subject="the replays" rows={6}>
        {() =>
          replay ? (
            <OpenReplay key={replay.id} replay={replay} />
          ) : (
            <div className="list-state">
              <EmptyState
                title={list.length === 0 ? 'No replays yet' : 'Replay not found'}
                reason="Select conversations in the list and press R to run them again on another model and compare the answers."
              >
                <Button onClick={() => navigate(backTo)}>Back to conversations</Button>
              </EmptyState>
            </div>
          )
        }
      </QueryView>
    </>
  );
}
