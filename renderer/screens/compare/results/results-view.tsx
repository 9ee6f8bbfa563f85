import { memo, useState } from 'react';
import { useLocation } from 'wouter';
import type { ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { Judge } from '../../../../shared/contract/judges.ts';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { ErrorFailure, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useReportSoFar, useThrottled } from '../../../queries/comparison-results.ts';
import { useComparison } from '../../../queries/comparisons.ts';
import { useJudges } from '../../../queries/judges.ts';
import { useDataset } from '../../../queries/datasets.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import type { OpenCell } from './cell-model.ts';
import { CellPanel } from './cell-panel.tsx';
import { JudgedPairs } from './judged-pairs.tsx';
import { ResultCharts } from './result-charts.tsx';
import { FieldTable, TrendTable } from './result-tables.tsx';
import { ResultsGrid } from './results-grid.tsx';
import { JudgeAgain } from './judge-again.tsx';
import { ProgressBar, ResultsHeader } from './results-header.tsx';
import { RowsHeader, type RowsState, type ResultsPart } from './rows-header.tsx';
import './results.css';

interface LoadedProps {
  comparison: Comparison;
  dataset: Dataset;
  report: ComparisonReport;
  baseline: string;
  onBaseline: (name: string) => void;
}

interface PartProps extends LoadedProps {
  part: Exclude<ResultsPart, 'rows'>;
  /** Of preferences. */
  judges: readonly Judge[];
}

function Part({ part, judges, ...props }: PartProps) {
  if (part === 'pairs') return <JudgedPairs comparison={props.comparison} judges={judges} />;
  if (part === 'charts') return <ResultCharts report={props.report} />;
  if (part === 'fields') return <FieldTable comparison={props.comparison} />;
  return <TrendTable comparison={props.comparison} />;
}

const LoadedResults = memo(function LoadedResults(props: LoadedProps) {
  const { comparison, dataset, report } = props;
  const [state, setState] = useState<RowsState>({ part: 'rows', filter: 'all', sort: 'row' });
  const [open, setOpen] = useState<OpenCell | null>(null);
  const [counts, setCounts] = useState<Parameters<typeof RowsHeader>[0]['counts']>(null);
  const judges = useJudges().data?.filter(({ verdict }) => verdict.kind === 'preference') ?? [];
  const isOpen = open !== null && state.part === 'rows';
  return (
    <div className={classNames('results', isOpen && 'has-cell')}>
      <section className="panel results__main" aria-label="Results">
        <RowsHeader
          comparison={comparison}
          report={report}
          hasFields={dataset.columns.some(({ type }) => type === 'expected')}
          hasPairs={judges.length > 0 && comparison.variants.length > 1}
          state={state}
          counts={counts}
          onChange={(next) => {
            setState(next);
            setOpen(null);
          }}
        />
        {state.part === 'rows' ? (
          <ResultsGrid
            key={`${state.filter}/${state.sort}`}
            {...props}
            order={{ filter: state.filter, sort: state.sort }}
            open={open}
            onOpen={setOpen}
            onCounts={setCounts}
          />
        ) : (
          <Part {...props} part={state.part} judges={judges} />
        )}
      </section>
      {isOpen && (
        <CellPanel
          comparison={comparison}
          dataset={dataset}
          report={report}
          order={{ filter: state.filter, sort: state.sort }}
          open={open}
          onOpen={setOpen}
        />
      )}
    </div>
  );
});

/** The progress bar follows the counts, which change five times a second; everything else follows them so often. */
const countsMilliseconds = 1000;

/** A comparison whose counts change only now and then while it runs. Its state is never old. */
function useCalmed(comparison: Comparison): Comparison {
  const calmed = useThrottled(comparison, countsMilliseconds);
  return calmed.state === 'Running' && comparison.state === 'Running' ? calmed : comparison;
}

function Results({ comparison }: { comparison: Comparison }) {
  const calmed = useCalmed(comparison);
  const [baseline, setBaseline] = useState(comparison.baseline);
  const dataset = useDataset(comparison.datasetId, comparison.datasetVersion);
  const report = useReportSoFar(comparison, baseline);
  return (
    <>
      <ResultsHeader comparison={calmed} datasetName={dataset.data?.name ?? null} />
      <ProgressBar comparison={comparison} />
      {comparison.warnings.map((warning) => (
        <div key={warning} className="results__notice">
          <Notice tone="caution">{warning}</Notice>
        </div>
      ))}
      {comparison.stopReason !== null && comparison.stopReason !== 'Stopped.' && (
        <div className="results__notice">
          <Notice tone="caution">{comparison.stopReason}</Notice>
        </div>
      )}
      <JudgeAgain comparison={calmed} />
      <QueryView query={dataset} subject="the dataset">
        {(loaded) => (
          <QueryView query={report} subject="the results" rows={6}>
            {(found) => (
              <LoadedResults
                comparison={calmed}
                dataset={loaded}
                report={found}
                baseline={baseline}
                onBaseline={setBaseline}
              />
            )}
          </QueryView>
        )}
      </QueryView>
    </>
  );
}

/** The results of a comparison, also while it runs. */
export function ResultsView({ comparisonId }: { comparisonId: string }) {
  const [, navigate] = useLocation();
  const comparison = useComparison(comparisonId);
  useShowPageTitle(comparison.data?.name ?? null);
  if (comparison.isError && !comparison.data) {
    return (
      <ErrorFailure title="Couldn't load the comparison" error={comparison.error}>
        <Button onClick={() => void comparison.refetch()}>Retry</Button>
        <Button onClick={() => navigate('/compare')}>All comparisons</Button>
      </ErrorFailure>
    );
  }
  return (
    <QueryView query={comparison} subject="the comparison" rows={6}>
      {(loaded) => <Results comparison={loaded} />}
    </QueryView>
  );
}
