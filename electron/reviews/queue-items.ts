import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { ReviewQueueInput } from '../../shared/contract/review-queues.ts';
import type { ChosenItem, QueuePlan, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { TeamRecords } from '../team/team-records.ts';
import {
  countSample,
  drawSample,
  priorityOf,
  type FilledQueue,
  type Sample,
  type SampledItem,
  type SampleSize,
} from './choose-items.ts';
import { readTeamTexts } from './item-texts.ts';
import { createLocalPopulation, type LocalPopulationOptions } from './sampling.ts';

export type Preview = Pick<ReviewQueueInput, 'filter' | 'source' | 'itemType' | 'plan'>;

export interface QueueCall {
  /** Whether the caller may read the runs of other hosts of the team. */
  readonly readsTeam: boolean;
  readonly signal: AbortSignal;
}

export interface QueueItemsOptions extends LocalPopulationOptions {
  readonly store: QueueStore;
  readonly team: TeamRecords;
}

const onlyForWindow = 'Only a host that was started with --team shows its runs to programs.';

export type Sampler = ReturnType<typeof createSampler>;

/** Chooses items on this device or in the team database. All throw `conflict` without the team database. */
export function createSampler({ team, ...options }: QueueItemsOptions) {
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
    /** With `filled` only what is added to it. */
    draw: (input: Preview & { filled?: FilledQueue }, seed: number, call: QueueCall): Promise<Sample> => {
      const { filter, itemType, plan, filled } = input;
      const fields = { filter, itemType, plan, ...(filled && { filled }) };
      return isTeam(input, call) ? team.drawSample(fields, seed, call) : drawSample(fields, seed, local, call.signal);
    },
  };
}

/** Hashes that are computed at once: about 5 ms. */
const hashesAtOnce = 5000;
const itemsAtOnce = 500;
/** With their texts. */
const teamItemsAtOnce = 20;
/** Rows with an ID each: about 5 ms. */
const chosenAtOnce = 5000;

/** What a queue has already. */
export interface Present {
  readonly items: number;
  /** Items that one more reviewer reviews. */
  readonly second: number;
}

export const isSecond = ({ needed }: ChosenItem, { reviewersPerItem }: QueuePlan): boolean => needed > reviewersPerItem;

/** All items of a queue, also removed ones. */
export async function readChosen(store: QueueStore, queue: StoredQueue): Promise<ChosenItem[]> {
  const chosen: ChosenItem[] = [];
  const count = store.itemCount(queue.sequence);
  for (let from = 0; from < count; from += chosenAtOnce) {
    chosen.push(...store.chosenIn(queue, { from, to: from + chosenAtOnce }));
    await nextTurn();
  }
  return chosen;
}

/** The items that one more reviewer reviews, so that they are the share of all items, also of those that are present. */
async function findSecond(
  items: readonly SampledItem[],
  { seed, secondShare, itemType }: QueuePlan,
  present: Present,
): Promise<ReadonlySet<SampledItem>> {
  const count = Math.round(secondShare * (present.items + items.length)) - present.second;
  if (count <= 0) return new Set();
  const priorities = new Map<SampledItem, number>();
  for (const [index, item] of items.entries()) {
    priorities.set(item, priorityOf(seed, 'second', itemType === 'run' ? item.runId : item.conversationId));
    if (index % hashesAtOnce === 0) await nextTurn();
  }
  const order = items.toSorted((one, other) => priorities.get(one)! - priorities.get(other)!);
  return new Set(order.slice(0, count));
}

export type AppendItems = ReturnType<typeof createItemWriter>;

/** Appends items to a queue, in parts. Resolves with what the queue has then. */
export function createItemWriter({ store, team }: Pick<QueueItemsOptions, 'store' | 'team'>) {
  return async (
    { sequence, plan }: Pick<StoredQueue, 'sequence' | 'plan'>,
    items: readonly SampledItem[],
    signal: AbortSignal,
    present: Present = { items: 0, second: 0 },
  ): Promise<Present> => {
    const second = await findSecond(items, plan, present);
    const isTeam = plan.source === 'team';
    const atOnce = isTeam ? teamItemsAtOnce : itemsAtOnce;
    let position = present.items;
    for (let offset = 0; offset < items.length; offset += atOnce) {
      const slice = items.slice(offset, offset + atOnce);
      const texts = isTeam ? await readTeamTexts(team, plan, slice) : null;
      const added = slice
        .map((item, index) => ({
          ...item,
          id: randomUUID(),
          needed: plan.reviewersPerItem + Number(second.has(item)),
          content: texts && texts[index]!,
        }))
        // Without texts it was deleted in the team database in between.
        .filter(({ content }) => content === null || content.length > 0);
      signal.throwIfAborted();
      store.append(sequence, position, added);
      position += added.length;
      await nextTurn();
    }
    signal.throwIfAborted();
    return { items: position, second: present.second + second.size };
  };
}
