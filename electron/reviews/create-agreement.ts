import type { ItemAgreement, ReviewAgreement } from '../../shared/contract/review-agreement.ts';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import type { RatingValue } from '../../shared/statistics/alpha.ts';
import type { PairAgreement, ReviewerAgreement } from '../../shared/statistics/reviewer-agreement.ts';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { AgreementMethods, RatingColumns } from './agreement-worker.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem, type JudgedItem } from './done-items.ts';

/** Measures in a thread: 10,000 items with five reviewers take some tenths of a second. */
export interface Agreement {
  /** Of the done items. Throws `not_found`; rejects with the signal's reason. */
  measure(id: string, options: { readonly signal: AbortSignal }): Promise<ReviewAgreement>;
  close(): Promise<void>;
}

type Measured = Omit<ItemAgreement, 'rubricItemId' | 'question' | 'kind' | 'pairs' | 'against'>;

const scores = Array.from({ length: 21 }, (_, index) => index - 10);

/** The label of a value in a confusion matrix. */
export const labelOf = (value: AnswerValue): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);

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

/** What a judge's verdict means on the scale of an item of a rubric; null if it can't be compared. */
function judgedLabel({ form, verdict }: JudgedItem, { kind }: RubricItem): string | null {
  if (kind === 'score') return typeof verdict === 'number' ? String(verdict) : null;
  if (kind !== 'yesNo' || form.kind === 'preference') return null;
  const passes = typeof verdict === 'number' ? form.kind === 'score' && verdict >= form.passFrom : verdict === 'pass';
  return passes ? 'yes' : 'no';
}

/** What the reviewers are compared with. */
interface Outside {
  readonly kind: 'judge' | 'moderation';
  readonly id: string;
  readonly name: string;
}

/** What judges and the guard say about an item, as labels of its matrix. */
export function outsideRatings(
  { judged, flags }: DoneItem,
  item: RubricItem,
): { readonly outside: Outside; readonly label: string }[] {
  const found = judged.flatMap((one) => {
    const label = judgedLabel(one, item);
    return label === null ? [] : [{ outside: { kind: 'judge', id: one.judgeId, name: one.name } as const, label }];
  });
  if (flags === null || item.kind !== 'yesNo') return found;
  const outside = { kind: 'moderation', id: 'flagged', name: 'Guard: flagged' } as const;
  return [...found, { outside, label: flags.length > 0 ? 'yes' : 'no' }];
}

/** The ratings of one item of a rubric: those of the reviewers, and the final ones beside judges and the guard. */
class ItemRatings {
  readonly own: RatingTable;
  readonly final: RatingTable;
  readonly outside = new Map<string, Outside>();
  readonly #item: RubricItem;

  constructor(item: RubricItem, order: readonly RatingValue[]) {
    this.#item = item;
    this.own = new RatingTable(order);
    this.final = new RatingTable(order);
  }

  add(done: DoneItem): void {
    const { item, measured, final } = done;
    const { id } = this.#item;
    for (const { reviewerId, answers } of measured) {
      const answer = answers.find(({ rubricItemId }) => rubricItemId === id);
      if (answer) this.own.add(item.position, reviewerId, labelOf(answer.value));
    }
    const decided = final.get(id);
    if (decided === undefined) return;
    this.final.add(item.position, people, labelOf(decided));
    for (const { outside, label } of outsideRatings(done, this.#item)) {
      this.outside.set(outside.id, outside);
      this.final.add(item.position, outside.id, label);
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

async function collect(queue: StoredQueue, options: DoneItemsOptions, signal: AbortSignal) {
  const ratings = new Map<string, ItemRatings>();
  for (const item of queue.rubric.items) {
    const order = orderOf(item);
    if (order) ratings.set(item.id, new ItemRatings(item, order));
  }
  const names = new Map<string, string>();
  let doneItems = 0;
  for await (const slice of eachDoneItem(queue, options, signal)) {
    for (const done of slice) {
      doneItems += 1;
      for (const { reviewerId, reviewerName } of done.reviews) names.set(reviewerId, reviewerName);
      for (const table of ratings.values()) table.add(done);
    }
  }
  return { ratings, names, doneItems };
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
    if (!found) return { ...described, ...nothing, reason: 'Text is not measured.', pairs: [], against: [] };
    const level = item.kind === 'score' ? 'ordinal' : 'nominal';
    const all = await worker.call('measure', { columns: found.own.columns(), level, seed }, { signal });
    const pairs = all.pairs.map((pair) => {
      const [firstId, secondId] = pair.raters;
      return { first: names.get(firstId)!, second: names.get(secondId)!, firstId, secondId, ...measuredPair(pair) };
    });
    const columns = found.final.columns();
    const against: ItemAgreement['against'] = [];
    for (const outside of found.outside.values()) {
      const compared = await worker.call('compare', { columns, raters: [people, outside.id] }, { signal });
      if (compared) against.push({ ...outside, ...measuredPair(compared) });
    }
    return { ...described, ...measuredAll(all), pairs, against };
  }

  return {
    async measure(id, { signal }) {
      const queue = options.store.read(id);
      const { ratings, names, doneItems } = await collect(queue, options, signal);
      const items: ItemAgreement[] = [];
      for (const item of queue.rubric.items)
        items.push(await measureItem(item, ratings.get(item.id), { seed: queue.plan.seed, names, signal }));
      return { doneItems, reviewers: [...names].map(([reviewerId, name]) => ({ id: reviewerId, name })), items };
    },
    close: () => worker.terminate(new DOMException('The host was closed.', 'AbortError')),
  };
}
