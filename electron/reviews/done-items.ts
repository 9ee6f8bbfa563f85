import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReviewAnswer } from '../../shared/contract/review-items.ts';
import type { AnswerValue } from '../../shared/contract/rubrics.ts';
import type { JudgeInput } from '../../shared/contract/judges.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore, StoredComment, StoredReview } from '../storage/reviews/review-store.ts';
import { finalAnswers } from './consensus.ts';
import { answersOf, goldOf, isDone } from './describe-item.ts';

/** What a model judge says about the run of an item. */
export interface JudgedItem {
  readonly judgeId: string;
  readonly name: string;
  readonly form: JudgeInput['verdict'];
  readonly verdict: 'pass' | 'fail' | number;
}

/** An item with all its reviews. */
export interface DoneItem {
  readonly item: StoredItem;
  readonly reviews: readonly (StoredReview & { readonly answers: readonly ReviewAnswer[] })[];
  /** Who left the item to others, with the reason as the note. */
  readonly skips: readonly StoredReview[];
  /** The discussion, oldest first. */
  readonly comments: readonly StoredComment[];
  /** Without a review that somebody asked for: items that people ask about are no random sample. */
  readonly measured: DoneItem['reviews'];
  /** Gold values, otherwise the consensus, by items of the rubric. */
  readonly final: ReadonlyMap<string, AnswerValue>;
  readonly judged: readonly JudgedItem[];
  /** The guard's flags; null if it did not check the run. */
  readonly flags: readonly string[] | null;
}

export interface DoneItemsOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
}

/** Positions that are read at once: a few milliseconds with five reviewers. */
const positionsAtOnce = 50;

/** The done items of a queue in their order, in slices between which other work runs. Removed ones are left out. */
export async function* eachDoneItem(
  queue: StoredQueue,
  { store, reviews }: DoneItemsOptions,
  signal: AbortSignal,
): AsyncGenerator<DoneItem[]> {
  const count = store.itemCount(queue.sequence);
  for (let from = 0; from < count; from += positionsAtOnce) {
    const range = { from, to: from + positionsAtOnce };
    const items = store.items(queue.sequence, { offset: from, limit: positionsAtOnce });
    const given = Map.groupBy(reviews.reviewsIn(queue.sequence, range), ({ item }) => item);
    const comments = Map.groupBy(reviews.commentsIn(queue.sequence, range), ({ item }) => item);
    const judged = Map.groupBy(store.verdictsIn(queue.sequence, range), ({ item }) => item);
    const flags = new Map(store.flagsIn(queue.sequence, range).map((one) => [one.item, one.flags]));
    yield items
      .filter((item) => item.isRemoved === 0 && isDone(item))
      .map((item) => {
        const own = (given.get(item.sequence) ?? [])
          .filter(({ kind }) => kind === 'review')
          .map((review) => ({ ...review, answers: answersOf(review) }));
        const answers = own.map((review) => review.answers);
        return {
          item,
          reviews: own,
          skips: (given.get(item.sequence) ?? []).filter(({ kind }) => kind === 'skip'),
          comments: comments.get(item.sequence) ?? [],
          measured: item.secondJson === null ? own : own.slice(0, item.needed - 1),
          final: finalAnswers(queue.rubric.items, answers, goldOf(item)),
          judged: (judged.get(item.sequence) ?? []).flatMap(({ judgeId, name, inputJson, verdictJson }) => {
            const verdict = JSON.parse(verdictJson) as JudgedItem['verdict'] | null;
            const form = (JSON.parse(inputJson) as JudgeInput).verdict;
            return verdict === null ? [] : [{ judgeId, name, form, verdict }];
          }),
          flags: flags.get(item.sequence) ?? null,
        };
      });
    await nextTurn();
    signal.throwIfAborted();
  }
}
