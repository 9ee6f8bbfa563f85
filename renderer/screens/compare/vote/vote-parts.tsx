import { Undo2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { BlindPair, BlindVote, PairVote } from '../../../../shared/contract/blind-votes.ts';
import { Button } from '../../../components/button.tsx';
import { formatDuration } from '../../../components/format.ts';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { RowValues } from './pair-panel.tsx';

function timeLeft({ counts, secondsPerPair }: BlindVote): string | null {
  const left = counts.pairs - counts.voted;
  if (secondsPerPair === null || left === 0) return null;
  const seconds = Math.round(left * secondsPerPair);
  return seconds < 10 ? 'a few seconds left' : `about ${formatDuration(seconds * 1000)} left`;
}

/** Editable in place: Enter and leaving the field save. */
function Question({ question, onChange }: { question: string; onChange: (question: string) => void }) {
  const [text, setText] = useState(question);
  function save() {
    const trimmed = text.trim();
    if (trimmed === '') setText(question);
    else if (trimmed !== question) onChange(trimmed);
  }
  return (
    <input
      className="vote__question"
      aria-label="Question"
      value={text}
      maxLength={500}
      onChange={(event) => setText(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.preventDefault();
        event.currentTarget.blur();
      }}
    />
  );
}

export function Toolbar({
  vote,
  back,
  onUndo,
  onFinish,
}: {
  vote: BlindVote;
  back: ReactNode;
  onUndo: () => void;
  onFinish: () => void;
}) {
  const { voted, pairs } = vote.counts;
  return (
    <div className="toolbar">
      {back}
      <h2 className="section-title">Blind vote</h2>
      <span className="grow" />
      <span className="small secondary nowrap">
        {voted} of {pairs} pairs
      </span>
      <span
        className="vote__progress progress"
        role="progressbar"
        aria-label="Pairs"
        aria-valuenow={voted}
        aria-valuemin={0}
        aria-valuemax={pairs}
      >
        <i style={{ width: `${(voted / Math.max(1, pairs)) * 100}%` }} />
      </span>
      {timeLeft(vote) && <span className="small tertiary nowrap wide-only">{timeLeft(vote)}</span>}
      <Button icon={Undo2} keys="Mod+Z" aria-disabled={voted === 0} onClick={onUndo}>
        Undo
      </Button>
      <Button keys="Escape" onClick={onFinish}>
        Finish
      </Button>
    </div>
  );
}

export function ConfirmFinish({
  vote,
  onFinish,
  onContinue,
}: {
  vote: BlindVote;
  onFinish: () => void;
  onContinue: () => void;
}) {
  const { voted, pairs } = vote.counts;
  const isDone = vote.pair === null;
  return (
    <div className="list-state">
      <EmptyState
        title={isDone ? 'All pairs are voted on' : `Finish after ${voted} of ${pairs} pairs?`}
        reason="The variants are revealed then, and the votes can't be changed any more."
      >
        <Button variant="primary" keys="Enter" autoFocus onClick={onFinish}>
          Finish and reveal
        </Button>
        {!isDone && (
          <Button keys="Escape" onClick={onContinue}>
            Continue voting
          </Button>
        )}
      </EmptyState>
    </div>
  );
}

export const voteKeys = [
  { vote: 'first', title: 'Answer 1', keys: 'ArrowLeft' },
  { vote: 'tie', title: 'Tie', keys: 'ArrowDown' },
  { vote: 'bothBad', title: 'Both bad', keys: 'X' },
  { vote: 'second', title: 'Answer 2', keys: 'ArrowRight' },
] as const;

export interface View {
  isMarked: boolean;
  hasPassages: boolean;
}

interface InputPanelProps {
  vote: BlindVote;
  pair: BlindPair;
  view: View;
  onView: (view: View) => void;
  onQuestion: (question: string) => void;
}

export function InputPanel({ vote, pair, view, onView, onQuestion }: InputPanelProps) {
  const { isMarked, hasPassages } = view;
  return (
    <section className="vote__input panel--inset line-bottom" aria-label="Input">
      <Question key={vote.question} question={vote.question} onChange={onQuestion} />
      <div className="vote__row">
        <span className="tertiary small">Row {pair.position + 1}</span>
        <RowValues values={pair.values} />
        <span className="row">
          <Button
            size="small"
            variant="quiet"
            keys="D"
            aria-pressed={isMarked}
            onClick={() => onView({ ...view, isMarked: !isMarked })}
          >
            Mark differences
          </Button>
          <Button
            size="small"
            variant="quiet"
            keys="P"
            aria-pressed={hasPassages}
            onClick={() => onView({ ...view, hasPassages: !hasPassages })}
          >
            Show passages
          </Button>
        </span>
      </div>
    </section>
  );
}

interface VoteBarProps {
  counts: BlindVote['counts'];
  note: string;
  onNote: (note: string) => void;
  noteId: string;
  onVote: (vote: PairVote) => void;
}

export function VoteBar({ counts, note, onNote, noteId, onVote }: VoteBarProps) {
  return (
    <section className="vote__bar line-top panel--inset" aria-label="Vote">
      <div className="vote__buttons">
        {voteKeys.map(({ vote: given, title, keys }) => (
          <Button key={given} keys={keys} onClick={() => onVote(given)}>
            {title}
          </Button>
        ))}
      </div>
      <div className="vote__more">
        <TextField
          id={noteId}
          label="Note"
          isLabelHidden
          placeholder="Note for this pair"
          value={note}
          maxLength={2000}
          onValueChange={onNote}
          end={<KeyCaps keys="N" />}
          onKeyDown={(event) => {
            // Undoes what was typed, not the last vote.
            if (event.key.toLowerCase() === 'z') event.stopPropagation();
            if (event.key !== 'Enter' && event.key !== 'Escape') return;
            event.preventDefault();
            event.currentTarget.blur();
          }}
        />

        <Button keys="S" onClick={() => onVote('skip')}>
          Skip
        </Button>
        <span className="caption tertiary">
          Sides are shuffled. Models, versions and costs are revealed when you finish.
        </span>
        <span className="grow" />
        <span className="caption tertiary numbers">
          Your votes: {counts.decided} decided, {counts.ties + counts.bothBad} ties, {counts.skipped} skipped
        </span>
      </div>
    </section>
  );
}
