import { ChevronDown, ChevronUp, FileSearch, GitCompare, RotateCcw, SquareTerminal, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { ComparedCell, ComparedRow, ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import type { Check } from '../../../../shared/contract/checks.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatPlural, formatRunDuration, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { type RowOrder, useComparedRow } from '../../../queries/comparison-results.ts';
import { useRun } from '../../../queries/runs.ts';
import { runAddress } from '../../../shell/addresses.ts';
import { auditAddress } from '../../../shell/audit-address.ts';
import { useActions } from '../../../stores/actions.ts';
import {
  checkName,
  fieldCount,
  identicalWords,
  letterOf,
  repeatsOf,
  repeatWords,
  rowWords,
  summarize,
} from './cell-model.ts';
import { Answer, AnswerDiff, CopyAnswer, RepeatChoice } from './cell-answer.tsx';
import { CellVotes } from './cell-votes.tsx';
import { CheckMark } from './grid-row.tsx';
import { useRunCommands } from './results-header.tsx';
import type { OpenCell } from './cell-model.ts';

interface ChecksProps {
  cell: ComparedCell;
  checks: readonly Check[];
}

function CellChecks({ cell, checks }: ChecksProps) {
  if (checks.length === 0) return null;
  const failed = cell.checks.filter(({ pass }) => pass === false).length;
  return (
    <section aria-label="Checks">
      <div className="header line-top">
        <h3>Checks</h3>
        {cell.checks.length > 0 && (
          <span className={classNames('caption medium', failed > 0 ? 'negative' : 'tertiary')}>
            {failed > 0 ? `${failed} of ${checks.length} fail` : `${formatPlural(checks.length, 'check')}, none fails`}
          </span>
        )}
      </div>
      {cell.checks.length === 0 ? (
        <p className="results__answer tertiary">Not checked</p>
      ) : (
        <ul className="verdicts">
          {checks.map((check, index) => {
            const result = cell.checks[index];
            if (!result || check.kind === 'judge') return null;
            return (
              <li key={index}>
                <CheckMark pass={result.pass} />
                <span>
                  {checkName(check)}
                  <span className="caption tertiary verdicts__reason">{result.reason}</span>
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

/** What judges say, with their reasons. */
function CellVerdicts({ cell }: { cell: ComparedCell }) {
  if (cell.verdicts.length === 0) return null;
  return (
    <section aria-label="Judges">
      <div className="header line-top">
        <h3>Judges</h3>
      </div>
      {cell.verdicts.map((verdict) => {
        const check = cell.checks.find(({ runIds }) => runIds?.length === 1 && runIds[0] === verdict.runId);
        const remarks = [
          verdict.counts ? null : 'not calibrated, decides nothing',
          verdict.isStale ? 'stale: the judge has changed since' : null,
          check?.cost == null ? null : formatCost(check.cost),
        ].filter((remark) => remark !== null);
        return (
          <div key={verdict.runId} className="verdict">
            <p className="row medium">
              <CheckMark pass={verdict.pass} />
              {verdict.judge}
              <span className="grow" />
              <span className="caption tertiary">
                {verdict.verdict === null ? 'no verdict' : String(verdict.verdict)}
              </span>
            </p>
            {verdict.reason !== null && <p>{verdict.reason}</p>}
            {remarks.length > 0 && <p className="caption tertiary">{remarks.join(', ')}</p>}
          </div>
        );
      })}
    </section>
  );
}

function CellFields({ cell }: { cell: ComparedCell }) {
  const fields = fieldCount(cell);
  if (!fields) return null;
  return (
    <p className="results__fields small">
      <span className={classNames('medium', fields.wrong.length > 0 ? 'negative' : 'positive')}>
        {fields.agreeing} of {formatPlural(fields.total, 'field')} as expected
      </span>
      {fields.wrong.length > 0 && <span className="tertiary"> Not: {fields.wrong.join(', ')}</span>}
    </p>
  );
}

/** The row's own values, folded. */
function RowInput({ row, dataset, titleColumn }: { row: ComparedRow; dataset: Dataset; titleColumn: string | null }) {
  const { title, text } = rowWords(row, dataset.columns, titleColumn);
  const expected = dataset.columns.filter(({ name, type }) => type === 'expected' && row.values[name] != null);
  return (
    <details className="results__input">
      <summary className="small truncate">{title || text.slice(0, 200) || 'No input'}</summary>
      <p className="results__text small">{text}</p>
      {expected.map(({ name }) => (
        <p key={name} className="results__text small">
          <span className="tertiary">{name}: </span>
          {typeof row.values[name] === 'string' ? row.values[name] : JSON.stringify(row.values[name], null, 2)}
        </p>
      ))}
    </details>
  );
}

interface CellPanelProps {
  comparison: Comparison;
  dataset: Dataset;
  report: ComparisonReport;
  order: RowOrder;
  open: OpenCell;
  onOpen: (cell: OpenCell | null) => void;
}

interface LoadedCellProps extends CellPanelProps {
  row: ComparedRow;
  isDiff: boolean;
}

function numbersOf({ totalMs, firstTokenMs, cost, promptTokens, completionTokens, attempts }: ComparedCell): string {
  return [
    totalMs === null ? null : formatRunDuration(totalMs),
    firstTokenMs === null ? null : `first token after ${formatRunDuration(firstTokenMs)}`,
    promptTokens === null ? null : `${formatWhole(promptTokens)} + ${formatWhole(completionTokens ?? 0)} tokens`,
    cost === null ? null : formatCost(cost),
    attempts > 1 ? formatPlural(attempts, 'attempt') : null,
  ]
    .filter((text) => text !== null)
    .join(', ');
}

function CellActions({ cell, comparison }: { cell: ComparedCell; comparison: Comparison }): ReactNode {
  const [, navigate] = useLocation();
  const commands = useRunCommands(comparison);
  const run = useRun(cell.state === 'Completed' ? cell.runId : null);
  const { runId } = cell;
  const key = { rowId: cell.rowId, variant: cell.variant, repeat: cell.repeat };
  return (
    <>
      {['Failed', 'Skipped', 'Stopped'].includes(cell.state) && (
        <Button size="small" icon={RotateCcw} onClick={() => commands.retry({ cell: key })}>
          Retry
        </Button>
      )}
      {cell.state === 'Running' && (
        <Button size="small" onClick={() => commands.stop({ cell: key })}>
          Stop
        </Button>
      )}
      {run.data && (
        <Link
          href={auditAddress({ filter: {}, sort: 'newest', conversationId: run.data.conversationId, runId })}
          className="link row nowrap small"
        >
          <Icon icon={FileSearch} size="small" />
          Open in audit
        </Link>
      )}
      <span className="grow" />
      {runId !== null && cell.state === 'Completed' && (
        <IconButton
          icon={SquareTerminal}
          label="Open in playground"
          size="small"
          onClick={() => navigate(runAddress(runId))}
        />
      )}
    </>
  );
}

function LoadedCell({ comparison, dataset, report, open, row, isDiff }: LoadedCellProps) {
  const { repeats, variants, checks, titleColumn } = comparison;
  const own = repeatsOf(row, open.variant, repeats);
  const summary = summarize(own);
  const [repeat, setRepeat] = useState<number | null>(null);
  const cell = own[repeat ?? summary.shown]!;
  const baseline = variants.findIndex(({ name }) => name === report.baseline);
  const base = repeatsOf(row, baseline, repeats)[cell.repeat - 1];
  const answer = cell.answer ?? '';
  return (
    <>
      <div className="scroll grow" tabIndex={0} role="region" aria-label="Answer and checks">
        <RowInput row={row} dataset={dataset} titleColumn={titleColumn} />
        <div className="header">
          {repeats > 1 && (
            <RepeatChoice repeats={repeats} value={cell.repeat} onValueChange={(value) => setRepeat(value - 1)} />
          )}
          {repeats > 1 && (
            <span className={classNames('caption medium nowrap', summary.distinct > 1 ? 'caution' : 'tertiary')}>
              {repeatWords(summary)}
            </span>
          )}
          {repeats > 1 && <span className="caption tertiary truncate">{identicalWords(summary)}</span>}
          {repeats === 1 && <span className={classNames('small medium', summary.tone)}>{summary.word}</span>}
          <span className="grow" />
          {answer !== '' && cell.state === 'Completed' && <CopyAnswer cell={cell} />}
        </div>
        {isDiff && cell.state === 'Completed' ? (
          <AnswerDiff cell={cell} base={base} names={[`Baseline ${letterOf(baseline)}`, letterOf(open.variant)]} />
        ) : (
          <Answer key={cell.runId} cell={cell} title={`Answer of ${cell.variant}`} />
        )}
        <CellFields cell={cell} />
        <p className="results__fields caption tertiary numbers">{numbersOf(cell)}</p>
        <CellChecks cell={cell} checks={checks} />
        <CellVerdicts cell={cell} />
        <CellVotes comparison={comparison} cell={cell} />
      </div>
      <div className="toolbar results__vote">
        <CellActions cell={cell} comparison={comparison} />
      </div>
    </>
  );
}

/** One cell in full: the answer of each repeat, beside that of the baseline if wanted, with checks, verdicts and votes. */
export function CellPanel(props: CellPanelProps) {
  const { comparison, order, open, onOpen } = props;
  const [isDiff, setDiff] = useState(false);
  const row = useComparedRow(comparison, order, open.index);
  const total = row.data?.total ?? comparison.rowCount;
  const found = row.data?.data[0];
  const move = (step: number) => onOpen({ ...open, index: Math.min(Math.max(open.index + step, 0), total - 1) });
  useActions('compare-cell', [
    { id: 'compare.next-row', title: 'Next row', group: 'Compare', keys: 'J', run: () => move(1) },
    { id: 'compare.previous-row', title: 'Previous row', group: 'Compare', keys: 'K', run: () => move(-1) },
  ]);
  const heading = useRef<HTMLHeadingElement>(null);
  const name = comparison.variants[open.variant]!.name;
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, [open.index, open.variant]);
  return (
    <aside
      className={classNames('panel panel--inset line-left results__cell', isDiff && 'is-wide')}
      aria-label="One answer"
    >
      <div className="header header--line">
        <h2 ref={heading}>Row {found ? formatWhole(found.position + 1) : ''}</h2>
        <span className="column-letter">{letterOf(open.variant)}</span>
        <span className="small secondary truncate">{name}</span>
        <span className="grow" />
        <span className="caption tertiary nowrap numbers">
          {formatWhole(open.index + 1)} of {formatWhole(total)}
        </span>
        <Button size="small" icon={GitCompare} aria-pressed={isDiff} onClick={() => setDiff(!isDiff)}>
          Diff
        </Button>
        <IconButton icon={ChevronUp} label="Previous row" keys="K" size="small" onClick={() => move(-1)} />
        <IconButton icon={ChevronDown} label="Next row" keys="J" size="small" onClick={() => move(1)} />
        <IconButton icon={X} label="Close answer" size="small" onClick={() => onOpen(null)} />
      </div>
      <QueryView query={row} subject="the row">
        {() =>
          found ? (
            <LoadedCell key={`${found.id}/${open.variant}`} {...props} row={found} isDiff={isDiff} />
          ) : (
            <p className="results__answer tertiary">This row is no longer in the list.</p>
          )
        }
      </QueryView>
    </aside>
  );
}
