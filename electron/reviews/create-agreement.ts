import type { ItemAgreement, ReviewAgreement } from '../../shared/contract/review-agreement.ts';
import type { RubricItem } from '../../shared/contract/rubrics.ts';
import type { RatingValue } from '../../shared/statistics/alpha.ts';
import type { PairAgreement, ReviewerAgreement } from '../../shared/statistics/reviewer-agreement.ts';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { AgreementMethods, RatingColumns } from './agreement-worker.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';
import {
  type AnswerMeaning,
  checkMeaning,
  labelOf,
  type MeaningChoice,
  meaningOf,
  type OutsideRating,
  outsideRatings,
  outsideScales,
} from './outside-ratings.ts';

/** Measures in a thread: 10,000 items with five reviewers take some tenths of a second. */
export interface Agreement {
  /** Of the done items. Throws `not_found` and, for an answer that isn't one, `invalid_request`; rejects with the signal's reason. */
  measure(
    id: string,
    options: { readonly signal: AbortSignal; readonly meaning?: MeaningChoice | undefined },
  ): Promise<ReviewAgreement>;
  close(): Promise<void>;
}

type Measured = Omit<ItemAgreement, 'rubricItemId' | 'question' | 'kind' | 'pairs' | 'against' | keyof AnswerMeaning>;

const scores = Array.from({ length: 21 }, (_, index) => index - 10);

/** The values of an item of a rubric in their order; null if they can't be compared. */
function orderOf({ kind, categories }: RubricItem): RatingValue[] | null {
  if (kind === 'yesNo') return ['yes', 'no'];
  if (kind === 'score') return scores;
  return kind === 'category' ? categories.map(({ label }) => label) : null;
}

/** Collects the ratings of one item of a rubric. */
class RatingTable {
  readonly #raters = new Map<string, number>();
  readonly #indexes: ReadonlyMap<string, number>;
  // One list for each column, which become typed arrays at once.
  readonly #items: number[] = [];
  readonly #raterIndexes: number[] = [];
  readonly #valueIndexes: number[] = [];

  readonly #order: readonly RatingValue[];

  constructor(order: readonly RatingValue[]) {
    this.#order = order;
    this.#indexes = new Map(order.map((value, index) => [String(value), index]));
  }

  add(item: number, rater: string, label: string): void {
    const value = this.#indexes.get(label);
    // A judge's score can be outside the scale.
    if (value === undefined) return;
    let number = this.#raters.get(rater);
    if (number === undefined) this.#raters.set(rater, (number = this.#raters.size));
    this.#items.push(item);
    this.#raterIndexes.push(number);
    this.#valueIndexes.push(value);
  }

  columns(): RatingColumns {
    return {
      raters: [...this.#raters.keys()],
      order: this.#order,
      items: new Uint32Array(this.#items),
      raterIndexes: new Uint16Array(this.#raterIndexes),
      valueIndexes: new Uint8Array(this.#valueIndexes),
    };
  }
}

const people = 'people';

/** The ratings of one item of a rubric: those of the reviewers, and the final ones beside judges and the guard. */
class ItemRatings {
  readonly own: RatingTable;
  /** The final values on each scale on which judges or the guard say something. */
  readonly final: Readonly<Record<OutsideRating['scale'], RatingTable>>;
  readonly outside = new Map<string, Pick<OutsideRating, 'outside' | 'scale'>>();
  readonly meaning: AnswerMeaning;
  readonly #item: RubricItem;

  constructor(item: RubricItem, order: readonly RatingValue[], meaning: AnswerMeaning) {
    this.#item = item;
    this.meaning = meaning;
    this.own = new RatingTable(order);
    this.final = {
      values: new RatingTable(order),
      pass: new RatingTable(outsideScales.pass),
      flag: new RatingTable(outsideScales.flag),
    };
  }

  add(done: DoneItem): void {
    const { item, measured } = done;
    const { id } = this.#item;
    for (const { reviewerId, answers } of measured) {
      const answer = answers.find(({ rubricItemId }) => rubricItemId === id);
      if (answer) this.own.add(item.position, reviewerId, labelOf(answer.value));
    }
    const scales = new Set<OutsideRating['scale']>();
    for (const { outside, scale, label, people: own } of outsideRatings(done, this.#item, this.meaning)) {
      if (own === null) return;
      // Once on each scale, beside all that it is compared with.
      if (!scales.has(scale)) this.final[scale].add(item.position, people, own);
      scales.add(scale);
      this.outside.set(outside.id, { outside, scale });
      this.final[scale].add(item.position, outside.id, label);
    }
  }
}

const nothing = { ratedItems: 0, percent: null, kappa: null, alpha: null, interval: null, matrix: null };

const asInterval = (interval: readonly [number, number] | null): [number, number] | null => interval && [...interval];

/** Several figures can be missing for the same reason. */
function reasonOf(...reasons: readonly (string | null)[]): string | null {
  return [...new Set(reasons.filter((reason) => reason !== null))].join(' ') || null;
}

function measuredAll({ items, percent, kappa, alpha, values, matrix }: ReviewerAgreement): Measured {
  return {
    ratedItems: items,
    percent: percent.value,
    kappa: kappa.value,
    alpha: alpha.value,
    interval: asInterval(alpha.interval),
    matrix: matrix && { labels: [...values], rows: matrix.map((row) => [...row]) },
    reason: reasonOf(percent.reason, kappa.reason, alpha.reason),
  };
}

function measuredPair({ items, percent, kappa, values, matrix }: PairAgreement): Measured {
  return {
    ratedItems: items,
    percent: percent.value,
    kappa: kappa.value,
    alpha: null,
    interval: asInterval(kappa.interval),
    matrix: { labels: [...values], rows: matrix.map((row) => [...row]) },
    reason: reasonOf(percent.reason, kappa.reason),
  };
}

interface CollectOptions {
  readonly signal: AbortSignal;
  readonly meaning: MeaningChoice | undefined;
}

async function collect(queue: StoredQueue, options: DoneItemsOptions, { signal, meaning }: CollectOptions) {
  const ratings = new Map<string, ItemRatings>();
  for (const item of queue.rubric.items) {
    const order = orderOf(item);
    if (order) ratings.set(item.id, new ItemRatings(item, order, meaningOf(item, meaning)));
  }
  const names = new Map<string, string>();
  const counts = { doneItems: 0, judgedItems: 0, moderatedItems: 0 };
  for await (const slice of eachDoneItem(queue, options, signal)) {
    for (const done of slice) {
      counts.doneItems += 1;
      counts.judgedItems += Number(done.judged.length > 0);
      counts.moderatedItems += Number(done.flags !== null);
      for (const { reviewerId, reviewerName } of done.reviews) names.set(reviewerId, reviewerName);
      for (const table of ratings.values()) table.add(done);
    }
  }
  return { ratings, names, counts };
}

export function createAgreement(options: DoneItemsOptions): Agreement {
  const worker = createWorkerClient<AgreementMethods>({
    name: 'The agreement of reviewers',
    start: () => startThread(workerUrl(import.meta.url, 'agreement-worker')),
  });

  async function measureItem(
    item: RubricItem,
    found: ItemRatings | undefined,
    { seed, names, signal }: { seed: number; names: ReadonlyMap<string, string>; signal: AbortSignal },
  ): Promise<ItemAgreement> {
    const described = { rubricItemId: item.id, question: item.question, kind: item.kind };
    if (!found)
      return { ...described, ...meaningOf(item), ...nothing, reason: 'Text is not measured.', pairs: [], against: [] };
    const level = item.kind === 'score' ? 'ordinal' : 'nominal';
    const all = await worker.call('measure', { columns: found.own.columns(), level, seed }, { signal });
    const pairs = all.pairs.map((pair) => {
      const [firstId, secondId] = pair.raters;
      return { first: names.get(firstId)!, second: names.get(secondId)!, firstId, secondId, ...measuredPair(pair) };
    });
    const { values, pass, flag } = found.final;
    const columns = { values: values.columns(), pass: pass.columns(), flag: flag.columns() };
    const against: ItemAgreement['against'] = [];
    for (const { outside, scale } of found.outside.values()) {
      const call = { columns: columns[scale], raters: [people, outside.id] } as const;
      const compared = await worker.call('compare', call, { signal });
      if (compared) against.push({ ...outside, ...measuredPair(compared) });
    }
    return { ...described, ...found.meaning, ...measuredAll(all), pairs, against };
  }

  return {
    async measure(id, { signal, meaning }) {
      const queue = options.store.read(id);
      if (meaning) checkMeaning(queue.rubric.items, meaning);
      const { ratings, names, counts } = await collect(queue, options, { signal, meaning });
      const items: ItemAgreement[] = [];
      for (const item of queue.rubric.items)
        items.push(await measureItem(item, ratings.get(item.id), { seed: queue.plan.seed, names, signal }));
      return { ...counts, reviewers: [...names].map(([reviewerId, name]) => ({ id: reviewerId, name })), items };
    },
    close: () => worker.terminate(new DOMException('The host was closed.', 'AbortError')),
  };
}
