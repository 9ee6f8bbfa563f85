import { useVirtualizer } from '@tanstack/react-virtual';
import { Search } from 'lucide-react';
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import type { CompletionRun } from '../../../stores/live-runs.ts';
import { findFrames, frameGist, frameRow, type FrameRow, jsonTokens, longGapLimit } from './wire-model.ts';

const rowHeight = 20;
/** Characters that a row can show. A JSON response may have megabytes in one frame. */
const shownCharacters = 600;

export function JsonText({ text }: { text: string }) {
  return jsonTokens(text).map(({ kind, text: token }, index) => (
    <span key={index} className={kind ? `tok-${kind}` : undefined}>
      {token}
    </span>
  ));
}

const Row = memo(function Row({
  row,
  top,
  isNewest,
  isOpen,
  onToggle,
}: {
  row: FrameRow;
  top: number;
  isNewest: boolean;
  isOpen: boolean;
  onToggle: (number: number) => void;
}) {
  return (
    <div
      role="row"
      aria-rowindex={row.number + 1}
      className={classNames('frames__row', isNewest && 'is-new', isOpen && 'is-selected')}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onToggle(row.number)}
    >
      <span role="cell">{row.number}</span>
      <span role="cell">{(row.at / 1000).toFixed(3)}</span>
      <span role="cell" className={row.isLongGap ? 'caution medium' : undefined}>
        {row.gap === null ? '' : Math.round(row.gap)}
      </span>
      <span role="cell">{row.bytes.toLocaleString('en')}</span>
      <span role="cell" className="truncate" title={row.data.slice(0, shownCharacters)}>
        <JsonText text={frameGist(row.data).slice(0, shownCharacters)} />
      </span>
    </div>
  );
});

function FramesHeader({
  run,
  matches,
  query,
  onQueryChange,
}: {
  run: CompletionRun;
  matches: number | null;
  query: string;
  onQueryChange: (query: string) => void;
}) {
  return (
    <div className="header">
      <h3>Frames</h3>
      <span className="caption tertiary nowrap">
        {formatPlural(run.frameCount, 'frame')} received{run.endedAt === null ? ', following' : ''}
        {matches !== null && `, ${matches.toLocaleString('en')} found`}
      </span>
      <span className="grow" />
      <div className="field field--small wire__find">
        <Icon icon={Search} size="small" />
        <input
          aria-label="Find in frames"
          placeholder="Find"
          value={query}
          onChange={(event) => onQueryChange(event.target.value)}
        />
      </div>
    </div>
  );
}

function ColumnNames() {
  return (
    <div role="row" aria-rowindex={1} className="frames__row frames__head">
      {['#', 'Time (s)', 'Gap (ms)', 'Bytes', 'Data'].map((name) => (
        <span key={name} role="columnheader">
          {name}
        </span>
      ))}
    </div>
  );
}

/** The frames that match the query, the open one, and a list of them that follows the newest while the reader is at its end. */
function useFrames(run: CompletionRun, query: string) {
  const [openFrame, setOpenFrame] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const { frames } = run.wire;
  const count = run.frameCount;
  const isActive = run.endedAt === null;
  const matches = useMemo(() => (query === '' ? null : findFrames(frames, count, query)), [frames, count, query]);
  const shown = matches?.length ?? count;
  const virtualizer = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });

  useEffect(() => {
    isFollowing.current = true;
    setOpenFrame(null);
  }, [run.key]);
  useEffect(() => {
    if (isFollowing.current && isActive && shown > 0) virtualizer.scrollToIndex(shown - 1, { align: 'end' });
  }, [shown, isActive, virtualizer]);

  const onScroll = (): void => {
    const element = scroller.current;
    if (element) isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight * 2;
  };
  const openAt = (position: number): void => {
    const next = Math.max(0, Math.min(shown - 1, position));
    setOpenFrame((matches?.[next] ?? next) + 1);
    virtualizer.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (shown === 0 || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
    event.preventDefault();
    const position = openFrame === null ? -1 : matches ? matches.indexOf(openFrame - 1) : openFrame - 1;
    openAt(openFrame === null ? shown - 1 : position + (event.key === 'ArrowDown' ? 1 : -1));
  };
  const toggle = (number: number): void => setOpenFrame(openFrame === number ? null : number);
  return { matches, openFrame, toggle, virtualizer, body: { ref: scroller, onScroll, onKeyDown } };
}

/** Every frame of the answer with its time. */
export function FramesTable({ run }: { run: CompletionRun }) {
  const [query, setQuery] = useState('');
  const { matches, openFrame, toggle, virtualizer, body } = useFrames(run, query);
  const { frames } = run.wire;
  const count = run.frameCount;
  // The limit depends on the whole answer. While it streams, the newest thousand frames give it, recalculated every fifty frames.
  const countedFrames = run.endedAt === null ? count - (count % 50) : count;
  const limit = useMemo(
    () => longGapLimit(frames.slice(Math.max(0, countedFrames - 1000), countedFrames)),
    [frames, countedFrames],
  );
  const open = openFrame === null ? null : frames[openFrame - 1];
  return (
    <section className="panel wire__frames" aria-label="Frames">
      <FramesHeader run={run} matches={matches?.length ?? null} query={query} onQueryChange={setQuery} />
      <div role="table" aria-label="Frames of the answer" aria-rowcount={count + 1} className="frames">
        <ColumnNames />
        <div {...body} role="rowgroup" className="scroll frames__body" tabIndex={0}>
          <div role="presentation" style={{ height: virtualizer.getTotalSize() }}>
            {virtualizer.getVirtualItems().map(({ index, start }) => {
              const row = frameRow(frames, matches?.[index] ?? index, run.startedAt, limit);
              return (
                row && (
                  <Row
                    key={row.number}
                    row={row}
                    top={start}
                    isNewest={run.endedAt === null && row.number === count}
                    isOpen={row.number === openFrame}
                    onToggle={toggle}
                  />
                )
              );
            })}
          </div>
        </div>
      </div>
      {open && (
        <pre className="frames__whole scroll mono" tabIndex={0} aria-label={`Frame ${openFrame}, as received`}>
          {open.text}
        </pre>
      )}
    </section>
  );
}
