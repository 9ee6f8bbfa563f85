import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { conversationsOf } from '../audit/query/selection.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import { type Population, runsAtOnce, type SampledFields } from './choose-items.ts';

export interface LocalPopulationOptions {
  readonly audit: Pick<AuditStore, 'select'>;
  readonly store: Pick<QueueStore, 'populationRuns'>;
}

/** The sequences of the runs that stand for the items: of a conversation the newest matching one. */
async function findRepresentatives(
  { filter, itemType }: SampledFields,
  audit: LocalPopulationOptions['audit'],
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

/** What the filter matches on this device. */
export function createLocalPopulation({ audit, store }: LocalPopulationOptions): Population {
  return {
    async *runs(fields, signal) {
      const sequences = await findRepresentatives(fields, audit, signal);
      for (let offset = 0; offset < sequences.length; offset += runsAtOnce) {
        yield store.populationRuns(sequences.slice(offset, offset + runsAtOnce), fields.itemType);
        await nextTurn();
      }
    },
    read: (sequences, { itemType }) => Promise.resolve(store.populationRuns(sequences, itemType)),
  };
}
