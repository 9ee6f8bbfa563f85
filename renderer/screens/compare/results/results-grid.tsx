import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type KeyboardEvent, useCallback, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import type { ComparisonReport, RowFilter } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import { Button } from '../../../components/button.tsx';
import { EmptyState, ErrorFailure } from '../../../components/state-panels.tsx';
import { type RowOrder, rowsPerPage, useComparedRows } from '../../../queries/comparison-results.ts';
import { checkName } from './cell-model.ts';
import { GridHead } from './grid-head.tsx';
import { type GridColumns, GridRow, shownChecks, shownMarks } from './grid-row.tsx';
import type { OpenCell } from './cell-model.ts';

interface ResultsGridProps {
  comparison: Comparison;
  dataset: Dataset;
  report: ComparisonReport;
  baseline: string;
  onBaseline: (name: string) => void;
  order: RowOrder;
  open: OpenCell | null;
  onOpen: (cell: OpenCell) => void;
  onCounts: (counts: Readonly<Record<RowFilter, number>> | null) => void;
}

const emptyWords: Readonly<Record<RowFilter, readonly [title: string, reason: string]>> = {
  all: ['No rows', 'The dataset has no rows.'],
  differs: ['No row differs', 'In every row, all variants have the same result so far.'],
  fails: ['No row fails', 'No run failed, and no check of an answer.'],
  disagrees: ['No disagreement', 'In every row that people voted on, the judge says the same.'],
};

/** The cell that a key moves to; null if the key doesn't. */
function target(key: string, { index, variant }: OpenCell, last: OpenCell, page: number): OpenCell | null {
  const to = (row: number, column = variant) => ({
    index: Math.min(Math.max(row, 0), last.index),
    variant: Math.min(Math.max(column, 0), last.variant),
  });
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return to(index + 1);
    case 'ArrowUp':
    case 'k':
      return to(index - 1);
    case 'ArrowRight':
      return to(index, variant + 1);
    case 'ArrowLeft':
      return to(index, variant - 1);
    case 'PageDown':
      return to(index + page);
    case 'PageUp':
      return to(index - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(last.index);
    default:
      return null;
  }
}

interface KeyContext {
  open: OpenCell | null;
  first: OpenCell;
  last: OpenCell;
  rowHeight: number;
}

/** As `target`; without an open cell, every key that moves opens the first one in view, and Enter does. */
function cellAfterKey(event: KeyboardEvent, { open, first, last, rowHeight }: KeyContext): OpenCell | null {
  const { key, target: focused, currentTarget: grid, ctrlKey, metaKey, altKey } = event;
  if (focused !== grid || ctrlKey || metaKey || altKey || last.index < 0) return null;
  const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight) - 2);
  if (open !== null) return target(key, open, last, page);
  return key === 'Enter' || target(key, last, last, page) !== null ? first : null;
}

/** Height of every row: the lines of its checks, or of an answer. */
function rowHeightFor(checks: number): number {
  return 28 + 20 * Math.max(4, Math.min(checks, shownChecks));
}

function gridStyle(variants: number, rowHeight: number) {
  const marks = variants > shownMarks ? 0 : variants;
  return { '--variants': variants, '--marks': marks, '--lines': (rowHeight - 48) / 20 } as CSSProperties;
}

/** The rows in view of a table that can have 100,000, and the pages that they need. */
function useRowsInView(props: ResultsGridProps, rowHeight: number) {
  const { comparison, order } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const known = useRef(order.filter === 'all' ? comparison.rowCount : 1);
  const virtualizer = useVirtualizer({
    count: known.current,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 3,
  });
  const items = virtualizer.getVirtualItems();
  const perPage = rowsPerPage(comparison);
  const [first, last] = [
    Math.floor((items[0]?.index ?? 0) / perPage),
    Math.floor((items.at(-1)?.index ?? 0) / perPage),
  ];
  const rows = useComparedRows(
    comparison,
    order,
    Array.from({ length: last - first + 1 }, (_, page) => first + page),
  );
  known.current = rows.total ?? known.current;
  const { counts } = rows;
  const tellCounts = useEffectEvent(props.onCounts);
  useEffect(() => {
    tellCounts(counts);
  }, [counts]);
  const show = useEffectEvent((index: number) => virtualizer.scrollToIndex(index));
  const openIndex = props.open?.index ?? null;
  useEffect(() => {
    if (openIndex !== null) show(openIndex);
  }, [openIndex]);
  const total = rows.total ?? (order.filter === 'all' ? comparison.rowCount : 0);
  return { scroller, virtualizer, items, rows, total };
}

function useColumns({ variants, repeats, checks, titleColumn }: Comparison, dataset: Dataset): GridColumns {
  const checkNames = useMemo(() => checks.map(checkName), [checks]);
  return useMemo(
    (): GridColumns => ({
      variants: variants.map(({ name }) => name),
      repeats,
      checks: checkNames,
      columns: dataset.columns,
      titleColumn: titleColumn ?? null,
    }),
    [variants, repeats, checkNames, dataset.columns, titleColumn],
  );
}

function NoMatch({ filter }: { filter: RowFilter }) {
  const [title, reason] = emptyWords[filter];
  return <EmptyState title={title} reason={reason} />;
}

function RowsFailure({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <ErrorFailure title="Couldn't load some rows" error={error}>
      <Button onClick={onRetry}>Retry</Button>
    </ErrorFailure>
  );
}

/** A table with a row for each row of the dataset and a column for each variant. One tab stop; arrows move inside. */
export function ResultsGrid(props: ResultsGridProps) {
  const { comparison, dataset, report, baseline, onBaseline, order, open, onOpen } = props;
  const { variants, checks } = comparison;
  const rowHeight = rowHeightFor(checks.length);
  const columns = useColumns(comparison, dataset);
  const { scroller, virtualizer, items, rows, total } = useRowsInView(props, rowHeight);
  const onKeyDown = (event: KeyboardEvent) => {
    const last = { index: total - 1, variant: variants.length - 1 };
    const first = { index: items[0]?.index ?? 0, variant: 0 };
    const next = cellAfterKey(event, { open, first, last, rowHeight });
    if (next === null) return;
    event.preventDefault();
    onOpen(next);
  };
  const openCell = useCallback((index: number, variant: number) => onOpen({ index, variant }), [onOpen]);
  return (
    <div
      ref={scroller}
      className="scroll results__grid"
      role="grid"
      aria-label="Rows and variants"
      aria-rowcount={total + 1}
      aria-colcount={variants.length + 2}
      aria-activedescendant={open ? `result-${open.index}-${open.variant}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      style={gridStyle(variants.length, rowHeight)}
    >
      <GridHead
        comparison={comparison}
        report={report}
        baseline={baseline}
        checks={columns.checks}
        onBaseline={onBaseline}
      />
      {rows.error && <RowsFailure error={rows.error} onRetry={rows.retry} />}
      {rows.total === 0 ? (
        <NoMatch filter={order.filter} />
      ) : (
        <div className="results__rows" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <GridRow
              key={index}
              index={index}
              row={rows.rowAt(index)}
              columns={columns}
              openVariant={open?.index === index ? open.variant : null}
              top={start}
              height={rowHeight}
              onOpen={openCell}
            />
          ))}
        </div>
      )}
    </div>
  );
}
