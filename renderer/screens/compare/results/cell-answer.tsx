import { useRef, useState } from 'react';
import type { ComparedCell } from '../../../../shared/contract/comparison-results.ts';
import { Button, CopyButton } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { TextDiff } from '../../../components/diff/text-diff.tsx';
import { formatWhole } from '../../../components/format.ts';
import { JsonTree, useJsonOutline } from '../../../components/json-tree/json-tree.tsx';
import { Select } from '../../../components/select.tsx';
import { ErrorFailure, LoadingRows, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useRun } from '../../../queries/runs.ts';
import { quotedParts } from './cell-model.ts';

/** Of an answer at first: a longer one takes noticeable time to lay out. */
const charactersAtOnce = 50_000;
/** Of many short lines, even fewer characters take long. */
const charactersOfLine = 50;

/** The first characters, or fewer of many short lines. */
export function firstOf(text: string, characters: number): string {
  let end = 0;
  for (let line = 0; line < characters / charactersOfLine; line += 1) {
    end = text.indexOf('\n', end) + 1;
    if (end === 0 || end > characters) return text.slice(0, characters);
  }
  return text.slice(0, end);
}

function JsonAnswer({ text, title }: { text: string; title: string }) {
  const outline = useJsonOutline(text, false);
  const scroller = useRef<HTMLDivElement>(null);
  if (outline.fault) return <LongText text={text} />;
  return (
    <div ref={scroller} className="scroll results__json">
      <JsonTree label={title} outline={outline} scroller={scroller} />
    </div>
  );
}

const noChecks: ComparedCell['checks'] = [];

function LongText({ text, checks = noChecks }: { text: string; checks?: ComparedCell['checks'] }) {
  const [shown, setShown] = useState(charactersAtOnce);
  const first = firstOf(text, shown);
  const parts = quotedParts(first, checks);
  return (
    <>
      <p className="results__text">
        {parts.map((part, index) => (
          <span key={index} className={part.isQuoted ? 'is-quoted' : undefined}>
            {part.text}
          </span>
        ))}
      </p>
      {text.length > first.length && (
        <Button size="small" onClick={() => setShown(shown * 4)}>
          Show more ({formatWhole(text.length)} characters in total)
        </Button>
      )}
    </>
  );
}

function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && text.length < 1_000_000;
}

/** The whole answer of a run. */
export function Answer({ cell, title }: { cell: ComparedCell; title: string }) {
  const run = useRun(cell.state === 'Completed' ? cell.runId : null);
  if (cell.state === 'Completed' && cell.runId !== null) {
    return (
      <QueryView query={run} subject="the answer">
        {({ output }) => (
          <div className="results__answer">
            {output.content === '' && (output.toolCalls ?? []).length === 0 && <p className="tertiary">Empty answer</p>}
            {looksLikeJson(output.content) ? (
              <JsonAnswer text={output.content} title={title} />
            ) : (
              <LongText text={output.content} checks={cell.checks} />
            )}
            {output.toolCalls?.map((call) => (
              <div key={call.id} className="mono">
                <LongText text={`${call.name}(${call.arguments})`} />
              </div>
            ))}
            {output.finishReason === 'Length' && (
              <Notice tone="caution">The answer was cut off by the token limit.</Notice>
            )}
          </div>
        )}
      </QueryView>
    );
  }
  if (cell.failure) {
    return (
      <div className="results__answer">
        <Notice tone={cell.state === 'Skipped' ? 'caution' : 'negative'}>{cell.failure.message}</Notice>
      </div>
    );
  }
  if (cell.state === 'Running' && cell.answer !== null) {
    return (
      <div className="results__answer" aria-busy="true">
        <LongText text={cell.answer} checks={cell.checks} />
      </div>
    );
  }
  return (
    <p className="results__answer tertiary">{cell.state === 'Running' ? 'The answer is on its way.' : 'Not run yet'}</p>
  );
}

/** An answer beside that of the baseline. */
export function AnswerDiff({
  cell,
  base,
  names,
}: {
  cell: ComparedCell;
  base: ComparedCell | undefined;
  names: readonly [string, string];
}) {
  const [before, after] = [useRun(base?.state === 'Completed' ? base.runId : null), useRun(cell.runId)];
  if (base?.state !== 'Completed')
    return <p className="results__answer tertiary">The baseline has no answer in this row.</p>;
  if (!before.data || !after.data) {
    const error = before.error ?? after.error;
    return error ? (
      <ErrorFailure title="Couldn't load the answers" error={error} />
    ) : (
      <LoadingRows label="Loading the answers" />
    );
  }
  return (
    <TextDiff
      title={`${names[0]} and ${names[1]}`}
      before={before.data.output.content}
      after={after.data.output.content}
      names={names}
      hasToggle
    />
  );
}

/** Copies the whole answer. */
export function CopyAnswer({ cell }: { cell: ComparedCell }) {
  const run = useRun(cell.state === 'Completed' ? cell.runId : null);
  return <CopyButton text={() => run.data?.output.content ?? ''} label="Copy answer" isIconOnly size="small" />;
}

interface RepeatChoiceProps {
  repeats: number;
  /** From 1. */
  value: number;
  onValueChange: (value: number) => void;
}

/** Which repeat is shown. */
export function RepeatChoice({ repeats, value, onValueChange }: RepeatChoiceProps) {
  const Choice = repeats > 10 ? Select : Segmented;
  const options = Array.from({ length: repeats }, (_, index) => ({ value: `${index + 1}`, label: `${index + 1}` }));
  return (
    <Choice
      label="Repeat"
      value={`${value}`}
      options={options}
      onValueChange={(chosen) => onValueChange(Number(chosen))}
    />
  );
}
