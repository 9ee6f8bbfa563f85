import type { ComparisonReport, RowFilter, RowSort } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { Segmented } from '../../../components/choices.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { hasJudgeIn } from './cell-model.ts';

/** What the main panel shows. */
export type ResultsPart = 'rows' | 'charts' | 'pairs' | 'fields' | 'trend';

export interface RowsState {
  part: ResultsPart;
  filter: RowFilter;
  sort: RowSort;
}

const filterNames: Readonly<Record<RowFilter, string>> = {
  all: 'All',
  differs: 'Differs',
  fails: 'Fails',
  disagrees: 'Disagree with judge',
};

const sortNames: Readonly<Record<RowSort, string>> = {
  row: 'Sort by row',
  difference: 'Sort by difference',
  cost: 'Sort by cost',
  latency: 'Sort by latency',
};

interface RowsHeaderProps {
  comparison: Comparison;
  report: ComparisonReport;
  /** Whether rows may have expected JSON objects. */
  hasFields: boolean;
  /** Whether a judge can compare variants. */
  hasPairs: boolean;
  state: RowsState;
  /** Rows by filter; null until they are counted. */
  counts: Readonly<Record<RowFilter, number>> | null;
  onChange: (state: RowsState) => void;
}

/** The part of the results that is shown, and filter and order of the rows. */
export function RowsHeader({ comparison, report, hasFields, hasPairs, state, counts, onChange }: RowsHeaderProps) {
  const hasJudge = hasJudgeIn(comparison.checks);
  const filters = (Object.keys(filterNames) as RowFilter[]).filter((filter) => hasJudge || filter !== 'disagrees');
  const parts: { value: ResultsPart; label: string }[] = [
    { value: 'rows', label: 'Rows' },
    { value: 'charts', label: 'Charts' },
    ...(hasPairs ? [{ value: 'pairs' as const, label: 'Pairs' }] : []),
    ...(hasFields ? [{ value: 'fields' as const, label: 'Fields' }] : []),
    ...(comparison.basedOn === null ? [] : [{ value: 'trend' as const, label: 'Trend' }]),
  ];
  return (
    <div className="header header--line results__filter">
      <Segmented
        label="View"
        value={state.part}
        options={parts}
        onValueChange={(part) => onChange({ ...state, part })}
      />
      {state.part === 'rows' && (
        <Segmented
          label="Rows"
          value={state.filter}
          options={filters.map((value) => ({
            value,
            label: (
              <>
                {filterNames[value]} {counts && <span className="tertiary numbers">{formatWhole(counts[value])}</span>}
              </>
            ),
          }))}
          onValueChange={(filter) => onChange({ ...state, filter })}
        />
      )}
      <span className="grow" />
      <span className="caption tertiary nowrap" role="status">
        {report.isFinal
          ? formatPlural(comparison.rowCount, 'row')
          : `Results so far: ${formatPlural(report.endedRows, 'row')}`}
      </span>
      {state.part === 'rows' && (
        <Select
          label="Sort rows"
          size="small"
          value={state.sort}
          options={(Object.keys(sortNames) as RowSort[]).map((value) => ({ value, label: sortNames[value] }))}
          onValueChange={(sort) => onChange({ ...state, sort })}
        />
      )}
    </div>
  );
}
