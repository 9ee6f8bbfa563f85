import type { RefObject } from 'react';
import { Score, ScoreScale } from '../../../components/scores/score-scale.tsx';
import { useScoreKeys } from '../../../components/scores/use-score-keys.ts';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { useConversation, useGiveFeedback } from '../../../queries/audit.ts';
import { useActions } from '../../../stores/actions.ts';
import { feedbackInput } from '../../../stores/audit-feedback.ts';

export interface RateAnswerProps {
  conversationId: string;
  runId: string;
  /** Keys rate the answer while the focus is inside. */
  scope: RefObject<HTMLElement | null>;
}

/** Rates the answer with the audit's keys. The audit shows the same feedback. */
export function RateAnswer({ conversationId, runId, scope }: RateAnswerProps) {
  const { data: conversation } = useConversation(conversationId);
  const run = conversation?.runs.find(({ conversationRunId }) => conversationRunId === runId);
  const { give, error, isSuccess } = useGiveFeedback();
  const score = feedbackInput(run?.feedback).score ?? null;
  const rate = (next: number | null): void => void give(conversationId, runId, { score: next });
  const isNegativeNext = useScoreKeys(score, rate, { isEnabled: run !== undefined, scope });
  const group = 'Answer';
  useActions('playground-rating', [
    // `useScoreKeys` handles the keys; these entries list them in the keyboard shortcuts.
    { id: 'playground.score', title: 'Rate the answer', group, keys: '0+9', isHiddenInPalette: true, run: () => {} },
    { id: 'playground.minus', title: 'Negative score', group, keys: '−', isHiddenInPalette: true, run: () => {} },
  ]);
  if (!run) return null;
  return (
    <div className="rate" role="group" aria-label="Rate the answer">
      <span className="small secondary">Rate</span>
      <ScoreScale score={score} onScore={rate} />
      <span className="rate__score">
        {isNegativeNext ? <span className="score negative">−</span> : score !== null && <Score score={score} />}
      </span>
      <span className="caption tertiary nowrap rate__hint">Press 0-9 to rate, - for negative</span>
      <span className="visually-hidden" role="status">
        {isSuccess ? 'Rating saved' : ''}
      </span>
      {error && <ErrorFailure title="Feedback wasn't saved" error={error} />}
    </div>
  );
}
