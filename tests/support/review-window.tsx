import { act, fireEvent, screen } from '@testing-library/react';
import type { Client } from '../../renderer/host/client.ts';
import { ReviewsPage } from '../../renderer/screens/audit/reviews/reviews-page.tsx';
import { useGlobalKeys } from '../../renderer/shell/global-keys.ts';
import { createReviewQueue, type ReviewQueue, type ReviewQueueInput } from '../../shared/contract/review-queues.ts';
import { createRubric } from '../../shared/contract/rubrics.ts';

/** The reviews with the keys of the window. */
export function ReviewsWithKeys() {
  useGlobalKeys();
  return <ReviewsPage />;
}

const questions = [
  { kind: 'yesNo', question: 'Does every promise match the terms?' },
  { kind: 'text', question: 'What should it have said?', isRequired: false },
] as const;

/** A queue of everything that is recorded, for one reviewer each, with a question for a key and one for a text. */
export async function createQueueOfAll(client: Client, change: Partial<ReviewQueueInput> = {}): Promise<ReviewQueue> {
  const rubric = await client.call(createRubric, { body: { name: 'Refund policy', items: [...questions] } });
  const input = { name: 'Refund promises', filter: {}, itemType: 'run', plan: { kind: 'all' }, seed: 4711 } as const;
  return client.call(createReviewQueue, { body: { ...input, rubricId: rubric.id, reviewersPerItem: 1, ...change } });
}

/** A key that the focused element doesn't take. */
export const pressKey = (key: string, more: object = {}) =>
  act(() => void fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more }));

export const findRubric = () => screen.findByRole('region', { name: 'Rubric' });
export const findText = () => screen.findByRole('region', { name: 'Text to review' });
