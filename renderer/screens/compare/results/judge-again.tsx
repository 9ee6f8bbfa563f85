import { Gavel } from 'lucide-react';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { MissingVerdicts } from '../../../../shared/contract/votes.ts';
import { Button } from '../../../components/button.tsx';
import { formatCost, formatPlural, formatRange } from '../../../components/format.ts';
import { Notice } from '../../../components/state-panels.tsx';
import { useMissingVerdicts } from '../../../queries/comparison-results.ts';
import { useJudgeComparison } from '../../../queries/comparisons.ts';
import { hasJudgeIn } from './cell-model.ts';

/** `Strict: 3 answers without a verdict, 2 from before the judge changed`. */
function needWords({ name, missing, stale, uncounted }: MissingVerdicts['judges'][number]): string {
  const parts = [
    missing > 0 && `${formatPlural(missing, 'answer')} without a verdict`,
    stale > 0 && `${formatPlural(stale, 'verdict')} from before the judge changed`,
    uncounted > 0 && `${formatPlural(uncounted, 'verdict')} from before its calibration`,
  ].filter((part) => part !== false);
  return `${name}: ${parts.join(', ')}.`;
}

/** About how many runs judging again takes, and what they cost. */
function costWords({ judges, cost }: MissingVerdicts): string {
  const runs = judges.reduce((sum, { missing, stale }) => sum + missing + stale, 0);
  if (runs === 0) return 'Counting them needs no run.';
  return `${formatPlural(runs, 'run')}, ${cost ? formatRange(cost, formatCost) : 'unknown price'}.`;
}

/** Says which verdicts are missing or stale after a comparison, and gets them. */
export function JudgeAgain({ comparison }: { comparison: Comparison }) {
  const { data } = useMissingVerdicts(comparison, { isEnabled: hasJudgeIn(comparison.checks) });
  const judge = useJudgeComparison();
  if (comparison.state === 'Running' || !data || data.cells === 0) return null;
  const lacking = data.judges.filter(({ missing, stale, uncounted }) => missing + stale + uncounted > 0);
  return (
    <div className="results__notice">
      <Notice tone="caution">
        <div className="row results__judge">
          <span className="grow">
            {lacking.map(needWords).join(' ')} <span className="secondary">{costWords(data)}</span>
          </span>
          <Button size="small" icon={Gavel} isBusy={judge.isPending} onClick={() => judge.mutate(comparison.id)}>
            Judge again
          </Button>
        </div>
      </Notice>
    </div>
  );
}
