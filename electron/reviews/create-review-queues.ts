import { randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { ReviewItem } from '../../shared/contract/review-items.ts';
import type { ReviewQueue, ReviewQueueInput, ReviewQueueSummary } from '../../shared/contract/review-queues.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { QueuePlan, QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore } from '../storage/reviews/review-store.ts';
import type { ReviewerStore, StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import type { RubricStore } from '../storage/reviews/rubric-store.ts';
import type { TeamRecords } from '../team/team-records.ts';
import { describeItems } from './describe-item.ts';
import { createDescriber, importedTitle } from './describe-queue.ts';
import type { SharedQueues } from './sharing.ts';
import { countSample, drawSample, priorityOf, type Sample, type SampledItem, type SampleSize } from './choose-items.ts';
import { readTeamTexts } from './item-texts.ts';
import { createLocalPopulation, type LocalPopulationOptions } from './sampling.ts';

type Preview = Pick<ReviewQueueInput, 'filter' | 'source' | 'itemType' | 'plan'>;

export interface QueueCall {
  /** Whether the caller may read the runs of other hosts of the team. */
  readonly readsTeam: boolean;
  readonly signal: AbortSignal;
}

/** Methods with an id throw `not_found`. `you` is the caller as a reviewer; null before its first review. */
export interface ReviewQueues {
  list(query: ListQuery): Promise<ListPage<ReviewQueueSummary>>;
  preview(input: Preview, call: QueueCall): Promise<SampleSize>;
  /** Throws `invalid_request` for a filter without matches and an unknown reviewer, and `payload_too_large`. */
  create(input: ReviewQueueInput, you: StoredReviewer | null, call: QueueCall): Promise<ReviewQueue>;
  read(id: string, you: StoredReviewer | null): ReviewQueue;
  /** Returns when all rows are deleted. */
  remove(id: string): Promise<void>;
  items(
    id: string,
    range: { offset: number; limit: number },
    you: StoredReviewer | null,
  ): { data: ReviewItem[]; offset: number; total: number };
  close(): Promise<void>;
}

export interface ReviewQueuesOptions extends LocalPopulationOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  readonly rubrics: RubricStore;
  readonly shared: SharedQueues;
  readonly team: TeamRecords;
}

const maxSeed = 2 ** 32;
const itemsAtOnce = 500;
/** With their texts. */
const teamItemsAtOnce = 20;
const defaultReservationMinutes = 15;

/** Hashes that are computed at once: about 5 ms. */
const hashesAtOnce = 5000;

/** The items that one more reviewer reviews. */
async function findSecond(
  items: readonly SampledItem[],
  { seed, secondShare, itemType }: QueuePlan,
): Promise<ReadonlySet<SampledItem>> {
  const count = Math.round(secondShare * items.length);
  if (count === 0) return new Set();
  const priorities = new Map<SampledItem, number>();
  for (const [index, item] of items.entries()) {
    priorities.set(item, priorityOf(seed, 'second', itemType === 'run' ? item.runId : item.conversationId));
    if (index % hashesAtOnce === 0) await nextTurn();
  }
  const order = items.toSorted((one, other) => priorities.get(one)! - priorities.get(other)!);
  return new Set(order.slice(0, count));
}

/** What a person decided, with defaults. Throws `invalid_request`. */
function createPlanner({ reviewers }: ReviewQueuesOptions) {
  /** The ids as they are stored. */
  function requireReviewers(ids: readonly string[] | undefined): string[] | null {
    if (!ids) return null;
    const found = ids.map((id, index) => {
      const reviewer = reviewers.find(id);
      if (!reviewer) throw invalidField(`reviewerIds[${index}]`, 'is not a reviewer');
      return reviewer.id;
    });
    return [...new Set(found)];
  }

  return (input: ReviewQueueInput): QueuePlan => {
    const reviewerIds = requireReviewers(input.reviewerIds);
    const reviewersPerItem = input.reviewersPerItem ?? reviewerIds?.length ?? 1;
    const secondShare = input.secondShare ?? 0;
    const highest = reviewersPerItem + (secondShare > 0 ? 1 : 0);
    if (reviewerIds && highest > reviewerIds.length)
      throw invalidField('reviewersPerItem', `needs ${highest} reviewers, and ${reviewerIds.length} are named`);
    return {
      filter: input.filter,
      source: input.source ?? 'device',
      itemType: input.itemType,
      plan: input.plan,
      seed: input.seed ?? randomInt(maxSeed),
      reviewersPerItem,
      reviewerIds,
      secondShare,
      reservationMinutes: input.reservationMinutes ?? defaultReservationMinutes,
    };
  };
}

/** Other hosts must know the named reviewers. Throws `conflict` without a team database. */
async function shareReviewers(
  { reviewerIds }: ReviewQueueInput,
  { shared, reviewers }: ReviewQueuesOptions,
): Promise<void> {
  if (!shared.isOn())
    throw new AppError(
      'conflict',
      'No team database is connected. Connect one in Settings, or make a queue of this device.',
    );
  for (const id of reviewerIds ?? []) {
    const reviewer = reviewers.find(id);
    if (reviewer !== null) await shared.ensureReviewer(reviewer);
  }
}

/** The consensus on a run is written by the host that recorded it, which has a copy only of a shared queue. */
function withSharing(input: ReviewQueueInput): ReviewQueueInput {
  if (input.source !== 'team') return input;
  if (input.isShared === false) throw invalidField('isShared', "must be true for the team's runs");
  return { ...input, isShared: true };
}

const onlyForWindow = 'Only a host that was started with --team shows its runs to programs.';

/** Chooses items on this device or in the team database. All throw `conflict` without the team database. */
function createSampler({ team, ...options }: ReviewQueuesOptions) {
  const local = createLocalPopulation(options);

  function isTeam({ source }: Preview, { readsTeam }: QueueCall): boolean {
    if (source === 'team' && !readsTeam) throw new AppError('conflict', onlyForWindow);
    return source === 'team';
  }

  return {
    count: ({ filter, source, itemType, plan }: Preview, call: QueueCall): Promise<SampleSize> =>
      isTeam({ filter, source, itemType, plan }, call)
        ? team.countSample({ filter, itemType, plan }, call)
        : countSample({ filter, itemType, plan }, local, call.signal),
    draw: (input: Preview, seed: number, call: QueueCall): Promise<Sample> => {
      const { filter, itemType, plan } = input;
      return isTeam(input, call)
        ? team.drawSample({ filter, itemType, plan }, seed, call)
        : drawSample({ filter, itemType, plan }, seed, local, call.signal);
    },
  };
}

export function createReviewQueues(options: ReviewQueuesOptions): ReviewQueues {
  const { store, reviews, rubrics } = options;
  const planOf = createPlanner(options);
  const { summarize, describe } = createDescriber(options);
  const sampler = createSampler(options);
  let isClosed = false;
  let removal = Promise.resolve();

  /** Deletes removed queues, one after the other. */
  function removeHidden(): Promise<void> {
    removal = removal.then(async () => {
      while (!isClosed && store.removeSome()) await nextTurn();
    });
    return removal;
  }

  async function appendItems(items: readonly SampledItem[], plan: QueuePlan, sequence: number, signal: AbortSignal) {
    const second = await findSecond(items, plan);
    const isTeam = plan.source === 'team';
    let position = 0;
    for (let offset = 0; offset < items.length; offset += isTeam ? teamItemsAtOnce : itemsAtOnce) {
      const slice = items.slice(offset, offset + (isTeam ? teamItemsAtOnce : itemsAtOnce));
      const texts = isTeam ? await readTeamTexts(options.team, plan, slice) : null;
      const added = slice
        .map((item, index) => ({
          ...item,
          id: randomUUID(),
          needed: plan.reviewersPerItem + Number(second.has(item)),
          content: texts && texts[index]!,
        }))
        // Without texts it was deleted in the team database in between.
        .filter(({ content }) => content === null || content.length > 0);
      store.append(sequence, position, added);
      position += added.length;
      await nextTurn();
      signal.throwIfAborted();
    }
  }

  async function create(given: ReviewQueueInput, you: StoredReviewer | null, call: QueueCall) {
    const { signal } = call;
    const input = withSharing(given);
    const { id, name, version, description, items } = rubrics.read(input.rubricId, input.rubricVersion ?? null);
    if (input.isShared) await shareReviewers(input, options);
    const plan = planOf(input);
    const sample = await sampler.draw(input, plan.seed, call);
    const queueId = randomUUID();
    const sequence = store.create({
      id: queueId,
      installationId: store.installationId,
      isImported: false,
      name: input.name,
      plan,
      population: sample.population,
      strata: sample.strata,
      rubric: { id, name, version, description, items },
      createdAt: Date.now(),
    });
    try {
      await appendItems(sample.items, plan, sequence, signal);
      if (input.isShared) await options.shared.publish(store.readSequence(sequence), signal);
    } catch (error) {
      store.hide(sequence);
      await removeHidden();
      throw error;
    }
    store.show(sequence);
    return describe(store.read(queueId), you);
  }

  void removeHidden();

  return {
    async list(query) {
      const { data, continuationToken } = store.list(query);
      const summaries: ReviewQueueSummary[] = [];
      for (const queue of data) {
        summaries.push(summarize(queue));
        // Counting 50,000 items takes 13 ms.
        await nextTurn();
      }
      return { data: summaries, continuationToken };
    },
    preview: (input, call) => sampler.count(input, call),
    create,
    read: (id, you) => describe(store.read(id), you),
    async remove(id) {
      const queue = store.read(id);
      if (queue.teamChange !== null) await options.shared.remove(queue);
      store.remove(id);
      await removeHidden();
    },
    close() {
      isClosed = true;
      return removal;
    },
    items(id, range, you) {
      const queue = store.read(id);
      const found = store.items(queue.sequence, range);
      const context = { queue, you, reviews, now: Date.now() };
      return {
        data: describeItems(found, context, importedTitle(store, queue)),
        offset: range.offset,
        total: store.itemCount(queue.sequence),
      };
    },
  };
}
