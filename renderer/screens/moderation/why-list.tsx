import { useState } from 'react';
import type { CategoryScores, ExplainedPassage, Explanation } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Select } from '../../components/select.tsx';
import { ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useExplanation } from '../../queries/moderation.ts';
import { categoryNames } from './categories.tsx';

/** Smaller changes show as 0.00. */
const minShownChange = 0.005;

const names = categories.map((value) => ({ value, label: categoryNames[value].name }));

function writeChange(change: number): string {
  if (Math.abs(change) < minShownChange) return '0.00';
  return `${change < 0 ? '\u2212' : '+'}${Math.abs(change).toFixed(2)}`;
}

function noteOf({ scores, passages, candidates }: Explanation, category: Category): string | null {
  if (passages.length === 0) return 'The text is too short to leave out a part of it.';
  const drops = passages.some((passage) => passage.scores[category] <= scores[category] - minShownChange);
  if (!drops) return 'No single passage raises this score. Several have the same effect, or it is low anyway.';
  return candidates > passages.length
    ? `The ${passages.length} most suspicious of ${candidates} passages that can decide the scores.`
    : null;
}

interface WhyRowProps {
  text: string;
  passage: ExplainedPassage;
  scores: CategoryScores;
  category: Category;
  onShow: (start: number, end: number) => void;
}

function WhyRow({ text, passage: { start, end, scores: without }, scores, category, onShow }: WhyRowProps) {
  const change = without[category] - scores[category];
  const isDrop = change <= -minShownChange;
  return (
    <tr>
      <td className="truncate">
        <button type="button" className="truncate" onClick={() => onShow(start, end)}>
          {text.slice(start, Math.min(end, start + 160))}
        </button>
      </td>
      <td className="right numbers">{without[category].toFixed(2)}</td>
      <td className={classNames('right', 'numbers', isDrop && 'negative')}>{writeChange(change)}</td>
      <td>
        <span className="mini" aria-hidden="true">
          <i style={{ width: `${Math.max(0, -change) * 100}%` }} />
        </span>
      </td>
    </tr>
  );
}

interface WhyTableProps {
  text: string;
  explanation: Explanation;
  category: Category;
  onShow: (start: number, end: number) => void;
}

function WhyTable({ text, explanation, category, onShow }: WhyTableProps) {
  const ranked = explanation.passages.toSorted((one, other) => one.scores[category] - other.scores[category]);
  return (
    <div className="scroll">
      <table className="grid grid--why">
        <thead>
          <tr>
            <th>Without this passage</th>
            <th className="right">Score</th>
            <th className="right">Change</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {ranked.map((passage) => (
            <WhyRow
              key={passage.start}
              text={text}
              passage={passage}
              scores={explanation.scores}
              category={category}
              onShow={onShow}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export interface WhyListProps {
  text: string;
  /** The category that is shown first. */
  category: Category;
  onShow: (start: number, end: number) => void;
  onStop: () => void;
}

/** How a score changes without each passage, the largest drop first. */
export function WhyList({ text, category: first, onShow, onStop }: WhyListProps) {
  const { data, error, refetch } = useExplanation(text);
  const [chosen, setChosen] = useState<Category | null>(null);
  const category = chosen ?? first;
  if (error) {
    return (
      <ErrorFailure title="Couldn't explain the scores" error={error}>
        <Button onClick={() => void refetch()}>Retry</Button>
      </ErrorFailure>
    );
  }
  if (!data) {
    return (
      <div className="why__loading">
        <LoadingRows label="Checking the text without each passage" rows={3} />
        <Button size="small" onClick={onStop}>
          Stop
        </Button>
      </div>
    );
  }
  const note = noteOf(data, category);
  return (
    <>
      <div className="why__choice small">
        <Select label="Category" size="small" value={category} options={names} onValueChange={setChosen} />
        <span className="secondary">
          Score of the whole text: <b className="numbers">{data.scores[category].toFixed(2)}</b>
        </span>
      </div>
      {note && <p className="small secondary why__note">{note}</p>}
      {data.passages.length > 0 && <WhyTable text={text} explanation={data} category={category} onShow={onShow} />}
    </>
  );
}
