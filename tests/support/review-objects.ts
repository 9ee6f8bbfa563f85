import { reviewerHeader } from '../../shared/contract/reviewers.ts';
import type { ReviewReservation } from '../../shared/contract/reviews.ts';
import type { Rubric } from '../../shared/contract/rubrics.ts';
import type { CallHost } from './call-host.ts';

export interface ReviewObjects {
  readonly rubricId: string;
  readonly queueId: string;
}

const items = [
  {
    kind: 'yesNo',
    question: 'Does every promise match the terms?',
    description: 'If no passage supports it, answer No.',
    examples: [{ text: '"Delivery is always free." The terms say from 80 euros.', value: false }],
  },
  {
    kind: 'category',
    question: 'What went wrong?',
    description: 'Pick the most serious problem.',
    categories: ['Wrong policy', 'Made up', 'Incomplete', 'Tone'].map((label) => ({ label })),
  },
  { kind: 'score', question: 'How useful is the answer?', description: 'For the customer.' },
  { kind: 'text', question: 'What should it have said?', isRequired: false },
];

const categories = ['Wrong policy', 'Made up', 'Incomplete', 'Tone'];

/** The person's ID. Names are unique, and the host may be filled again. */
async function ensureReviewer(call: CallHost, name: string): Promise<string> {
  const { data } = (await call('GET', '/reviewers')) as { data: { id: string; name: string }[] };
  const known = data.find((reviewer) => reviewer.name === name);
  return known?.id ?? ((await call('POST', '/reviewers', { name })) as { id: string }).id;
}

/** Reviews so many items as a person would. `choose` gives the category of each. */
async function reviewAs(
  call: CallHost,
  { rubric, queueId }: { rubric: Rubric; queueId: string },
  { name, count, choose }: { name: string; count: number; choose: (index: number) => number },
): Promise<void> {
  const id = await ensureReviewer(call, name);
  const { token } = (await call('POST', `/window/reviewers/${id}/act`, {})) as { token: string };
  const headers = { [reviewerHeader]: token };
  const [promise, category, score] = rubric.items;
  for (let index = 0; index < count; index += 1) {
    const path = `/review-queues/${queueId}`;
    const { item } = (await call('POST', `${path}/reservations`, {}, headers)) as ReviewReservation;
    const chosen = choose(index) % categories.length;
    const answers = [
      { rubricItemId: promise!.id, value: chosen > 1 },
      { rubricItemId: category!.id, value: categories[chosen] },
      { rubricItemId: score!.id, value: chosen * 4 - 6 },
    ];
    await call(
      'POST',
      `${path}/items/${item.id}/reviews`,
      { answers, note: 'The fee stays with the customer.' },
      headers,
    );
  }
}

/** A rubric, and a queue of twelve conversations of which eight have both reviews. */
export async function fillReviews(call: CallHost): Promise<ReviewObjects> {
  const rubric = (await call('POST', '/rubrics', { name: 'Refund policy', items })) as Rubric;
  const { id: queueId } = (await call('POST', '/review-queues', {
    name: 'Refund promises, November',
    filter: {},
    itemType: 'conversation',
    plan: { kind: 'random', count: 12 },
    seed: 4711,
    rubricId: rubric.id,
    reviewersPerItem: 2,
  })) as { id: string };
  const queue = { rubric, queueId };
  await reviewAs(call, queue, { name: 'wren', count: 10, choose: (index) => index });
  await reviewAs(call, queue, { name: 'heron', count: 8, choose: (index) => (index % 3 === 0 ? index + 2 : index) });
  return { rubricId: rubric.id, queueId };
}
