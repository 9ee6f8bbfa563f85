import { Copy, Star } from 'lucide-react';
import type { RefObject } from 'react';
import { Button } from '../../../components/button.tsx';
import { Popover } from '../../../components/popover.tsx';
import { Score, ScoreScale, useScoreKeys } from '../../../components/scores.tsx';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { useConversation, useGiveFeedback } from '../../../queries/audit.ts';
import { useActions } from '../../../stores/actions.ts';
import { feedbackInput } from '../../../stores/audit.ts';
import type { ShownRun } from './shown-run.ts';

/** Whether a run has an answer to rate: a stored run that has text or completed. */
export function isRatable(run: ShownRun): run is ShownRun & { runId: string; conversationId: string } {
  const hasAnswer = run.text !== '' || run.state === 'completed';
  return run.runId !== null && run.conversationId !== null && hasAnswer;
}

export interface RateAnswerProps {
  conversationId: string;
  runId: string;
  /** Keys rate the answer while the focus is inside. */
  scope: RefObject<HTMLElement | null>;
  /** In a column: the name of the button that opens the scale. */
  compactLabel?: string;
}

/** Registers the actions on an answer. The keys that rate it are listed only: `useScoreKeys` handles them. */
export function useAnswerActions(run: ShownRun | null): void {
  const group = 'Answer';
  useActions('playground.answer', [
    {
      id: 'playground.copy',
      title: 'Copy answer',
      group: 'Playground',
      icon: Copy,
      isEnabled: run !== null && run.text !== '',
      run: () => void navigator.clipboard.writeText(run?.text ?? ''),
    },
    { id: 'playground.score', title: 'Rate answer', group, keys: '0+9', isHiddenInPalette: true, run: () => {} },
    { id: 'playground.minus', title: 'Negative score', group, keys: '−', isHiddenInPalette: true, run: () => {} },
  ]);
}

interface CompactRatingProps {
  label: string;
  score: number | null;
  isNegativeNext: boolean;
  onScore: (score: number | null) => void;
}

function CompactRating({ label, score, isNegativeNext, onScore }: CompactRatingProps) {
  return (
    <Popover
      label={label}
      align="end"
      className="rate__popover"
      trigger={
        <Button icon={Star} size="small" variant="quiet" aria-label={score === null ? label : `${label}, ${score}`}>
          {isNegativeNext ? <span className="score negative">−</span> : score !== null && <Score score={score} />}
        </Button>
      }
    >
      <ScoreScale score={score} onScore={onScore} />
      <p className="caption tertiary">With the focus in the answer, press 0-9 to rate, - for negative</p>
    </Popover>
  );
}

/** Rates the answer with the audit's keys. The audit shows the same feedback. */
export function RateAnswer({ conversationId, runId, scope, compactLabel }: RateAnswerProps) {
  const { data: conversation } = useConversation(conversationId);
  const run = conversation?.runs.find(({ conversationRunId }) => conversationRunId === runId);
  const { give, error, isSuccess } = useGiveFeedback();
  const score = feedbackInput(run?.feedback).score ?? null;
  const rate = (next: number | null): void => void give(conversationId, runId, { score: next });
  const isNegativeNext = useScoreKeys(score, rate, { isEnabled: run !== undefined, scope });
  if (!run) return null;
  const outcome = (
    <>
      <span className="visually-hidden" role="status">
        {isSuccess ? 'Rating saved' : ''}
      </span>
      {error && <ErrorFailure title="Feedback wasn't saved" error={error} />}
    </>
  );
  if (compactLabel !== undefined) {
    return (
      <>
        <CompactRating label={compactLabel} score={score} isNegativeNext={isNegativeNext} onScore={rate} />
        {outcome}
      </>
    );
  }
  return (
    <div className="rate" role="group" aria-label="Rate the answer">
      <span className="small secondary">Rate</span>
      <ScoreScale score={score} onScore={rate} />
      <span className="rate__score">
        {isNegativeNext ? <span className="score negative">−</span> : score !== null && <Score score={score} />}
      </span>
      <span className="caption tertiary nowrap rate__hint">Press 0-9 to rate, - for negative</span>
      {outcome}
    </div>
  );
}
