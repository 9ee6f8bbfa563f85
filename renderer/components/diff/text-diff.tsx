import { useMemo, useState } from 'react';
import { useDiffView } from '../../stores/prompts.ts';
import { Button } from '../button.tsx';
import { Segmented } from '../choices.tsx';
import { classNames } from '../class-names.ts';
import { formatPlural, formatWhole } from '../format.ts';
import {
  comparedCharacters,
  countRows,
  type DiffBlock,
  type DiffFold,
  type DiffLine,
  type DiffPart,
  type DiffRow,
  diffTexts,
  limitRows,
} from './diff-rows.ts';
import './diff.css';

/** Rows that are rendered at first. More would block the window before a person has read these. */
const rowsAtOnce = 400;

function Part({ part: { text, isOwn, isOmission }, side }: { part: DiffPart; side: 'before' | 'after' }) {
  if (isOmission) return <span className="tertiary">{text}</span>;
  const Own = side === 'before' ? 'del' : 'ins';
  return isOwn ? <Own>{text}</Own> : <span>{text}</span>;
}

function Line({ line, side, isSame }: { line: DiffLine | null; side: 'before' | 'after'; isSame: boolean }) {
  if (line === null) return <td colSpan={2} className="compare__none" />;
  const state = isSame ? undefined : side === 'before' ? 'is-removed' : 'is-added';
  return (
    <>
      <td className="compare__number">{line.number}</td>
      <td className={state}>
        {line.parts.map((part, index) => (
          <Part key={index} part={part} side={side} />
        ))}
      </td>
    </>
  );
}

function UnifiedRow({ line, side, isSame }: { line: DiffLine; side: 'before' | 'after'; isSame: boolean }) {
  const sign = isSame ? ' ' : side === 'before' ? '-' : '+';
  return (
    <tr>
      <td className="compare__number" aria-hidden="true">
        {sign}
      </td>
      <Line line={line} side={side} isSame={isSame} />
    </tr>
  );
}

/** Removed lines before added ones, as in a patch. */
function unifiedLines(rows: readonly DiffRow[]) {
  const lines: { line: DiffLine; side: 'before' | 'after'; isSame: boolean }[] = [];
  let added: typeof lines = [];
  for (const { before, after, isSame } of rows) {
    if (isSame) lines.push(...added.splice(0));
    if (before) lines.push({ line: before, side: 'before', isSame });
    if (after && !isSame) added.push({ line: after, side: 'after', isSame });
  }
  return [...lines, ...added];
}

function Rows({ rows }: { rows: readonly DiffRow[] }) {
  const isUnified = useDiffView(({ view }) => view === 'unified');
  if (isUnified) {
    return unifiedLines(rows).map((line) => <UnifiedRow key={`${line.side}/${line.line.number}`} {...line} />);
  }
  return rows.map((row) => (
    <tr key={`${row.before?.number ?? ''}/${row.after?.number ?? ''}`}>
      <Line line={row.before} side="before" isSame={row.isSame} />
      <Line line={row.after} side="after" isSame={row.isSame} />
    </tr>
  ));
}

/** Opens from its beginning on, some rows at a time. */
function Fold({ fold: { count, rows } }: { fold: DiffFold }) {
  const [shown, setShown] = useState(0);
  const opened = useMemo(() => rows(0, shown), [rows, shown]);
  return (
    <>
      <Rows rows={opened} />
      {shown < count && (
        <tr className="compare__fold">
          <td colSpan={4}>
            <button type="button" onClick={() => setShown(shown + rowsAtOnce)}>
              {formatPlural(count - shown, 'unchanged line')}
            </button>
          </td>
        </tr>
      )}
    </>
  );
}

export interface TextDiffProps {
  title: string;
  before: string;
  after: string;
  /** Names of the two sides: `Version 2`. */
  names: readonly [string, string];
  /** One choice applies to all texts, so it is offered once. */
  hasToggle?: boolean;
  /** Instead of the number of changed lines, such as "Added". */
  note?: string;
  /** Milliseconds for the comparison of lines. */
  timeout?: number;
}

const diffViews = [
  { value: 'split', label: 'Split' },
  { value: 'unified', label: 'Unified' },
] as const;

export function DiffViewToggle() {
  const view = useDiffView((state) => state.view);
  return (
    <Segmented
      label="Diff view"
      value={view}
      options={diffViews}
      onValueChange={(next) => useDiffView.setState({ view: next })}
    />
  );
}

interface DiffTableProps extends Pick<TextDiffProps, 'title' | 'names'> {
  blocks: readonly DiffBlock[];
}

/** The rows of the two texts. The names of the sides are for screen readers. */
function DiffTable({ title, names, blocks }: DiffTableProps) {
  const isUnified = useDiffView(({ view }) => view === 'unified');
  return (
    <table className={classNames('compare mono', isUnified && 'compare--unified')} aria-label={title}>
      <colgroup>
        <col className={isUnified ? 'compare__sign' : 'compare__numbers'} />
        <col className={isUnified ? 'compare__numbers' : undefined} />
        {!isUnified && <col className="compare__numbers" />}
        <col />
      </colgroup>
      <thead className="visually-hidden">
        <tr>
          {isUnified ? (
            <th colSpan={3}>
              {names[0]} and {names[1]}
            </th>
          ) : (
            names.map((name) => (
              <th key={name} colSpan={2}>
                {name}
              </th>
            ))
          )}
        </tr>
      </thead>
      <tbody>
        {blocks.map((block, index) =>
          block.kind === 'fold' ? <Fold key={index} fold={block} /> : <Rows key={index} rows={block.rows} />,
        )}
      </tbody>
    </table>
  );
}

/** Two texts side by side with their differences highlighted. Long equal ranges are folded. */
export function TextDiff({ title, before, after, names, hasToggle = false, note, timeout }: TextDiffProps) {
  const [characters, setCharacters] = useState(comparedCharacters);
  const { blocks, changed, isWhole } = useMemo(
    () => diffTexts(before, after, { characters, ...(timeout !== undefined && { timeout }) }),
    [before, after, timeout, characters],
  );
  const [shown, setShown] = useState(rowsAtOnce);
  const total = useMemo(() => countRows(blocks), [blocks]);
  const visible = useMemo(() => limitRows(blocks, shown), [blocks, shown]);
  const remark = before === after ? 'No changes' : changed === 0 && isWhole ? 'Only line endings differ' : null;
  return (
    <section aria-label={title}>
      <div className="header line-top">
        <h3>{title}</h3>
        <span className="caption tertiary">
          {note ?? remark ?? `${formatPlural(changed, 'changed line')}${isWhole ? '' : ' so far'}`}
        </span>
        <span className="grow" />
        {hasToggle && changed > 0 && <DiffViewToggle />}
      </div>
      {changed > 0 && <DiffTable title={title} names={names} blocks={visible} />}
      {total > shown && (
        <div className="compare__more">
          <Button size="small" onClick={() => setShown(shown + rowsAtOnce)}>
            Show more ({formatPlural(total, 'row')} in total)
          </Button>
        </div>
      )}
      {total <= shown && !isWhole && (
        <div className="compare__more">
          <Button size="small" onClick={() => setCharacters(characters * 4)}>
            Compare more (only the first {formatWhole(characters)} characters from the first difference on are compared)
          </Button>
        </div>
      )}
    </section>
  );
}
