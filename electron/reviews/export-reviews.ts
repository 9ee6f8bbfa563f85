import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import { csvLine } from '../common/csv.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import { labelOf } from './outside-ratings.ts';
import { goldOf } from './describe-item.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';

/** A line for each done item and item of the rubric, with two columns per reviewer: what they answered, and why. */
export async function* exportCsv(
  queue: StoredQueue,
  options: DoneItemsOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const reviewers = options.reviews.progress(queue.sequence, []);
  const names = reviewers.map(({ name }) => name);
  const notes = names.map((name) => `${name}: note`);
  const before = ['item', 'conversation', 'run', 'stratum', 'flagged', 'question'];
  yield csvLine([...before, ...names, 'final', 'decided by', ...notes, 'discussion']);
  for await (const slice of eachDoneItem(queue, options, signal)) {
    let lines = '';
    for (const done of slice)
      for (const item of queue.rubric.items) lines += csvLine(csvCells(queue, done, item, reviewers));
    yield lines;
  }
}

const shown = (value: AnswerValue | undefined) => (value === undefined ? null : labelOf(value));

function csvCells(
  queue: StoredQueue,
  { item, reviews, skips, comments, final }: DoneItem,
  { id, question }: RubricItem,
  reviewers: readonly { readonly reviewer: number }[],
): unknown[] {
  const given = reviewers.map(({ reviewer }) => {
    const own = reviews.find((review) => review.reviewer === reviewer);
    return shown(own?.answers.find(({ rubricItemId }) => rubricItemId === id)?.value);
  });
  /** Of the answer and of the whole review, or why the reviewer skipped the item. */
  const noteOf = (reviewer: number): string => {
    const skip = skips.find((one) => one.reviewer === reviewer);
    const own = reviews.find((review) => review.reviewer === reviewer);
    const answer = own?.answers.find(({ rubricItemId }) => rubricItemId === id);
    return skip ? `Skipped: ${skip.note ?? ''}` : [answer?.note, own?.note].filter((note) => note).join('\n');
  };
  const stratum = queue.strata[item.stratum]?.name ?? '';
  const flagged = item.isFlagged === 1 ? 'yes' : 'no';
  return [
    item.position + 1,
    item.conversationId,
    item.runId,
    stratum,
    flagged,
    question,
    ...given,
    shown(final.get(id)),
    goldOf(item).some(({ rubricItemId }) => rubricItemId === id) ? item.goldBy : null,
    ...reviewers.map(({ reviewer }) => noteOf(reviewer)),
    comments.map(({ reviewerName, text }) => `${reviewerName}: ${text}`).join('\n'),
  ];
}
