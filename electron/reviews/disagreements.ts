import type { Review, ReviewItem } from '../../shared/contract/review-items.ts';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import { isComplete } from './create-reviews.ts';
import { importedStart } from './describe-queue.ts';
import type { ReviewReader } from './create-reviews.ts';
import { describeItems, goldOf, reviewOf } from './describe-item.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';
import { checkMeaning, labelOf, meaningOf, outsideRatings } from './outside-ratings.ts';

export interface DisagreementQuery {
  readonly rubricItemId: string;
  /** Ids of reviewers. */
  readonly first: string | null;
  readonly second: string | null;
  /** A judge, the guard or one of its categories: the items on which it differs from the reviewers' final value. In lower case. */
  readonly against: string | null;
  /** The answers that stand for a judge's pass and a flag; the usual ones if undefined. */
  readonly passValue: string | undefined;
  readonly flaggedValue: string | undefined;
  /** Labels of the confusion matrix. */
  readonly firstValue: string | null;
  readonly secondValue: string | null;
  readonly isUndecided: boolean | null;
  readonly offset: number;
  readonly limit: number;
}

/** What a judge or the guard says about an item, as a label of its matrix. */
interface Outside {
  readonly kind: 'judge' | 'moderation';
  readonly name: string;
  readonly value: string;
}

export interface DisagreementPage {
  readonly data: { item: ReviewItem; reviews: Review[]; outside: Outside[] }[];
  readonly offset: number;
  readonly total: number;
}

function labelBy({ measured }: DoneItem, rubricItemId: string, reviewerId: string): string | null {
  const review = measured.find((one) => one.reviewerId === reviewerId);
  const answer = review?.answers.find((one) => one.rubricItemId === rubricItemId);
  return answer ? labelOf(answer.value) : null;
}

/** The labels of both sides of a matrix: two reviewers, or the final value and that of a judge or the guard. */
function labelsOf(done: DoneItem, query: DisagreementQuery, rubric: readonly RubricItem[]) {
  const { rubricItemId, first, second, against } = query;
  if (against === null)
    return [first, second].map((reviewer) => (reviewer === null ? null : labelBy(done, rubricItemId, reviewer)));
  const item = rubric.find(({ id }) => id === rubricItemId);
  const ratings = item ? outsideRatings(done, item, meaningOf(item, query)) : [];
  const other = ratings.find(({ outside }) => outside.id.toLowerCase() === against);
  return [other?.people ?? null, other?.label ?? null];
}

/** Whether an item belongs to what is asked for: a cell of a matrix, or any difference. */
function matches(done: DoneItem, query: DisagreementQuery, rubric: readonly RubricItem[]) {
  const { rubricItemId, first, second, against, firstValue, secondValue, isUndecided } = query;
  const isDecided = goldOf(done.item).some((one) => one.rubricItemId === rubricItemId);
  if (isDecided === isUndecided) return false;
  if (against === null && (first === null || second === null)) {
    const given = done.reviews.flatMap((review): AnswerValue[] => {
      const answer = review.answers.find((one) => one.rubricItemId === rubricItemId);
      return answer ? [answer.value] : [];
    });
    return new Set(given).size > 1;
  }
  const [one, other] = labelsOf(done, query, rubric);
  if (one == null || other == null) return false;
  const isNamed = firstValue !== null || secondValue !== null;
  if (!isNamed) return one !== other;
  return (firstValue === null || one === firstValue) && (secondValue === null || other === secondValue);
}

/** The done items whose reviews differ in an item of the rubric, or of one cell of a confusion matrix. Throws `not_found`. */
export async function findDisagreements(
  id: string,
  query: DisagreementQuery,
  options: DoneItemsOptions,
  { reader, signal }: { readonly reader: ReviewReader; readonly signal: AbortSignal },
): Promise<DisagreementPage> {
  const { store, reviews } = options;
  const queue = store.read(id);
  if (query.passValue !== undefined || query.flaggedValue !== undefined) checkMeaning(queue.rubric.items, query);
  const { you, canDecide } = reader;
  const seesAll = canDecide || isComplete(store, queue);
  const found: DoneItem[] = [];
  let total = 0;
  for await (const slice of eachDoneItem(queue, options, signal)) {
    for (const done of slice) {
      const mayRead = seesAll || done.reviews.some(({ reviewer }) => reviewer === you?.sequence);
      if (!mayRead || !matches(done, query, queue.rubric.items)) continue;
      if (total >= query.offset && found.length < query.limit) found.push(done);
      total += 1;
    }
  }
  const context = { queue, you, reviews, now: Date.now() };
  const items = describeItems(
    found.map(({ item }) => item),
    context,
    importedStart(store, queue),
  );
  const rubricItem = queue.rubric.items.find((one) => one.id === query.rubricItemId);
  const outsideOf = (done: DoneItem): Outside[] =>
    (rubricItem ? outsideRatings(done, rubricItem, meaningOf(rubricItem, query)) : [])
      // Of the categories only those that flagged it: the others say no more than the guard as a whole.
      .filter(({ outside, label }) => label !== 'notFlagged' || outside.id === 'flagged')
      .map(({ outside: { kind, name }, label }) => ({ kind, name, value: label }));
  const data = found.map((done, index) => ({
    item: items[index]!,
    reviews: done.reviews.map((review) => reviewOf(review, you)),
    outside: outsideOf(done),
  }));
  return { data, offset: query.offset, total };
}
