import { useMemo, useState } from 'react';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatPlural, formatTime } from '../../components/format.ts';
import { Select } from '../../components/select.tsx';
import {
  type ComparedVersion,
  countRows,
  type DiffLine,
  type DiffRow,
  diffRows,
  diffSettings,
  foldRows,
  limitRows,
} from './compare-model.ts';
import { useDiffView } from '../../stores/prompts.ts';
import './compare.css';

/** Rows that are rendered at first. More would block the window before a person has read these. */
const rowsAtOnce = 400;

function Line({ line, side, isSame }: { line: DiffLine | null; side: 'before' | 'after'; isSame: boolean }) {
  if (line === null) return <td colSpan={2} className="compare__none" />;
  const Own = side === 'before' ? 'del' : 'ins';
  const state = isSame ? undefined : side === 'before' ? 'is-removed' : 'is-added';
  return (
    <>
      <td className="compare__number">{line.number}</td>
      <td className={state}>
        {line.parts.map((part, index) =>
          part.isOwn ? <Own key={index}>{part.text}</Own> : <span key={index}>{part.text}</span>,
        )}
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

function Fold({ rows }: { rows: readonly DiffRow[] }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Rows rows={rows} />;
  return (
    <tr className="compare__fold">
      <td colSpan={4}>
        <button type="button" onClick={() => setOpen(true)}>
          {formatPlural(rows.length, 'unchanged line')}
        </button>
      </td>
    </tr>
  );
}

interface TextDiffProps {
  title: string;
  before: string;
  after: string;
  /** Names of the two sides: `Version 2`. */
  names: readonly [string, string];
  /** One choice applies to all texts, so it is offered once. */
  hasToggle?: boolean;
}

const diffViews = [
  { value: 'split', label: 'Split' },
  { value: 'unified', label: 'Unified' },
] as const;

function DiffViewToggle() {
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

/** Two texts side by side with their differences highlighted. Long equal ranges are folded. */
function TextDiff({ title, before, after, names, hasToggle = false }: TextDiffProps) {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const blocks = useMemo(() => foldRows(rows), [rows]);
  const [shown, setShown] = useState(rowsAtOnce);
  const isUnified = useDiffView(({ view }) => view === 'unified');
  const changed = rows.filter(({ isSame }) => !isSame).length;
  const total = useMemo(() => countRows(blocks), [blocks]);
  const visible = useMemo(() => limitRows(blocks, shown), [blocks, shown]);
  const remark = before === after ? 'No changes' : changed === 0 ? 'Only line endings differ' : null;
  return (
    <section aria-label={title}>
      <div className="header line-top">
        <h3>{title}</h3>
        <span className="caption tertiary">{remark ?? formatPlural(changed, 'changed line')}</span>
        <span className="grow" />
        {hasToggle && changed > 0 && <DiffViewToggle />}
      </div>
      {changed > 0 && (
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
            {visible.map((block, index) =>
              block.kind === 'fold' ? <Fold key={index} rows={block.rows} /> : <Rows key={index} rows={block.rows} />,
            )}
          </tbody>
        </table>
      )}
      {total > shown && (
        <div className="compare__more">
          <Button size="small" onClick={() => setShown(shown + rowsAtOnce)}>
            Show more ({formatPlural(total, 'row')} in total)
          </Button>
        </div>
      )}
    </section>
  );
}

interface Sides {
  before: ComparedVersion;
  after: ComparedVersion;
  /** Names of the two sides: `Version 2`. */
  names: readonly [string, string];
}

function SettingsDiff({ before, after, names }: Sides) {
  const { differences, same } = useMemo(() => diffSettings(before, after), [before, after]);
  return (
    <section aria-label="Settings">
      <div className="header line-top">
        <h3>Settings</h3>
        <span className="caption tertiary">
          {differences.length === 0 ? 'No changes' : `${formatPlural(same, 'setting')} unchanged`}
        </span>
      </div>
      {differences.length > 0 && (
        <table className="compare compare--settings" aria-label="Settings">
          <thead>
            <tr>
              <th>Setting</th>
              <th>{names[0]}</th>
              <th>{names[1]}</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ name, before: old, after: fresh }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{old === null ? <span className="tertiary">Not set</span> : <del>{old}</del>}</td>
                <td>{fresh === null ? <span className="tertiary">Not set</span> : <ins>{fresh}</ins>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The differences between two versions, the texts first. */
export function VersionDifferences({ before, after, names }: Sides) {
  const hasSystemDiff = (before.systemMessage ?? '') !== (after.systemMessage ?? '');
  return (
    <>
      {hasSystemDiff && (
        <TextDiff
          hasToggle
          title="System message"
          names={names}
          before={before.systemMessage ?? ''}
          after={after.systemMessage ?? ''}
        />
      )}
      <TextDiff
        hasToggle={!hasSystemDiff}
        title="Prompt"
        names={names}
        before={before.promptText}
        after={after.promptText}
      />
      <SettingsDiff before={before} after={after} names={names} />
    </>
  );
}

export interface CompareViewProps {
  versions: readonly PromptVersion[];
  before: PromptVersion;
  after: PromptVersion;
  onChoose: (beforeId: string, afterId: string) => void;
}

/** Any two versions of a prompt side by side: texts and settings. */
export function CompareView({ versions, before, after, onChoose }: CompareViewProps) {
  const known = [...new Map([...versions, before, after].map((version) => [version.id, version])).values()];
  const options = known
    .toSorted((one, other) => other.number - one.number)
    .map(({ id, number, createdAt }) => ({ value: id, label: `Version ${number}, ${formatTime(createdAt)}` }));
  const names = [`Version ${before.number}`, `Version ${after.number}`] as const;
  const key = `${before.id}/${after.id}`;
  return (
    <>
      <div className="compare__choice">
        <Select
          label="Left version"
          size="small"
          value={before.id}
          options={options}
          onValueChange={(id) => onChoose(id, after.id)}
        />
        <Select
          label="Right version"
          size="small"
          value={after.id}
          options={options}
          onValueChange={(id) => onChoose(before.id, id)}
        />
      </div>
      <div
        className="scroll prompts__version"
        tabIndex={0}
        role="region"
        aria-label={`Version ${before.number} compared with version ${after.number}`}
      >
        <VersionDifferences key={key} before={before} after={after} names={names} />
      </div>
    </>
  );
}
