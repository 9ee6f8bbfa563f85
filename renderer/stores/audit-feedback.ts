import { create } from 'zustand';
import type { Feedback, FeedbackInput } from '../../shared/contract/conversations.ts';

/** One change of feedback that can be taken back. */
export interface FeedbackStep {
  conversationId: string;
  runId: string;
  /** What was there before. */
  before: FeedbackInput;
}

const maxSteps = 100;

/** What this window changed, the newest last. */
export const useFeedbackSteps = create<{ steps: readonly FeedbackStep[] }>()(() => ({ steps: [] }));

export function keepFeedbackStep(step: FeedbackStep): void {
  useFeedbackSteps.setState(({ steps }) => ({ steps: [...steps, step].slice(-maxSteps) }));
}

/** Takes the newest step out, to undo it. */
export function takeFeedbackStep(): FeedbackStep | undefined {
  const { steps } = useFeedbackSteps.getState();
  useFeedbackSteps.setState({ steps: steps.slice(0, -1) });
  return steps.at(-1);
}

/** Feedback as it is sent: nothing is null. */
export function feedbackInput(feedback: Feedback | null | undefined): FeedbackInput {
  const { score = null, scoreText = null, scoreTags = null } = feedback ?? {};
  return { score, scoreText, scoreTags };
}
