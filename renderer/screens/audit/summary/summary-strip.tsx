import { Table2 } from 'lucide-react';
import { memo, useState } from 'react';
import type { AuditBucket, AuditFilter, AuditSummary } from '../../../../shared/contract/audit.ts';
import { Dialog } from '../../../components/dialog.tsx';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPlural,
  formatScore,
  formatWhole,
} from '../../../components/format.ts';
import { BarChart, bucketEnd, bucketLabel, LineChart } from './chart.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { useAuditSummary } from '../../../queries/audit.ts';
import './summary.css';

function durationOrDash(milliseconds: number | null | undefined): string {
  return milliseconds == null ? '' : formatDuration(milliseconds);
}

function formatMean(score: number | null): string {
  if (score === null) return 'none';
  return formatScore(Number(score.toFixed(1)));
}

type Priced = Pick<AuditBucket, 'runs' | 'cost' | 'runsWithoutCost'>;

/** Null if there are runs, and the cost of each is unknown. */
function knownCost({ runs, cost, runsWithoutCost }: Priced): number | null {
  return runs > 0 && runsWithoutCost === runs ? null : cost;
}

function costOrUnknown(priced: Priced): string {
  const cost = knownCost(priced);
  return cost === null ? 'unknown' : formatCost(cost);
}

/** Null if the cost of every run is known. */
function withoutPrice({ runsWithoutCost }: Priced): string | null {
  return runsWithoutCost === 0 ? null : `${formatPlural(runsWithoutCost, 'run')} without price`;
}

function costReading(priced: Priced): string {
  return [costOrUnknown(priced), withoutPrice(priced)].filter((part) => part !== null).join(', ');
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
                {durationOrDash(latency?.[column])}
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
          {['Runs', 'Failed', 'Tokens', 'Cost', 'Without price', 'p50', 'p95', 'Feedback', 'Mean score'].map((name) => (
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
            <td className="right">{costOrUnknown(bucket)}</td>
            <td className="right">{formatWhole(bucket.runsWithoutCost)}</td>
            <td className="right">{durationOrDash(bucket.p50)}</td>
            <td className="right">{durationOrDash(bucket.p95)}</td>
            <td className="right">{formatWhole(bucket.feedback.count)}</td>
            <td className="right">{formatMean(bucket.feedback.averageScore)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The figures behind the charts, as tables. */
function FiguresDialog({ summary, isOpen, onClose }: { summary: AuditSummary; isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Metrics" isOpen={isOpen} onClose={onClose} isWide>
      <p className="small secondary">
        Counts all matching runs. Cost covers the runs with a known price. Percentiles are accurate to 1%.
      </p>
      <div className="scroll figures__scroll" tabIndex={0} role="group" aria-label="Metric tables">
        <Latencies summary={summary} />
        <Buckets summary={summary} />
      </div>
    </Dialog>
  );
}

/** Most days have few failures or none, so the note shows only when there are any. */
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
        value={costOrUnknown(summary)}
        // Short, so that the chart's name isn't cut in a window of 1,280 pixels.
        note={
          summary.runsWithoutCost === 0
            ? formatPlural(summary.totalTokens, 'token')
            : `${formatCount(summary.runsWithoutCost)} unpriced`
        }
        values={buckets.map(knownCost)}
        readings={of(costReading)}
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

interface SummaryStripProps {
  filter: AuditFilter;
  /** Filters the list by a time span. */
  onSpan: (startDate: string, endDate: string) => void;
}

/**
 * Counts, cost, latency and feedback of the matches over time. It keeps its height while the figures load. Memoized: it has
 * hundreds of bars, which don't change while a person goes through the list.
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
