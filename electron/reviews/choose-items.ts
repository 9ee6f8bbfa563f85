import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import {
  maxQueueItems,
  type ReviewQueueInput,
  type ReviewStratum,
  type SamplingPlan,
} from '../../shared/contract/review-queues.ts';
import type { PopulationRun } from '../storage/reviews/queue-rows.ts';

/** The items of a queue of the newest of each day, before it takes more. */
export interface FilledQueue {
  /** Of conversations or runs. */
  readonly ids: readonly string[];
  /** How many items each day has. */
  readonly days: Readonly<Record<string, number>>;
  /** The day that hasn't ended, in UTC. Every other one has, also a later one: the clock was wrong. */
  readonly today: string;
}

export type SampledFields = Pick<ReviewQueueInput, 'filter' | 'itemType' | 'plan'> & {
  /** Only what is added to these is chosen, day by day from the first one. */
  readonly filled?: FilledQueue;
};

export interface SampledItem {
  readonly conversationId: string;
  readonly runId: string;
  /** An index of the strata. */
  readonly stratum: number;
  readonly isFlagged: boolean;
}

/** What a plan would choose. */
export interface SampleSize {
  readonly population: number;
  readonly strata: ReviewStratum[];
  readonly items: number;
}

export interface Sample {
  readonly population: number;
  readonly strata: ReviewStratum[];
  /** In the order in which they are reviewed. */
  readonly items: SampledItem[];
}

/** Where the conversations or runs of a filter are: on this device, or in the team database. */
export interface Population {
  /** The runs that stand for the items, in slices: of a conversation the newest matching one. Rejects with the signal's reason. */
  runs(fields: SampledFields, signal: AbortSignal): AsyncIterable<readonly PopulationRun[]>;
  /** The runs with these sequences, in no order, without removed ones. */
  read(sequences: readonly number[], fields: SampledFields): Promise<readonly PopulationRun[]>;
}

/** A number from 0 to below 1 that the seed and the id determine, so that it does not matter in which order runs were recorded. */
export function priorityOf(seed: number, purpose: string, id: string): number {
  return hash('sha256', `${seed}:${purpose}:${id}`, 'buffer').readUIntBE(0, 6) / 2 ** 48;
}

/** A conversation or a run of the population. */
interface Candidate {
  readonly sequence: number;
  readonly priority: number;
  readonly createdAt: number;
}

const bands = [
  { name: '-10 to -4', max: -4 },
  { name: '-3 to 3', max: 3 },
  { name: '4 to 10', max: 10 },
] as const;

/** Whether a plan looks at what the guard flagged. */
export const isFlagPlan = (plan: SamplingPlan): boolean =>
  plan.kind === 'flagged' || (plan.kind === 'stratified' && plan.by === 'moderation');

/** The day of a time, in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The stratum of a run. */
function stratumOf(plan: SamplingPlan, run: PopulationRun): string {
  if (plan.kind === 'newest') return dayOf(run.createdAt);
  if (isFlagPlan(plan)) return run.isFlagged === 1 ? 'flagged' : 'not flagged';
  if (plan.kind !== 'stratified') return 'all';
  if (plan.by === 'model') return run.model;
  if (plan.by === 'tag') return run.tags?.split(',', 1)[0]?.trim() || 'no tag';
  return bands.find(({ max }) => run.score !== null && run.score <= max)?.name ?? 'no score';
}

/** How many of a stratum's population the plan takes. */
function sizeOf(plan: SamplingPlan, stratum: string, population: number): number {
  if (plan.kind === 'all') return population;
  if (plan.kind === 'newest') return Math.min(plan.perDay, population);
  if (plan.kind === 'flagged') return stratum === 'flagged' ? population : Math.round(plan.share * population);
  const { count, share } = plan;
  // At least one of each stratum, so that none is unknown.
  return count === undefined ? Math.max(1, Math.round(share! * population)) : Math.min(count, population);
}

type Order = (one: Candidate, other: Candidate) => number;

const newestFirst: Order = (one, other) => other.createdAt - one.createdAt || other.sequence - one.sequence;
const byPriority: Order = (one, other) => one.priority - other.priority || one.sequence - other.sequence;

const orderOf = ({ kind }: SamplingPlan): Order => (kind === 'all' || kind === 'newest' ? newestFirst : byPriority);

/** Candidates that are sorted at once: less than a millisecond. */
const sortedAtOnce = 2000;

/** The first candidates of a stratum, which can have millions: a queue never takes more than these. */
class Stratum {
  population = 0;
  readonly #order: Order;
  #first: Candidate[] = [];
  #added: Candidate[] = [];

  constructor(order: Order) {
    this.#order = order;
  }

  add(candidate: Candidate): void {
    this.population += 1;
    this.#added.push(candidate);
    if (this.#added.length >= sortedAtOnce) this.#merge();
  }

  /** The first `size` of them, or as many as a queue can have. */
  take(size: number): Candidate[] {
    this.#merge();
    return this.#first.slice(0, size);
  }

  #merge(): void {
    const [first, added] = [this.#first, this.#added.sort(this.#order)];
    const merged: Candidate[] = [];
    for (let [at, next] = [0, 0]; merged.length < maxQueueItems && (at < first.length || next < added.length);) {
      const isOlder = next >= added.length || (at < first.length && this.#order(first[at]!, added[next]!) <= 0);
      merged.push(isOlder ? first[at++]! : added[next++]!);
    }
    this.#first = merged;
    this.#added = [];
  }
}

/** All that a filter matches now, by the name of its stratum. */
async function readStrata(
  fields: SampledFields,
  seed: number,
  population: Population,
  signal: AbortSignal,
): Promise<[name: string, stratum: Stratum][]> {
  const strata = new Map<string, Stratum>();
  const order = orderOf(fields.plan);
  const known = new Set(fields.filled?.ids);
  for await (const slice of population.runs(fields, signal)) {
    for (const run of slice) {
      const name = stratumOf(fields.plan, run);
      const id = fields.itemType === 'run' ? run.runId : run.conversationId;
      if (name === fields.filled?.today || known.has(id)) continue;
      const stratum = strata.get(name) ?? new Stratum(order);
      strata.set(name, stratum);
      const { sequence, createdAt } = run;
      stratum.add({ sequence, createdAt, priority: priorityOf(seed, 'sample', id) });
    }
    signal.throwIfAborted();
  }
  return [...strata].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const sumOf = (strata: readonly ReviewStratum[], field: 'population' | 'items') =>
  strata.reduce((sum, stratum) => sum + stratum[field], 0);

const describeStrata = ({ plan }: SampledFields, strata: readonly (readonly [string, Stratum])[]): ReviewStratum[] =>
  strata.map(([name, { population }]) => ({ name, population, items: sizeOf(plan, name, population) }));

/** How many a plan would choose. Rejects with the signal's reason. */
export async function countSample(
  fields: SampledFields,
  population: Population,
  signal: AbortSignal,
): Promise<SampleSize> {
  const strata = describeStrata(fields, await readStrata(fields, 0, population, signal));
  return { population: sumOf(strata, 'population'), strata, items: sumOf(strata, 'items') };
}

/** Throws `invalid_request` for a filter without matches, and `payload_too_large`. */
function requireItems(strata: readonly ReviewStratum[]): void {
  const items = sumOf(strata, 'items');
  if (sumOf(strata, 'population') === 0) throw invalidField('filter', 'matches no run');
  if (items === 0) throw invalidField('plan', 'chooses no item');
  if (items <= maxQueueItems) return;
  throw new AppError(
    'payload_too_large',
    `The plan chooses ${items.toLocaleString('en-US')} items, and a queue can have ${maxQueueItems.toLocaleString('en-US')}. Choose a sample, or narrow the filter.`,
  );
}

/** Runs that are read at once: about 5 ms. */
export const runsAtOnce = 500;

/** What the days that have ended add: the newest of each, until it has as many as the plan says, and the queue as many as it can have. */
function describeDays(
  plan: SamplingPlan,
  { ids, days }: FilledQueue,
  found: readonly (readonly [string, Stratum])[],
): ReviewStratum[] {
  let free = maxQueueItems - ids.length;
  return found.map(([name, { population }]) => {
    const size = plan.kind === 'newest' ? plan.perDay - (days[name] ?? 0) : 0;
    const items = Math.max(0, Math.min(size, population, free));
    free -= items;
    return { name, population, items };
  });
}

/**
 * Chooses the items of a queue, or those that are added to it, whose population is what isn't in it yet. Throws `invalid_request` for a
 * filter without matches, and `payload_too_large`, unless items are added.
 */
export async function drawSample(
  fields: SampledFields,
  seed: number,
  population: Population,
  signal: AbortSignal,
): Promise<Sample> {
  const found = await readStrata(fields, seed, population, signal);
  const { plan, filled } = fields;
  const strata = filled ? describeDays(plan, filled, found) : describeStrata(fields, found);
  if (!filled) requireItems(strata);
  const chosen = found.flatMap(([, stratum], index) =>
    stratum.take(strata[index]!.items).map((one) => ({ ...one, stratum: index })),
  );
  if (!filled) chosen.sort(orderOf(plan));
  const items: SampledItem[] = [];
  for (let offset = 0; offset < chosen.length; offset += runsAtOnce) {
    const slice = chosen.slice(offset, offset + runsAtOnce);
    const read = await population.read(
      slice.map(({ sequence }) => sequence),
      fields,
    );
    const runs = new Map(read.map((run) => [run.sequence, run]));
    for (const { sequence, stratum } of slice) {
      const run = runs.get(sequence);
      // Without one it was removed in between.
      if (run)
        items.push({ conversationId: run.conversationId, runId: run.runId, stratum, isFlagged: run.isFlagged === 1 });
    }
    await nextTurn();
    signal.throwIfAborted();
  }
  return { population: sumOf(strata, 'population'), strata, items };
}
