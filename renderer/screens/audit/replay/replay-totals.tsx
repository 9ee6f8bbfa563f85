import type { ReplayResults } from '../../../../shared/contract/audit-replay.ts';
import { formatCost, formatDuration, formatWhole } from '../../../components/format.ts';

type Totals = ReplayResults['before'];

function change(before: number | null, after: number | null): string {
  if (!before || after === null) return '';
  const percent = Math.round((after / before - 1) * 100);
  return percent === 0 ? 'unchanged' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}

const rows: readonly { name: string; read: (totals: Totals) => number | null; format: (value: number) => string }[] = [
  { name: 'Tokens', read: ({ totalTokens }) => totalTokens, format: formatWhole },
  { name: 'Cost', read: ({ cost }) => cost, format: formatCost },
  { name: 'Mean time', read: ({ averageTotalMs }) => averageTotalMs, format: formatDuration },
  { name: 'Mean first token', read: ({ averageFirstTokenMs }) => averageFirstTokenMs, format: formatDuration },
];

/** What a replay changed in sum, over the pairs of which both sides completed. */
export function ReplayTotals({ results }: { results: ReplayResults }) {
  const { before, after, sameAnswers } = results;
  const shown = (value: number | null, format: (value: number) => string) =>
    value === null ? 'Unknown' : format(value);
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
            {shown(read(before), format)} <span className="tertiary">to</span> {shown(read(after), format)}{' '}
            <span className="tertiary">{change(read(before), read(after))}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
