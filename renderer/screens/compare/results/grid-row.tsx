import { Check, CircleX, Clock, Minus, TriangleAlert, X } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { memo, useEffect, useState } from 'react';
import type { ComparedCell, ComparedRow } from '../../../../shared/contract/comparison-results.ts';
import { Spinner } from '../../../components/badges.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import {
  type CellSummary,
  type CellTone,
  cellNumbers,
  fieldCount,
  letterOf,
  quotedParts,
  repeatsOf,
  repeatWords,
  rowWords,
  summarize,
} from './cell-model.ts';

/** Checks that have a line in every row. */
export const shownChecks = 8;
/** Variants that have a mark for each check. More would push the answers out of the window. */
export const shownMarks = 8;
/** Repeats that have a dot. */
const shownDots = 8;

export interface GridColumns {
  variants: readonly string[];
  repeats: number;
  /** Names of the checks. */
  checks: readonly string[];
  columns: readonly { name: string; type: string }[];
  titleColumn: string | null;
}

const stateIcons: Partial<Record<CellTone, LucideIcon>> = {
  positive: Check,
  negative: CircleX,
  caution: TriangleAlert,
};
const fills = ['', 'is-second', 'is-third'];

/** One dot a repeat; equal answers have the same fill. */
function Repeats({ summary }: { summary: CellSummary }) {
  const words = repeatWords(summary);
  if (words === '') return null;
  return (
    <span className={classNames('repeats', summary.distinct > 1 && 'caution')}>
      {summary.answers.length <= shownDots && (
        <span className="repeats__dots" aria-hidden="true">
          {summary.answers.map((answer, repeat) => (
            <i key={repeat} className={answer === null ? 'is-failed' : fills[answer % fills.length]} />
          ))}
        </span>
      )}
      {words}
    </span>
  );
}

/** An answer with the part underlined that a failed check quotes. */
export function AnswerText({ cell }: { cell: Pick<ComparedCell, 'answer' | 'checks'> }) {
  return quotedParts(cell.answer ?? '', cell.checks).map(({ text, isQuoted }, index) =>
    isQuoted ? (
      <span key={index} className="is-quoted">
        {text}
      </span>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}

function CellState({ summary }: { summary: CellSummary }) {
  const icon = summary.word === 'Queued' || summary.word === 'Stopped' ? Clock : stateIcons[summary.tone];
  return (
    <span className={classNames('cell__state', summary.tone)}>
      {summary.tone === 'accent' ? <Spinner /> : icon && <Icon icon={icon} size="tiny" />}
      {summary.word}
    </span>
  );
}

function CellContent({ repeats }: { repeats: readonly ComparedCell[] }) {
  const summary = summarize(repeats);
  const cell = repeats[summary.shown]!;
  const fields = fieldCount(cell);
  const failure = cell.answer === null ? cell.failure?.message : undefined;
  return (
    <>
      <span className="cell__top">
        <CellState summary={summary} />
        {repeats.length > 1 && <Repeats summary={summary} />}
      </span>
      {failure === undefined ? (
        <span className={classNames('cell__answer', cell.answer?.startsWith('{') && 'mono')}>
          {cell.state === 'Completed' && cell.answer === '' ? (
            <span className="tertiary">Empty answer</span>
          ) : (
            <AnswerText cell={cell} />
          )}
        </span>
      ) : (
        <span className="cell__answer secondary">{failure}</span>
      )}
      <span className="cell__meta">
        {cellNumbers(cell).map((text) => (
          <span key={text}>{text}</span>
        ))}
        {fields && (
          <span className={classNames('cell__fields', fields.agreeing < fields.total ? 'negative' : 'tertiary')}>
            {fields.agreeing}/{fields.total} fields
          </span>
        )}
      </span>
    </>
  );
}

const marks = {
  pass: { icon: Check, tone: 'positive', word: 'passes' },
  fail: { icon: X, tone: 'negative', word: 'fails' },
  none: { icon: Minus, tone: 'tertiary', word: 'not judged' },
} as const;

/** Whether a check of an answer passes, as an icon with its word for screen readers. */
export function CheckMark({ pass }: { pass: boolean | null }) {
  const { icon, tone, word } = marks[pass === null ? 'none' : pass ? 'pass' : 'fail'];
  return (
    <span className={tone}>
      <Icon icon={icon} size="small" />
      <span className="visually-hidden">{word}</span>
    </span>
  );
}

/** Fails if it fails for any repeat. */
function passOf(repeats: readonly ComparedCell[], check: number): boolean | null {
  const passes = repeats.flatMap(({ checks }) => checks[check]?.pass ?? []);
  if (passes.includes(false)) return false;
  return passes.length > 0 ? true : null;
}

/** The marks of a check, or for many variants how many pass. */
function CheckMarks({ passes }: { passes: readonly (boolean | null)[] }) {
  if (passes.length <= shownMarks) {
    return passes.map((pass, variant) => (
      <span key={variant}>
        <span className="visually-hidden">{letterOf(variant)} </span>
        <CheckMark pass={pass} />
      </span>
    ));
  }
  const judged = passes.filter((pass) => pass !== null).length;
  const failing = passes.flatMap((pass, variant) => (pass === false ? letterOf(variant) : []));
  if (judged === 0) return <CheckMark pass={null} />;
  return (
    <span title={failing.length === 0 ? 'All pass' : `Fail: ${failing.join(', ')}`}>
      {judged - failing.length} of {judged} pass
    </span>
  );
}

/** Checks in the same order in every row, with a mark for each variant. */
function RowChecks({ row, columns: { checks, variants, repeats } }: { row: ComparedRow; columns: GridColumns }) {
  const cells = variants.map((_, variant) => repeatsOf(row, variant, repeats));
  const shown = checks.length > shownChecks ? checks.slice(0, shownChecks - 1) : checks;
  if (checks.length === 0) return <span className="caption tertiary">No checks</span>;
  return (
    <>
      {shown.map((name, check) => {
        const passes = cells.map((own) => passOf(own, check));
        const counts = !cells.some((own) => own.some((cell) => cell.checks[check]?.counts === false));
        const isFailed = counts && passes.includes(false);
        return (
          <span
            key={check}
            className={classNames('checks__row', isFailed && 'is-failed', !counts && 'is-uncounted')}
            title={counts ? undefined : "Doesn't count yet: the judge is not calibrated"}
          >
            <span className="truncate">
              {name}
              {!counts && <span className="visually-hidden">, doesn't count yet</span>}
            </span>
            <CheckMarks passes={passes} />
          </span>
        );
      })}
      {checks.length > shown.length && (
        <span className="caption tertiary">{checks.length - shown.length} more in each cell</span>
      )}
    </>
  );
}

function RowPlaceholder({ variants }: { variants: number }) {
  return Array.from({ length: variants + 2 }, (_, cell) => (
    <div key={cell} className="cell" role="gridcell" aria-label="Loading">
      <span className="placeholder__bar" />
    </div>
  ));
}

interface GridRowProps {
  index: number;
  /** Undefined while it loads. */
  row: ComparedRow | undefined;
  columns: GridColumns;
  /** The variant whose cell is open; null if none of this row is. */
  openVariant: number | null;
  /** Pixels from the top. */
  top: number;
  height: number;
  onOpen: (index: number, variant: number) => void;
}

/** The cell of a variant. It is drawn again only when one of its repeats changes. */
const VariantCell = memo(
  function VariantCell({ repeats }: { repeats: readonly ComparedCell[] }) {
    return <CellContent repeats={repeats} />;
  },
  (before, after) => before.repeats.every((cell, repeat) => cell === after.repeats[repeat]),
);

/** The cells of a row. The row is drawn before its new cells are, and then these stay as they are. */
const RowCells = memo(function RowCells({
  index,
  row,
  columns,
  openVariant,
  onOpen,
}: Omit<GridRowProps, 'row' | 'top' | 'height'> & { row: ComparedRow }) {
  const words = rowWords(row, columns.columns, columns.titleColumn);
  return (
    <>
      <div className="cell cell--input" role="rowheader">
        <span className="cell__head">
          <span className="tertiary numbers">{formatWhole(row.position + 1)}</span>
          {words.title !== '' && <span className="medium truncate">{words.title}</span>}
        </span>
        <span className="cell__source">{words.text}</span>
      </div>
      <div
        className={classNames('cell checks', columns.variants.length > shownMarks && 'checks--many')}
        role="gridcell"
      >
        <RowChecks row={row} columns={columns} />
      </div>
      {columns.variants.map((name, variant) => (
        <div
          key={name}
          id={`result-${index}-${variant}`}
          className={classNames('cell cell--answer', openVariant === variant && 'is-open')}
          role="gridcell"
          aria-selected={openVariant === variant}
          onClick={() => onOpen(index, variant)}
        >
          <VariantCell repeats={repeatsOf(row, variant, columns.repeats)} />
        </div>
      ))}
    </>
  );
});

/** Cells that are drawn in one frame, but at least one row: a cell takes up to a millisecond. */
const cellsPerFrame = 10;
/** Draws that wait for their frame, with their cells. */
const waiting = new Map<() => void, number>();
let cellsInFrame = 0;
let isScheduled = false;

function startFrame(): void {
  isScheduled = false;
  cellsInFrame = 0;
  for (const [draw, cells] of waiting) {
    if (!takeTurn(cells)) break;
    waiting.delete(draw);
    draw();
  }
  schedule();
}

function schedule(): void {
  if (isScheduled || (waiting.size === 0 && cellsInFrame === 0)) return;
  isScheduled = true;
  requestAnimationFrame(startFrame);
}

/** Whether so many cells may be drawn now, and not in a later frame. */
function takeTurn(cells: number): boolean {
  if (cellsInFrame > 0 && cellsInFrame + cells > cellsPerFrame) return false;
  cellsInFrame += cells;
  schedule();
  return true;
}

/**
 * The newest row, or for some frames the one before it, undefined for none: all rows in view change at once when they have loaded, while
 * cells stream, and where somebody jumps to.
 */
function useInTurn(row: ComparedRow | undefined): ComparedRow | undefined {
  const [drawn, setDrawn] = useState(() => (row && takeTurn(row.cells.length) ? row : undefined));
  if (row === undefined && drawn !== undefined) setDrawn(undefined);
  useEffect(() => {
    if (row === undefined || drawn === row) return;
    const draw = () => setDrawn(row);
    waiting.set(draw, row.cells.length);
    schedule();
    return () => {
      waiting.delete(draw);
    };
  }, [row, drawn]);
  return row && drawn;
}

/** A row of the table, at its place. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { index, columns, top, height, openVariant, onOpen } = props;
  const row = useInTurn(props.row);
  return (
    <div
      className="results__row"
      role="row"
      aria-rowindex={index + 2}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {row ? (
        <RowCells index={index} row={row} columns={columns} openVariant={openVariant} onOpen={onOpen} />
      ) : (
        <RowPlaceholder variants={columns.variants.length} />
      )}
    </div>
  );
});
