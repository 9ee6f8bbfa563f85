import { Table2 } from 'lucide-react';
import { memo, useState } from 'react';
import type { AuditBucket, AuditFilter, AuditSummary } from '../../../../shared/contract/audit.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatCount, formatDuration, formatPlural, formatWhole } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { useAuditSummary } from '../../../queries/audit.ts';
import { bucketEnd, bucketLabel } from './chart-model.ts';
import { BarChart, LineChart } from './chart.tsx';
import { FiguresDialog, formatMean } from './figures-dialog.tsx';
import './summary.css';

/** Failures are few or none on most days: said only where there are any. */
function failedNote({ statuses }: AuditSummary): string {
  const failed = statuses.find(({ status }) => status === 'Failed')?.runs ?? 0;
  return failed === 0 ? '0 failed' : `${formatCount(failed)} failed`;
}

interface ChartsProps {
  summary: AuditSummary;
  onChoose: (bucket: AuditBucket) => void;
}

function Charts({ summary, onChoose }: ChartsProps) {
  const { buckets, bucketSize, latency, feedback } = summary;
  const of = (read: (bucket: AuditBucket) => string): string[] =>
    buckets.map((bucket) => `${bucketLabel(bucket, bucketSize)}: ${read(bucket)}`);
  const choose = (index: number): void => {
    const bucket = buckets[index];
    if (bucket) onChoose(bucket);
  };
  const highest = Math.max(...buckets.map(({ p95 }) => p95 ?? 0), 1);
  const duration = (milliseconds: number | null) => (milliseconds === null ? 'none' : formatDuration(milliseconds));
  return (
    <>
      <BarChart
        name={`Runs by ${bucketSize}`}
        value={formatCount(summary.runs)}
        note={failedNote(summary)}
        values={buckets.map(({ runs }) => runs)}
        readings={of(({ runs }) => formatWhole(runs))}
        onChoose={choose}
      />
      <BarChart
        name={`Cost by ${bucketSize}`}
        value={formatCost(summary.cost)}
        note={formatPlural(summary.totalTokens, 'token')}
        values={buckets.map(({ cost }) => cost)}
        readings={of(({ cost }) => formatCost(cost))}
        onChoose={choose}
      />
      <LineChart
        name="Latency p95"
        value={latency ? formatDuration(latency.p95) : 'none'}
        note={latency ? `p50 ${formatDuration(latency.p50)}` : ''}
        values={buckets.map(({ p95 }) => p95)}
        second={buckets.map(({ p50 }) => p50)}
        range={[0, highest]}
        readings={of(({ p95 }) => duration(p95))}
        onChoose={choose}
      />
      <LineChart
        name="Mean score"
        value={formatMean(feedback.averageScore)}
        note={feedback.count === 0 ? 'No ratings' : `${formatCount(feedback.count)} rated`}
        values={buckets.map((bucket) => bucket.feedback.averageScore)}
        range={[-10, 10]}
        base={0}
        readings={of((bucket) => formatMean(bucket.feedback.averageScore))}
        onChoose={choose}
      />
    </>
  );
}

export interface SummaryStripProps {
  filter: AuditFilter;
  /** Narrows the list to a span of time. */
  onSpan: (startDate: string, endDate: string) => void;
}

/**
 * Counts, cost, latency and feedback of what matches, over time. It keeps its height while figures are on their way.
 * Memoized: it has hundreds of bars, which going through the list leaves as they are.
 */
export const SummaryStrip = memo(function SummaryStrip({ filter, onSpan }: SummaryStripProps) {
  const query = useAuditSummary(filter);
  const [isOpen, setOpen] = useState(false);
  const summary = query.data;
  if (query.error && !summary) {
    return (
      <div className="charts charts--failed">
        <ErrorFailure title="Couldn't load the metrics" error={query.error}>
          <Button onClick={() => void query.refetch()}>Retry</Button>
        </ErrorFailure>
      </div>
    );
  }
  return (
    <div
      className={classNames('charts', query.isPlaceholderData && 'is-behind')}
      role="group"
      aria-label="Metrics of matching runs"
      aria-busy={query.isFetching}
    >
      {summary ? (
        <>
          <Charts
            summary={summary}
            onChoose={(bucket) => onSpan(bucket.start, bucketEnd(bucket, summary.bucketSize))}
          />
          <span className="charts__table">
            <IconButton icon={Table2} label="View as table" size="small" onClick={() => setOpen(true)} />
          </span>
          <FiguresDialog summary={summary} isOpen={isOpen} onClose={() => setOpen(false)} />
        </>
      ) : (
        ['Runs', 'Cost', 'Latency p95', 'Mean score'].map((name) => (
          <div key={name} className="chart">
            <span className="caption tertiary">{name}</span>
            <div className="chart__plot" />
          </div>
        ))
      )}
    </div>
  );
});
