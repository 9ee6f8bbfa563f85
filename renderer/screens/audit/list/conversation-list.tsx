import { Check } from 'lucide-react';
import { type KeyboardEvent, memo, type MouseEvent, type RefObject, useEffect, useEffectEvent, useState } from 'react';
import type { AuditFacets, AuditRow } from '../../../../shared/contract/audit.ts';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatPlural, formatTime } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Score } from '../../../components/scores.tsx';
import { Button } from '../../../components/button.tsx';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { rowsPerPage, useAuditRows } from '../../../queries/audit-list.ts';
import { toggleRow, useAuditSelection } from '../../../stores/audit.ts';
import { callerName } from '../../../components/run-filter/filter-fields.ts';
import type { AuditListState } from './use-audit-list.ts';
import { useRowWindow } from './use-row-window.ts';

/** Height of every row, in pixels; the style sheet has the same. */
const rowHeight = 44;

/** The status of a run that didn't complete. */
export const statusWords = {
  Running: { word: 'running', tone: 'accent' },
  Failed: { word: 'failed', tone: 'negative' },
  Cancelled: { word: 'stopped', tone: 'tertiary' },
} as const;

function Judgement({ run }: Pick<AuditRow, 'run'>) {
  const state = run.status === 'Completed' ? null : statusWords[run.status];
  const tag = run.feedback?.scoreTags?.split(',')[0]?.trim();
  const score = run.feedback?.score ?? null;
  return (
    <span className="conversation__score">
      {state && <span className={state.tone}>{state.word}</span>}
      {tag && <span className="tertiary truncate wide-only">{tag}</span>}
      {score !== null && <Score score={score} />}
    </span>
  );
}

interface ConversationRowProps {
  row: AuditRow;
  caller: string;
  /** The time that the list is sorted by. */
  time: string;
  isOpen: boolean;
  isSelected: boolean;
}

/** One conversation in two lines: title and time, then caller, model and feedback. */
const ConversationRow = memo(function ConversationRow({ row, caller, time, isOpen, isSelected }: ConversationRowProps) {
  const { run } = row;
  return (
    <div className={classNames('conversation', isOpen && 'is-selected', isSelected && 'is-picked')}>
      <span className="conversation__mark">{isSelected && <Icon icon={Check} size="tiny" />}</span>
      <span className="conversation__name truncate">
        {row.name}
        {/* All conversations with the same stored prompt have the prompt's name. */}
        {run.title !== row.name && run.title !== '' && <span className="conversation__words">{run.title}</span>}
      </span>
      <span className="conversation__time">{formatTime(time)}</span>
      <span className="conversation__meta">
        <span className="truncate">
          <span title={row.callerId}>{caller}</span>
          <i>{run.model}</i>
          <i>{formatPlural(row.runs, 'run')}</i>
          {row.isSample && <i>sample</i>}
        </span>
        {run.cost !== null && <i className="conversation__cost">{formatCost(run.cost)}</i>}
      </span>
      <Judgement run={run} />
    </div>
  );
});

/** In place of a row that is loading, with the same height. */
function RowPlaceholder() {
  return (
    <div className="conversation conversation--placeholder">
      <span className="placeholder__bar" />
      <span className="placeholder__bar" />
    </div>
  );
}

/** How long the scroll bar must rest before the rows in view are fetched, in milliseconds. */
const restMilliseconds = 80;

interface Pages {
  from: number;
  to: number;
}

function pagesOf(first: number, last: number, count: number): Pages {
  const lastPage = Math.max(0, Math.ceil(count / rowsPerPage) - 1);
  // A quarter of a page ahead, so that the next page has loaded before its rows come into view.
  const ahead = rowsPerPage / 4;
  const from = Math.max(0, Math.floor((first - ahead) / rowsPerPage));
  const to = Math.min(lastPage, Math.floor((last + ahead) / rowsPerPage));
  return { from, to };
}

/** The pages that the rows in view need. While the scroll bar is dragged far, nothing is fetched until it rests. */
function useNeededPages({
  first,
  last,
  count,
  isFar,
}: {
  first: number;
  last: number;
  count: number;
  isFar: boolean;
}): readonly number[] {
  const near = pagesOf(first, last, count);
  const [rested, setRested] = useState(near);
  const { from, to } = near;
  if (!isFar && (rested.from !== from || rested.to !== to)) setRested({ from, to });
  useEffect(() => {
    if (!isFar) return;
    const timer = setTimeout(() => setRested({ from, to }), restMilliseconds);
    return () => clearTimeout(timer);
  }, [from, to, isFar]);
  const needed = isFar ? rested : near;
  return Array.from({ length: Math.max(0, needed.to - needed.from + 1) }, (_, index) => needed.from + index);
}

interface ConversationListProps {
  list: AuditListState;
  facets: AuditFacets | undefined;
  /** Enter or a double-click: moves to the open conversation. */
  onOpen: () => void;
  listRef: RefObject<HTMLDivElement | null>;
}

const rowsPerView = 12;

function targetOf(key: string, index: number, last: number): number | null {
  if (key === 'ArrowDown') return index + 1;
  if (key === 'ArrowUp') return index - 1;
  if (key === 'PageDown') return index + rowsPerView;
  if (key === 'PageUp') return index - rowsPerView;
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

function handleListKey(event: KeyboardEvent, list: AuditListState, onOpen: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter') {
    event.preventDefault();
    return onOpen();
  }
  const target = targetOf(event.key, list.active ?? -1, list.total - 1);
  if (target === null) return;
  event.preventDefault();
  list.moveTo(target, { isExtending: event.shiftKey });
}

/** The rows in view. */
function useRowsInView({ head, total, active }: AuditListState, listRef: RefObject<HTMLDivElement | null>) {
  const window = useRowWindow(listRef, total, rowHeight);
  const rows = useAuditRows(head, useNeededPages({ ...window, count: total }));
  // Only a move by the person scrolls a row into view, not a change of the list.
  const showRow = useEffectEvent((index: number) => window.show(index));
  useEffect(() => {
    if (active !== null) showRow(active);
  }, [active, head.snapshot]);
  return { window, rows };
}

interface ListRowProps {
  list: AuditListState;
  index: number;
  /** Undefined while it loads. */
  row: AuditRow | undefined;
  facets: AuditFacets | undefined;
  isSelected: boolean;
  /** Pixels from the top of the sheet. */
  top: number;
  onClick: (event: MouseEvent) => void;
  onOpen: () => void;
}

function ListRow({ list, index, row, facets, isSelected, top, onClick, onOpen }: ListRowProps) {
  const isByTime = list.head.sort === 'newest' || list.head.sort === 'oldest';
  const isActive = index === list.active;
  return (
    <div
      id={`audit-row-${index}`}
      role="option"
      aria-selected={isSelected}
      aria-current={isActive || undefined}
      aria-posinset={index + 1}
      aria-setsize={list.total}
      aria-label={row ? undefined : 'Loading'}
      className="virtual-list__row"
      style={{ height: rowHeight, transform: `translateY(${top}px)` }}
      onClick={onClick}
      onDoubleClick={onOpen}
    >
      {row ? (
        <ConversationRow
          row={row}
          caller={callerName(row.callerId, facets)}
          time={isByTime ? row.updatedAt : row.run.createdAt}
          isOpen={isActive}
          isSelected={isSelected}
        />
      ) : (
        <RowPlaceholder />
      )}
    </div>
  );
}

/** The list. It renders only the rows in view. One tab stop; arrows, Page, Home and End inside. */
export function ConversationList({ list, facets, onOpen, listRef }: ConversationListProps) {
  const { active } = list;
  const { window, rows } = useRowsInView(list, listRef);
  const { rows: selected, isAll } = useAuditSelection();
  const indexes = Array.from({ length: Math.max(0, window.last - window.first + 1) }, (_, row) => window.first + row);

  const onRowClick = (event: MouseEvent, index: number) => {
    const row = rows.rowAt(index);
    if (!event.ctrlKey && !event.metaKey) list.moveTo(index, { isExtending: event.shiftKey });
    else if (row) toggleRow(row, index);
  };
  return (
    <>
      {rows.error && (
        <div className="audit__failure">
          <ErrorFailure title="Couldn't load some rows" error={rows.error}>
            <Button onClick={rows.retry}>Retry</Button>
          </ErrorFailure>
        </div>
      )}
      <div
        ref={listRef}
        className={classNames('scroll', 'audit__list', list.isBehind && 'is-behind')}
        role="listbox"
        aria-label="Conversations"
        aria-multiselectable="true"
        aria-activedescendant={active === null ? undefined : `audit-row-${active}`}
        aria-busy={list.isBehind}
        tabIndex={0}
        onKeyDown={(event) => handleListKey(event, list, onOpen)}
        onScroll={window.onScroll}
      >
        <div className="virtual-list__space" role="presentation" style={{ height: window.sheetHeight }}>
          {indexes.map((index) => {
            const row = rows.rowAt(index);
            return (
              <ListRow
                key={index}
                list={list}
                index={index}
                row={row}
                facets={facets}
                isSelected={row !== undefined && (isAll || selected.has(row.conversationId))}
                top={window.topOf(index)}
                onClick={(event) => onRowClick(event, index)}
                onOpen={onOpen}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}
