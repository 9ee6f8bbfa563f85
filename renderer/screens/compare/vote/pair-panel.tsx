import { diffWordsWithSpace } from 'diff';
import { useMemo, useState } from 'react';
import type { BlindPair } from '../../../../shared/contract/blind-votes.ts';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { LongText } from '../../../components/long-text.tsx';
import { firstOf } from '../results/cell-answer.tsx';

/** Comparing texts that have little in common would hold the window. */
const timeoutMs = 20;
/** Of an answer at first. Markdown of more takes noticeable time to lay out. */
const charactersAtOnce = 20_000;

type Answer = BlindPair['answers'][number];

function TextDifference({ own, other, side }: { own: string; other: string; side: 0 | 1 }) {
  const parts = useMemo(() => {
    const [first, second] = side === 0 ? [own, other] : [other, own];
    return diffWordsWithSpace(first, second, { timeout: timeoutMs }) ?? null;
  }, [own, other, side]);
  if (!parts)
    return (
      <>
        <p className="caption tertiary">These answers are too different to mark what differs.</p>
        <LongText text={own} className="vote__plain" />
      </>
    );
  return (
    <p className="vote__plain">
      {parts
        .filter(({ added, removed }) => (side === 0 ? !added : !removed))
        .map(({ value, added, removed }, index) => {
          if (added) return <ins key={index}>{value}</ins>;
          return removed ? <del key={index}>{value}</del> : <span key={index}>{value}</span>;
        })}
    </p>
  );
}

/** The beginning of an answer, which can have megabytes, or more of it. */
function AnswerText({ side, answers, isMarked }: Omit<AnswerProps, 'hasPassages'>) {
  const [shown, setShown] = useState(charactersAtOnce);
  const { text } = answers[side]!;
  const own = firstOf(text, shown);
  return (
    <>
      {isMarked ? (
        <TextDifference own={own} other={firstOf(answers[1 - side]!.text, shown)} side={side} />
      ) : (
        <MarkdownView text={own} isGrowing={false} />
      )}
      {text.length > own.length && (
        <Button size="small" onClick={() => setShown(shown * 4)}>
          Show more ({formatWhole(text.length)} characters in total)
        </Button>
      )}
    </>
  );
}

function Passages({ passages }: Pick<Answer, 'passages'>) {
  if (passages.length === 0) return <p className="small tertiary">No passages</p>;
  return (
    <ol aria-label="Passages">
      {passages.map(({ index, sourceName, text }) => (
        <li key={index}>
          <p className="caption tertiary">
            {index}. {sourceName}
          </p>
          <p className="vote__plain small">{text}</p>
        </li>
      ))}
    </ol>
  );
}

interface AnswerProps {
  side: 0 | 1;
  answers: readonly Answer[];
  isMarked: boolean;
  hasPassages: boolean;
}

function AnswerPanel({ side, answers, isMarked, hasPassages }: AnswerProps) {
  const answer = answers[side]!;
  const title = `Answer ${side + 1}`;
  return (
    <section className={side === 0 ? 'panel' : 'panel line-left'} aria-label={title}>
      <div className="header header--line">
        <h2>{title}</h2>
        <span className="grow" />
        <span className="caption tertiary">Model hidden</span>
      </div>
      <div className="scroll grow" tabIndex={0} role="region" aria-label={`Text of answer ${side + 1}`}>
        <div className="vote__text">
          <AnswerText side={side} answers={answers} isMarked={isMarked} />
          {answer.text === '' && answer.toolCalls.length === 0 && <p className="tertiary">Empty answer</p>}
          {answer.toolCalls.map((call, index) => (
            <div key={index}>
              <p className="caption tertiary">Call of {call.name}</p>
              <p className="mono vote__plain">{call.arguments}</p>
            </div>
          ))}
          {hasPassages && <Passages passages={answer.passages} />}
        </div>
      </div>
    </section>
  );
}

/** Two answers of a row, without what names their variants. */
export function PairPanel({
  pair,
  isMarked,
  hasPassages,
}: { pair: BlindPair } & Omit<AnswerProps, 'side' | 'answers'>) {
  return (
    <div className="vote__pair">
      {([0, 1] as const).map((side) => (
        <AnswerPanel
          key={`${pair.rowId} ${side}`}
          side={side}
          answers={pair.answers}
          isMarked={isMarked}
          hasPassages={hasPassages}
        />
      ))}
    </div>
  );
}

/** The values of the row: one as it is, several with their names. */
export function RowValues({ values }: Pick<BlindPair, 'values'>) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <p className="tertiary">{formatPlural(0, 'value')}</p>;
  return (
    <div>
      {entries.map(([name, value]) => (
        <p key={name} className="vote__value">
          {entries.length > 1 && <span className="tertiary small">{name}: </span>}
          {value}
        </p>
      ))}
    </div>
  );
}
