import { Check, CircleX, Square } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Usage } from '../../../../shared/contract/completions.ts';
import { Icon } from '../../../components/icon.tsx';
import { Spinner } from '../../../components/badges.tsx';
import { completeWords } from '../../../components/run-words.ts';
import { WaitingForAnswer } from '../../../components/answer-parts.tsx';
import { SchemaBadge } from './json-answer.tsx';
import type { Metrics, ShownRun } from './shown-run.ts';
import { formatCost, formatPlural, formatRunDuration, runDuration, tokensText } from '../../../components/format.ts';

/** The state of the run as an icon and a label. */
export function RunStateBadge({ run }: { run: ShownRun }) {
  if (run.state === 'connecting') return <WaitingForAnswer aiSystem={run.aiSystem} model={run.model} />;
  if (run.state === 'streaming')
    return (
      <span className="row small accent">
        <Spinner />
        Streaming
      </span>
    );
  if (run.state === 'failed')
    return (
      <span className="row small negative">
        <Icon icon={CircleX} size="small" />
        Failed
      </span>
    );
  if (run.state === 'stopped')
    return (
      <span className="row small secondary">
        <Icon icon={Square} size="small" />
        Stopped
      </span>
    );
  return (
    <>
      <span className="row small secondary">
        <Icon icon={Check} size="small" />
        {completeWords(run.finishReason)}
      </span>
      <SchemaBadge run={run} />
    </>
  );
}

const tick = 100;

/** The time of `performance.now()`, updated ten times a second while `isActive`. */
function useNow(isActive: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => setNow(performance.now()), tick);
    return () => clearInterval(timer);
  }, [isActive]);
  return now;
}

interface MetricProps {
  name: string;
  /** Null shows a dash, so that the bar keeps its shape. */
  value: string | null;
  unit?: string | undefined;
  /** Pixels of the longest usual value, so that a changing number moves nothing. */
  width: number;
  title?: string | undefined;
}

function Metric({ name, value, unit, width, title }: MetricProps) {
  let shown: ReactNode = <span className="tertiary">–</span>;
  if (value !== null) shown = value;
  return (
    <div style={{ minWidth: width }} title={title}>
      <dt>{name}</dt>
      <dd>
        {shown}
        {value !== null && unit && <small>{unit}</small>}
      </dd>
    </div>
  );
}

function TimeMetric({ name, milliseconds }: { name: string; milliseconds: number | null }) {
  const time = milliseconds === null ? null : runDuration(milliseconds);
  return <Metric name={name} value={time?.value ?? null} unit={time?.unit} width={54} />;
}

export interface MetricsBarProps {
  metrics: Metrics | null;
  /** The metrics of the newest step, if those of several steps are shown. */
  newest?: { steps: number; metrics: Metrics } | null;
  /** A column shows the main values without names, and all of them on hover. */
  isColumn?: boolean;
}

function allMetrics({ firstTokenMs, totalMs, speed, credits, ...metrics }: Metrics): string {
  const about = metrics.isEstimated ? '~' : '';
  const tokens = metrics.usage && tokensText(metrics.usage, about);
  const parts = [
    firstTokenMs !== null && `First token ${formatRunDuration(firstTokenMs)}`,
    totalMs !== null && `Total ${formatRunDuration(totalMs)}`,
    speed !== null && `Speed ${about}${Math.round(speed)} tok/s`,
    tokens !== null && `Tokens ${tokens}`,
    metrics.cost !== null && `Cost ${about}${formatCost(metrics.cost)}`,
    credits !== null && formatPlural(credits, 'credit'),
    metrics.effort !== null && `Effort ${metrics.effort.requested}${metrics.effort.isSent ? '' : ' (not sent)'}`,
  ];
  return parts.filter((part) => part !== false).join('\n');
}

/** The totals: a column has no room for more. */
function withoutDetails({ prompt_tokens, completion_tokens, total_tokens }: Usage): Usage {
  return { prompt_tokens, completion_tokens, total_tokens };
}

/** The metrics of the run below its answer. */
export function MetricsBar({ metrics, newest = null, isColumn = false }: MetricsBarProps) {
  const now = useNow(metrics?.runningSince != null);
  if (!metrics) return null;
  const { runningSince, firstTokenMs, totalMs, speed, usage, isEstimated } = metrics;
  const elapsed = runningSince === null ? totalMs : Math.max(0, now - runningSince);
  const about = isEstimated ? '~' : '';
  return (
    <dl
      className="metrics"
      title={newest ? `Newest step\n${allMetrics(newest.metrics)}` : isColumn ? allMetrics(metrics) : undefined}
      aria-label="Run metrics"
    >
      {newest && <Metric name="Steps" value={String(newest.steps)} width={30} />}
      <TimeMetric name="First token" milliseconds={firstTokenMs} />
      <TimeMetric name={runningSince === null ? 'Total' : 'Elapsed'} milliseconds={elapsed} />
      <Metric name="Speed" value={speed === null ? null : about + Math.round(speed)} unit="tok/s" width={68} />
      <Metric
        name="Tokens"
        value={usage && tokensText(isColumn ? withoutDetails(usage) : usage, about)}
        width={104}
        title={isEstimated ? 'Estimated (about 4 characters per token)' : undefined}
      />
      <Metric name="Cost" value={metrics.cost === null ? null : about + formatCost(metrics.cost)} width={60} />
      {metrics.effort && (
        <Metric
          name="Effort"
          value={metrics.effort.requested}
          unit={metrics.effort.isSent ? undefined : 'not sent'}
          width={48}
          title={metrics.effort.isSent ? undefined : "The model doesn't support this effort and used its default"}
        />
      )}
      <Metric
        name="Credits"
        value={metrics.credits === null ? null : String(metrics.credits)}
        width={36}
        title={metrics.credits === null ? undefined : formatPlural(metrics.credits, 'credit')}
      />
    </dl>
  );
}
