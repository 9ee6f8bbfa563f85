import type { KeyboardEvent } from 'react';
import type { AuditRow } from '../../../shared/contract/audit.ts';
import { Spinner } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatCost, formatRunDuration, formatWhole } from '../../components/format.ts';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function Status({ run }: Pick<AuditRow, 'run'>) {
  if (run.status === 'Running')
    return (
      <span className="accent row">
        <Spinner />
        Live
      </span>
    );
  if (run.finishReason === 'ContentFilter') return <span className="negative medium">Blocked</span>;
  if (run.status === 'Completed') return <span className="secondary">OK</span>;
  return <span className={run.status === 'Failed' ? 'negative medium' : 'caution'}>{run.status}</span>;
}

interface CallRowProps {
  row: AuditRow;
  isSelected: boolean;
  onSelect: (conversationId: string) => void;
}

function CallRow({ row: { conversationId, runs, run }, isSelected, onSelect }: CallRowProps) {
  const open = () => onSelect(conversationId);
  return (
    <tr className={classNames(isSelected && 'is-selected')} aria-selected={isSelected} onClick={open}>
      <td className="numbers">
        <button type="button" className="recorded-calls__open" onClick={open}>
          {clock.format(new Date(run.createdAt))}
        </button>
      </td>
      <td className="truncate medium">{run.origin.client ?? 'unknown'}</td>
      <td className="truncate">{run.model}</td>
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
  rows: readonly AuditRow[];
  selectedId: string | null;
  onSelect: (conversationId: string) => void;
}

/** The newest call of each conversation. */
export function CallsTable({ rows, selectedId, onSelect }: CallsTableProps) {
  const step = (event: KeyboardEvent, by: number): void => {
    event.preventDefault();
    const index = rows.findIndex(({ conversationId }) => conversationId === selectedId);
    const next = rows[Math.max(0, Math.min(rows.length - 1, index + by))];
    if (next) onSelect(next.conversationId);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'j') step(event, 1);
    else if (event.key === 'ArrowUp' || event.key === 'k') step(event, -1);
  };
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Calls" onKeyDown={onKeyDown}>
      <table className="table recorded-calls" aria-label="Calls">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Program</th>
            <th scope="col">Model</th>
            <th scope="col">Status</th>
            <th scope="col" className="right">
              Turns
            </th>
            <th scope="col" className="right">
              Tokens
            </th>
            <th scope="col" className="right">
              Cost
            </th>
            <th scope="col" className="right">
              Latency
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <CallRow
              key={row.conversationId}
              row={row}
              isSelected={row.conversationId === selectedId}
              onSelect={onSelect}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
