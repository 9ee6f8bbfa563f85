import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import {
  maxQueueItems,
  type ReviewQueueInput,
  type ReviewStratum,
  type SamplingPlan,
} from '../../shared/contract/review-queues.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { conversationsOf } from '../audit/query/selection.ts';
import type { PopulationRun, QueueStore } from '../storage/reviews/queue-store.ts';

export interface SampledItem {
  readonly conversationId: string;
  readonly runId: string;
  /** An index of the strata. */
  readonly stratum: number;
  readonly isFlagged: boolean;
}

export interface Sample {
  readonly population: number;
  readonly strata: ReviewStratum[];
  /** In the order in which they are reviewed. */
  readonly items: SampledItem[];
}

export interface SamplingOptions {
  readonly audit: Pick<AuditStore, 'select'>;
  readonly store: Pick<QueueStore, 'populationRuns'>;
}

/** A number from 0 to below 1 that the seed and the id determine, so that it does not matter in which order runs were recorded. */
export function priorityOf(seed: number, purpose: string, id: string): number {
  return hash('sha256', `${seed}:${purpose}:${id}`, 'buffer').readUIntBE(0, 6) / 2 ** 48;
}

/** A conversation or a run of the population. Kept small: there can be millions. */
interface Candidate {
  readonly sequence: number;
  readonly priority: number;
  readonly createdAt: number;
  readonly isFlagged: boolean;
}

type SampledFields = Pick<ReviewQueueInput, 'filter' | 'itemType' | 'plan'>;

/** Runs that are read at once: about 5 ms. */
const runsAtOnce = 500;

/** The sequences of the runs that stand for the items: of a conversation the newest matching one. */
async function findRepresentatives(
  { filter, itemType }: SampledFields,
  audit: SamplingOptions['audit'],
  signal: AbortSignal,
): Promise<number[]> {
  const { numbers } = await audit.select(filter, { signal });
  const found: number[] = [];
  let walked = 0;
  for (const { runs } of conversationsOf(numbers)) {
    if (itemType === 'conversation') found.push(runs.at(-1)!);
    else for (const run of runs) found.push(run);
    walked += 1;
    if (walked % 10_000 === 0) await nextTurn();
  }
  return found;
}

const bands = [
  { name: '-10 to -4', max: -4 },
  { name: '-3 to 3', max: 3 },
  { name: '4 to 10', max: 10 },
] as const;

/** The stratum of a run. */
function stratumOf(plan: SamplingPlan, run: PopulationRun): string {
  if (plan.kind === 'newest') return new Date(run.createdAt).toISOString().slice(0, 10);
  const isByFlag = plan.kind === 'flagged' || (plan.kind === 'stratified' && plan.by === 'moderation');
  if (isByFlag) return run.isFlagged === 1 ? 'flagged' : 'not flagged';
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

/** All that a filter matches now, by stratum. */
async function readPopulation(
  fields: SampledFields,
  seed: number,
  { audit, store }: SamplingOptions,
  signal: AbortSignal,
): Promise<Map<string, Candidate[]>> {
  const { itemType, plan } = fields;
  const sequences = await findRepresentatives(fields, audit, signal);
  const strata = new Map<string, Candidate[]>();
  for (let offset = 0; offset < sequences.length; offset += runsAtOnce) {
    for (const run of store.populationRuns(sequences.slice(offset, offset + runsAtOnce), itemType)) {
      const name = stratumOf(plan, run);
      const id = itemType === 'run' ? run.runId : run.conversationId;
      const { sequence, createdAt } = run;
      const candidate = {
        sequence,
        createdAt,
        isFlagged: run.isFlagged === 1,
        priority: priorityOf(seed, 'sample', id),
      };
      const known = strata.get(name);
      if (known) known.push(candidate);
      else strata.set(name, [candidate]);
    }
    await nextTurn();
    signal.throwIfAborted();
  }
  return strata;
}

const newestFirst = (one: Candidate, other: Candidate) =>
  other.createdAt - one.createdAt || other.sequence - one.sequence;
const byPriority = (one: Candidate, other: Candidate) => one.priority - other.priority || one.sequence - other.sequence;

/** The plan's choice of a population. */
function choose(plan: SamplingPlan, population: ReadonlyMap<string, Candidate[]>) {
  const order = plan.kind === 'all' || plan.kind === 'newest' ? newestFirst : byPriority;
  const names = [...population.keys()].toSorted();
  const chosen = names.flatMap((name, stratum) => {
    const candidates = population.get(name)!;
    const size = sizeOf(plan, name, candidates.length);
    const taken = size === candidates.length ? candidates : candidates.toSorted(order).slice(0, size);
    return taken.map((candidate) => ({ ...candidate, stratum }));
  });
  const strata = names.map((name, stratum) => ({
    name,
    population: population.get(name)!.length,
    items: chosen.filter((one) => one.stratum === stratum).length,
  }));
  return { strata, chosen: chosen.toSorted(order) };
}

/** How many a plan would choose. Rejects with the signal's reason. */
export async function countSample(
  fields: SampledFields,
  options: SamplingOptions,
  signal: AbortSignal,
): Promise<Omit<Sample, 'items'> & { items: number }> {
  const { strata, chosen } = choose(fields.plan, await readPopulation(fields, 0, options, signal));
  const population = strata.reduce((sum, stratum) => sum + stratum.population, 0);
  return { population, strata, items: chosen.length };
}

/** Chooses the items of a queue. Throws `invalid_request` for a filter without matches, and `payload_too_large`. */
export async function drawSample(
  fields: SampledFields,
  seed: number,
  options: SamplingOptions,
  signal: AbortSignal,
): Promise<Sample> {
  const { strata, chosen } = choose(fields.plan, await readPopulation(fields, seed, options, signal));
  const population = strata.reduce((sum, stratum) => sum + stratum.population, 0);
  if (population === 0) throw invalidField('filter', 'matches no run');
  if (chosen.length === 0) throw invalidField('plan', 'chooses no item');
  if (chosen.length > maxQueueItems)
    throw new AppError(
      'payload_too_large',
      `The plan chooses ${chosen.length.toLocaleString('en-US')} items, and a queue can have ${maxQueueItems.toLocaleString('en-US')}. Choose a sample, or narrow the filter.`,
    );
  const items: SampledItem[] = [];
  for (let offset = 0; offset < chosen.length; offset += runsAtOnce) {
    const slice = chosen.slice(offset, offset + runsAtOnce);
    const runs = new Map(
      options.store
        .populationRuns(
          slice.map(({ sequence }) => sequence),
          fields.itemType,
        )
        .map((run) => [run.sequence, run]),
    );
    for (const { sequence, stratum, isFlagged } of slice) {
      const run = runs.get(sequence);
      // Without one it was removed in between.
      if (run) items.push({ conversationId: run.conversationId, runId: run.runId, stratum, isFlagged });
    }
    await nextTurn();
    signal.throwIfAborted();
  }
  return { population, strata, items };
}
