import type { AuditSummary } from '../../../../shared/contract/audit.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { formatCost, formatDuration, formatScore, formatWhole } from '../../../components/format.ts';
import { bucketLabel } from './chart-model.ts';

function duration(milliseconds: number | null | undefined): string {
  return milliseconds == null ? '' : formatDuration(milliseconds);
}

export function formatMean(score: number | null): string {
  if (score === null) return 'none';
  return formatScore(Number(score.toFixed(1)));
}

function Latencies({ summary }: { summary: AuditSummary }) {
  const rows = [
    ['Total', summary.latency],
    ['First token', summary.firstToken],
  ] as const;
  const columns = ['p50', 'p90', 'p95', 'p99', 'max'] as const;
  return (
    <table className="table figures">
      <caption>Latency percentiles</caption>
      <thead>
        <tr>
          <th scope="col">Measure</th>
          {columns.map((column) => (
            <th key={column} scope="col" className="right">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, latency]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {columns.map((column) => (
              <td key={column} className="right">
                {duration(latency?.[column])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Buckets({ summary }: { summary: AuditSummary }) {
  const { buckets, bucketSize } = summary;
  return (
    <table className="table figures">
      <caption>By {bucketSize}, newest first</caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          {['Runs', 'Failed', 'Tokens', 'Cost', 'p50', 'p95', 'Feedback', 'Mean score'].map((name) => (
            <th key={name} scope="col" className="right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {buckets.toReversed().map((bucket) => (
          <tr key={bucket.start}>
            <th scope="row">{bucketLabel(bucket, bucketSize)}</th>
            <td className="right">{formatWhole(bucket.runs)}</td>
            <td className="right">{formatWhole(bucket.failed)}</td>
            <td className="right">{formatWhole(bucket.totalTokens)}</td>
            <td className="right">{formatCost(bucket.cost)}</td>
            <td className="right">{duration(bucket.p50)}</td>
            <td className="right">{duration(bucket.p95)}</td>
            <td className="right">{formatWhole(bucket.feedback.count)}</td>
            <td className="right">{formatMean(bucket.feedback.averageScore)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The figures behind the charts, as tables. */
export function FiguresDialog({
  summary,
  isOpen,
  onClose,
}: {
  summary: AuditSummary;
  isOpen: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog title="Metrics" isOpen={isOpen} onClose={onClose} isWide>
      <p className="small secondary">
        Counts all matching runs. Cost covers runs with a known price. Percentiles are accurate to 1%.
      </p>
      <div className="scroll figures__scroll" tabIndex={0} role="group" aria-label="Metric tables">
        <Latencies summary={summary} />
        <Buckets summary={summary} />
      </div>
    </Dialog>
  );
}
