import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditSamples } from '../../../shared/contract/audit-data.ts';
import type { SampleStore } from '../../storage/sample-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import { createSampleSet, type SampleConversation } from './sample-set.ts';

/** The sample data of the data folder. Changes run one after the other. */
export interface Samples {
  state(): AuditSamples;
  /** Loads the data unless it is loaded. */
  load(): Promise<AuditSamples>;
  /** Removes exactly the loaded data. */
  remove(): Promise<AuditSamples>;
  /** Resolves when no change is active. The next start reverts an interrupted one. */
  close(): Promise<void>;
}

export interface SamplesOptions {
  readonly store: SampleStore;
  readonly runs: RunStore;
  readonly now?: () => number;
}

/** Conversations per transaction, few enough that other requests don't wait. */
const sliceConversations = 10;

async function writeSamples(
  conversations: readonly SampleConversation[],
  { store, runs }: Pick<SamplesOptions, 'store' | 'runs'>,
): Promise<void> {
  store.mark(conversations.map(({ id }) => id));
  const samples = conversations.flatMap((conversation) => conversation.runs);
  for (const { id, name, callerId, runs: members } of conversations) {
    const workspaceId = members[0]?.run.workspaceId ?? null;
    runs.joinConversation({ conversationId: id, workspaceId, callerId, name });
  }
  await Promise.all(
    samples.map(({ run, outcome }) => {
      runs.begin(run);
      return runs.finish(run.runId, outcome);
    }),
  );
  store.giveFeedback(samples.flatMap(({ feedback }) => feedback ?? []));
}

export async function createSamples({ store, runs, now = Date.now }: SamplesOptions): Promise<Samples> {
  let isClosing = false;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  function state(): AuditSamples {
    const stored = store.state();
    return {
      isLoaded: stored?.isWhole === true,
      ...store.count(),
      loadedAt: stored?.isWhole === true ? new Date(stored.loadedAt).toISOString() : null,
    };
  }

  async function removeAll(): Promise<void> {
    const stored = store.state();
    // From now on the data is incomplete: if the host stops here, the next start removes the rest.
    if (stored?.isWhole) store.begin(stored.loadedAt);
    while (store.removeSome(sliceConversations)) await nextTurn();
  }

  async function load(): Promise<void> {
    if (store.state()?.isWhole) return;
    await removeAll();
    const loadedAt = now();
    store.begin(loadedAt);
    let slice: SampleConversation[] = [];
    for (const conversation of createSampleSet(loadedAt)) {
      slice.push(conversation);
      if (slice.length < sliceConversations) continue;
      await writeSamples(slice, { store, runs });
      slice = [];
      await nextTurn();
      if (isClosing) return;
    }
    await writeSamples(slice, { store, runs });
    store.finish();
  }

  // A host that stopped while loading or removing left an incomplete set.
  if (store.state()?.isWhole === false) await removeAll();

  return {
    state,
    load: () => inTurn(load).then(state),
    remove: () => inTurn(removeAll).then(state),
    async close() {
      isClosing = true;
      await last;
    },
  };
}
