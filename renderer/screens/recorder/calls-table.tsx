import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { AuditFilter, AuditPage, AuditRow } from '../../../shared/contract/audit.ts';
import { Spinner } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatCost, formatCount, formatPlural, formatRunDuration, formatWhole } from '../../components/format.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { useActions } from '../../stores/actions.ts';
import { useRecorderView } from '../../stores/recorder.ts';
import { programName } from './program-name.ts';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function timeText(createdAt: string): string {
  const time = new Date(createdAt);
  return (time.toDateString() === new Date().toDateString() ? clock : dayAndClock).format(time);
}

function Status({ run: { status, finishReason, httpStatus } }: Pick<AuditRow, 'run'>) {
  if (status === 'Running')
    return (
      <span className="accent row">
        <Spinner />
        Live
      </span>
    );
  if (finishReason === 'ContentFilter') return <span className="negative medium">Blocked</span>;
  if (status === 'Completed') return <span className="secondary numbers">{httpStatus ?? 'OK'}</span>;
  if (status === 'Cancelled') return <span className="caution">Cancelled</span>;
  // A response that began with 200 and broke off has failed, too.
  const isError = httpStatus !== null && httpStatus >= 400;
  return <span className="negative medium numbers">{isError ? httpStatus : 'Failed'}</span>;
}

interface CallRowProps {
  row: AuditRow;
  isSelected: boolean;
  onSelect: (conversationId: string) => void;
}

function CallRow({ row: { conversationId, runs, run }, isSelected, onSelect }: CallRowProps) {
  const element = useRef<HTMLTableRowElement>(null);
  const open = () => onSelect(conversationId);
  useEffect(() => {
    if (isSelected) element.current?.scrollIntoView?.({ block: 'nearest' });
  }, [isSelected]);
  return (
    <tr ref={element} className={classNames(isSelected && 'is-selected')} aria-selected={isSelected} onClick={open}>
      <td className="numbers">
        <button type="button" className="recorded-calls__open" onClick={open}>
          {timeText(run.createdAt)}
        </button>
      </td>
      <td className="truncate medium" title={run.origin.client ?? undefined}>
        {programName(run.origin.client)}
      </td>
      <td className="truncate" title={run.model}>
        {run.model}
      </td>
      <td>
        <Status run={run} />
      </td>
      <td className="right numbers">{formatWhole(runs)}</td>
      <td className="right numbers">
        {run.usage && `${formatWhole(run.usage.prompt_tokens)} + ${formatWhole(run.usage.completion_tokens)}`}
      </td>
      <td className="right numbers">{run.cost !== null && formatCost(run.cost)}</td>
      <td className="right numbers">{run.totalMs !== null && formatRunDuration(run.totalMs)}</td>
    </tr>
  );
}

interface CallsTableProps {
  listRef: RefObject<HTMLDivElement | null>;
  page: AuditPage;
  filter: AuditFilter;
  selectedId: string | null;
  onSelect: (conversationId: string) => void;
}

/** What the list has no room for. */
function FurtherCalls({ page: { rows, total, isTotalExact }, filter }: Pick<CallsTableProps, 'page' | 'filter'>) {
  if (total <= rows.length) return null;
  return (
    <p className="recorder__further small secondary">
      The newest {formatCount(rows.length)} of {!isTotalExact && 'about '}
      {formatPlural(total, 'conversation')}.{' '}
      <Link href={auditAddress({ filter, sort: 'newest', conversationId: null, runId: null })} className="link">
        Show all in the audit
      </Link>
    </p>
  );
}

const head = [
  { name: 'Time' },
  { name: 'Program' },
  { name: 'Model' },
  { name: 'Status' },
  { name: 'Turns', isRight: true },
  { name: 'Tokens', isRight: true },
  { name: 'Cost', isRight: true },
  { name: 'Latency', isRight: true },
] as const;

/** One group without a name, or one for each program, that with the newest call first. */
function groupsOf(rows: readonly AuditRow[], isByProgram: boolean): [program: string | null, rows: AuditRow[]][] {
  if (!isByProgram) return [[null, [...rows]]];
  return [...Map.groupBy(rows, ({ run }) => programName(run.origin.client))];
}

/** The newest call of each conversation. J and K move through them. */
export function CallsTable({ listRef, page, filter, selectedId, onSelect }: CallsTableProps) {
  const grouping = useRecorderView((view) => view.grouping);
  const groups = groupsOf(page.rows, grouping === 'program');
  const rows = groups.flatMap(([, members]) => members);
  const step = (by: number): void => {
    const index = rows.findIndex(({ conversationId }) => conversationId === selectedId);
    const next = rows[Math.max(0, Math.min(rows.length - 1, index + by))];
    if (next) onSelect(next.conversationId);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    step(by);
  };
  const group = 'Recorder';
  useActions('recorder-calls', [
    { id: 'recorder.next', title: 'Next call', group, keys: 'J', run: () => step(1) },
    { id: 'recorder.previous', title: 'Previous call', group, keys: 'K', run: () => step(-1) },
  ]);
  return (
    <div ref={listRef} className="scroll grow" tabIndex={0} role="region" aria-label="Calls" onKeyDown={onKeyDown}>
      <table className="table recorded-calls" aria-label="Calls">
        <thead>
          <tr>
            {head.map((column) => (
              <th key={column.name} scope="col" className={'isRight' in column ? 'right' : undefined}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(([program, members]) => (
          <tbody key={program ?? ''}>
            {program !== null && (
              <tr className="recorded-calls__group">
                <th scope="rowgroup" colSpan={head.length}>
                  {program} <span className="tertiary">{formatPlural(members.length, 'conversation')}</span>
                </th>
              </tr>
            )}
            {members.map((row) => (
              <CallRow
                key={row.conversationId}
                row={row}
                isSelected={row.conversationId === selectedId}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        ))}
      </table>
      <FurtherCalls page={page} filter={filter} />
    </div>
  );
}
