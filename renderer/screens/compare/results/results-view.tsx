import { useLocation } from 'wouter';
import { QueryView } from '../../../components/state-panels.tsx';
import { Button } from '../../../components/button.tsx';
import { useComparison, useComparisonReport } from '../../../queries/comparisons.ts';
import { comparisonVoteAddress } from '../../../shell/addresses.ts';
import { useShowPageTitle } from '../../../stores/window.ts';

/** The results of a comparison, also while it runs. */
export function ResultsView({ comparisonId }: { comparisonId: string }) {
  const [, navigate] = useLocation();
  const comparison = useComparison(comparisonId);
  const progress = JSON.stringify(comparison.data?.cells ?? null);
  const report = useComparisonReport(comparisonId, progress, { isEnabled: comparison.data !== undefined });
  useShowPageTitle(comparison.data?.name ?? null);
  return (
    <QueryView query={comparison} subject="the comparison">
      {({ name, state, cells }) => (
        <>
          <div className="toolbar">
            <h2 className="section-title">{name}</h2>
            <span className="small tertiary">
              {state}, {cells.completed} of {cells.total} runs
            </span>
            <span className="grow" />
            <Button onClick={() => navigate(comparisonVoteAddress(comparisonId))}>Blind vote</Button>
          </div>
          <QueryView query={report} subject="the report">
            {({ variants }) => (
              <ul className="scroll list-state">
                {variants.map((variant) => (
                  <li key={variant.name}>
                    {variant.name}: {variant.difference?.sentence ?? 'baseline'}
                  </li>
                ))}
              </ul>
            )}
          </QueryView>
        </>
      )}
    </QueryView>
  );
}
