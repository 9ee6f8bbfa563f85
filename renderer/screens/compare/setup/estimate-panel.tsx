import { Play } from 'lucide-react';
import type { ComparisonEstimate } from '../../../../shared/contract/comparison-estimates.ts';
import { Button } from '../../../components/button.tsx';
import {
  formatCost,
  formatDuration,
  formatPlural,
  formatRange,
  formatWhole,
  readNumber,
} from '../../../components/format.ts';
import { describeError, LoadingRows, Notice } from '../../../components/state-panels.tsx';
import { useSetup } from './setup-context.ts';
import { firstRows, letterOf, variantNames } from './setup-draft.ts';

type Range = { low: number; high: number };

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });

function costText(range: Range | null): string {
  return range ? formatRange(range, formatCost) : 'Unknown price';
}

function CostBar({ cost, maxCost }: { cost: Range; maxCost: number }) {
  const scale = Math.max(maxCost, cost.high) || 1;
  const at = (value: number): number => (value / scale) * 200;
  return (
    <>
      <svg
        className="estimate__bar"
        viewBox="0 0 200 16"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${costText(cost)}, cap ${formatCost(maxCost)}`}
      >
        <line x1="0" x2="200" y1="8" y2="8" className="estimate__axis" />
        <rect
          x={at(cost.low)}
          y="6"
          width={Math.max(2, at(cost.high - cost.low))}
          height="4"
          rx="2"
          className="estimate__range"
        />
        <line x1={at(maxCost)} x2={at(maxCost)} y1="0" y2="16" className="estimate__cap" />
      </svg>
      <p className="caption tertiary row">
        <span>$0</span>
        <span className="grow" />
        <span>cap {formatCost(maxCost)}</span>
      </p>
    </>
  );
}

/** The part of the estimate for the rows that will run. */
function scaled(range: Range, share: number): Range {
  return { low: range.low * share, high: range.high * share };
}

interface DetailsProps {
  estimate: ComparisonEstimate;
  share: number;
}

/** The cost of each variant and judge. */
function CostParts({ estimate: { variants, judges }, share }: DetailsProps) {
  const names = variantNames(useSetup().draft.variants);
  return (
    <dl className="facts line-top estimate__parts">
      {variants.map((variant, index) => (
        <div key={variant.name}>
          <dt className="truncate">{names[index] === variant.name ? variant.name : letterOf(index)}</dt>
          <dd>{costText(variant.cost && scaled(variant.cost, share))}</dd>
        </div>
      ))}
      {judges.map(({ judgeId, name, cost: judgeCost }) => (
        <div key={judgeId}>
          <dt className="truncate">{name}</dt>
          <dd>{costText(judgeCost && scaled(judgeCost, share))}</dd>
        </div>
      ))}
    </dl>
  );
}

function Details({ estimate, share }: DetailsProps) {
  const { draft, dataset } = useSetup();
  const { cost, tokens, seconds, variants, judgeRuns } = estimate;
  const rows = Math.round((dataset?.rowCount ?? 0) * share);
  const maxCost = readNumber(draft.maxCost) ?? 0;
  const hasCap = maxCost > 0;
  return (
    <>
      <div>
        <p className="estimate__figure">{cost ? costText(scaled(cost, share)) : 'Unknown cost'}</p>
        {hasCap && cost && <CostBar cost={scaled(cost, share)} maxCost={maxCost} />}
        {hasCap && !cost && (
          <Notice tone="caution">A price is unknown. Runs without a price don't count for the spend cap.</Notice>
        )}
      </div>
      <dl className="facts">
        <div>
          <dt>Runs</dt>
          <dd>{formatWhole(Math.round(estimate.runs * share))}</dd>
        </div>
        <div>
          <dt>
            {formatPlural(rows, 'row')} × {formatPlural(variants.length, 'variant')} × {draft.repeats}
          </dt>
          <dd />
        </div>
        {judgeRuns > 0 && (
          <div>
            <dt>Runs of judges</dt>
            <dd>{formatWhole(Math.round(judgeRuns * share))}</dd>
          </div>
        )}
        <div>
          <dt>Time</dt>
          <dd>{seconds ? formatRange(scaled(seconds, share * 1000), formatDuration) : 'Unknown'}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>{formatRange(scaled(tokens, share), (value) => compact.format(value))}</dd>
        </div>
      </dl>
      <CostParts estimate={estimate} share={share} />
      <p className="caption tertiary">{estimate.basis}</p>
      {estimate.detectable !== null && <Notice>{estimate.detectable}</Notice>}
    </>
  );
}

interface StartFootProps {
  runs: number | null;
  tryRuns: number;
  isBusy: boolean;
  failure: string | null;
  onStart: () => void;
  onTry: () => void;
}

function StartFoot({ runs, tryRuns, isBusy, failure, onStart, onTry }: StartFootProps) {
  return (
    <div className="estimate__foot line-top">
      {failure !== null && (
        <p className="small negative" role="alert">
          {failure}
        </p>
      )}
      <Button variant="primary" icon={Play} keys="Mod+Enter" isBusy={isBusy} onClick={onStart}>
        {runs === null ? 'Start' : `Start ${formatPlural(runs, 'run')}`}
      </Button>
      <div className="row">
        <Button size="small" keys="T" isBusy={isBusy} onClick={onTry}>
          Try one row
        </Button>
        {tryRuns > 0 && <span className="caption tertiary">{formatPlural(tryRuns, 'run')}</span>}
      </div>
    </div>
  );
}

/** What the comparison will take, and the buttons that start it. */
export function EstimatePanel(props: Omit<StartFootProps, 'runs' | 'tryRuns'>) {
  const { draft, dataset, estimate, input, problems } = useSetup();
  const { data, error, isFetching } = estimate;
  const rowCount = dataset?.rowCount ?? 0;
  const share = draft.isFirstRowsOnly && rowCount > firstRows ? firstRows / rowCount : 1;
  const tryRuns = input ? input.variants.length * (input.repeats ?? 1) : 0;
  const runs = input && dataset ? Math.round(rowCount * share) * tryRuns : null;
  return (
    <aside className="panel panel--inset line-left setup__estimate" aria-label="Estimate">
      <div className="header">
        <h2>Estimate</h2>
      </div>
      <div
        className="scroll grow estimate"
        tabIndex={0}
        role="region"
        aria-label="Cost, time and tokens"
        aria-busy={isFetching}
      >
        {input === null && <p className="small secondary">Complete the setup to see what it will cost.</p>}
        {input !== null && error && (
          <p className="small negative" role="alert">
            {problems.size > 0 ? 'Fix the marked fields to see what it will cost.' : describeError(error).message}
          </p>
        )}
        {input !== null && !error && !data && <LoadingRows label="Estimating" />}
        {input !== null && data && !error && <Details estimate={data} share={share} />}
      </div>
      <StartFoot {...props} runs={runs} tryRuns={tryRuns} />
    </aside>
  );
}
