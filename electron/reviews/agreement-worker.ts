/** Entry point of the thread that measures how far reviewers agree; started by `create-agreement.ts`. */
import { compareRaters, measureReviewers, type RatedItem } from '../../shared/statistics/reviewer-agreement.ts';
import type { Level, RatingValue } from '../../shared/statistics/alpha.ts';
import { serveCalls } from '../common/worker-server.ts';

/** The ratings of one item of a rubric, as columns: maps of 10,000 items would take the main thread long to copy. */
export interface RatingColumns {
  readonly raters: readonly string[];
  readonly order: readonly RatingValue[];
  /** Of each rating: the number of its item, ascending, and the indexes of its rater and of its value. */
  readonly items: Uint32Array;
  readonly raterIndexes: Uint16Array;
  readonly valueIndexes: Uint8Array;
}

function ratedItems({ raters, order, items, raterIndexes, valueIndexes }: RatingColumns): RatedItem[] {
  const found = new Map<number, Map<string, RatingValue>>();
  for (const [index, item] of items.entries()) {
    let ratings = found.get(item);
    if (!ratings) found.set(item, (ratings = new Map()));
    ratings.set(raters[raterIndexes[index]!]!, order[valueIndexes[index]!]!);
  }
  return [...found.values()];
}

const methods = {
  measure({ columns, level, seed }: { columns: RatingColumns; level: Level; seed: number }) {
    return measureReviewers(ratedItems(columns), level, { order: columns.order, seed });
  },
  compare({ columns, raters }: { columns: RatingColumns; raters: readonly [string, string] }) {
    return compareRaters(ratedItems(columns), raters, { order: columns.order });
  },
};

export type AgreementMethods = typeof methods;

serveCalls(methods);
