import { setTimeout as wait } from 'node:timers/promises';
import {
  newestExchangeRuns,
  type ProviderExchange,
  type ProviderExchangeSettings,
} from '../../shared/contract/provider-exchanges.ts';
import { ActiveMap } from '../common/active-values.ts';
import type { Log } from '../log.ts';
import type { ExchangeStore, StoredExchange } from '../storage/exchange-store.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { ExchangeLog } from './exchange-log.ts';

/** Records and stores provider exchanges. */
export interface ProviderExchanges {
  /** The log for the calls of one run; null while the setting is off. */
  open(): ExchangeLog | null;
  /** The stored and the queued exchanges of a run. */
  read(runId: string): ProviderExchange[];
  /** Writes the queue. */
  close(): Promise<void>;
}

export interface ProviderExchangesOptions {
  readonly store: ExchangeStore;
  readonly settings: Pick<SettingsStore, 'read' | 'subscribe'>;
  readonly log: Log;
}

/**
 * Ended runs are queued for this long and then written together. Of more runs in a second than keep their exchanges, the older ones are
 * never written: writing and deleting them again took a fifth of the CPU time of a call.
 */
const writeDelayMilliseconds = 1000;
/** While runs end so fast that newer ones will supersede the queue within so many delays, it is written only then. */
const maxDelays = 5;
/** Bytes of one transaction, which takes some milliseconds. The rest waits for the next turn of the event loop. */
const sliceBytes = 262_144;
/** Beyond this, ended runs are written immediately, so that a burst can't fill the memory. */
const maxQueuedBytes = 33_554_432;
/** Runs per deletion. Each can have 2 MB, which SQLite overwrites with zeros. */
const pruneSlice = 8;
const prunePauseMilliseconds = 5;

const runLimits: Record<ProviderExchangeSettings['keep'], number> = {
  none: 0,
  newest: newestExchangeRuns,
  all: Number.MAX_SAFE_INTEGER,
};

interface ExchangeQueueOptions extends Pick<ProviderExchangesOptions, 'store' | 'log'> {
  /** How many runs keep their exchanges, by the setting. */
  readonly runLimit: () => number;
}

/** Writes exchanges, and deletes those of older runs. A failure is logged once, until a write succeeds. */
function createExchangeWriter({ store, runLimit, log }: ExchangeQueueOptions): (slice: StoredExchange[]) => void {
  let hasFailed = false;
  return (slice) => {
    // The setting was turned off meanwhile.
    if (slice.length === 0 || runLimit() === 0) return;
    try {
      store.write(slice);
      store.prune(runLimit(), slice.length + pruneSlice);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log('provider requests and responses could not be stored', error);
      hasFailed = true;
    }
  };
}

/** Exchanges of ended runs, written in slices a moment later. */
function createExchangeQueue(options: ExchangeQueueOptions) {
  const { runLimit } = options;
  const write = createExchangeWriter(options);
  const queue = new ActiveMap<ExchangeLog>();
  let queuedBytes = 0;
  let delays = 0;
  let timer: NodeJS.Timeout | null = null;
  let turn: NodeJS.Immediate | null = null;

  function takeSlice(): StoredExchange[] {
    const slice: StoredExchange[] = [];
    let bytes = 0;
    for (const [runId, exchanges] of queue) {
      if (bytes > sliceBytes) break;
      queue.delete(runId);
      queuedBytes -= exchanges.size;
      bytes += exchanges.size;
      slice.push({ runId, json: JSON.stringify(exchanges.read()) });
    }
    return slice;
  }

  const writeSlice = () => write(takeSlice());

  /** Leaves out those that newer ones, or the setting, would have deleted at once. */
  function dropSuperseded(): void {
    for (const [runId, exchanges] of queue) {
      if (queue.size <= runLimit()) return;
      queue.delete(runId);
      queuedBytes -= exchanges.size;
    }
  }

  function writeSlices(): void {
    timer = turn = null;
    writeSlice();
    if (queue.size > 0) turn = setImmediate(writeSlices);
  }

  function writeSoon(): void {
    timer = setTimeout(() => {
      delays += 1;
      if (delays < maxDelays && queue.size * maxDelays > runLimit() * delays) return writeSoon();
      delays = 0;
      writeSlices();
    }, writeDelayMilliseconds).unref();
  }

  return {
    find: (runId: string) => queue.get(runId),
    dropSuperseded,
    add(runId: string, exchanges: ExchangeLog): void {
      queue.set(runId, exchanges);
      queuedBytes += exchanges.size;
      dropSuperseded();
      while (queuedBytes > maxQueuedBytes) writeSlice();
      if (timer === null && turn === null) writeSoon();
    },
    writeAll(): void {
      if (timer) clearTimeout(timer);
      if (turn) clearImmediate(turn);
      while (queue.size > 0) writeSlice();
    },
  };
}

export function createProviderExchanges({ store, settings, log }: ProviderExchangesOptions): ProviderExchanges {
  const runLimit = () => runLimits[settings.read().providerExchanges.keep];
  const queue = createExchangeQueue({ store, runLimit, log });
  let pruning: Promise<void> | null = null;
  let isClosing = false;

  async function pruneAll(): Promise<void> {
    while (!isClosing && store.prune(runLimit(), pruneSlice) > 0) await wait(prunePauseMilliseconds);
  }

  function pruneInBackground(): void {
    pruning ??= pruneAll()
      .catch((error: unknown) => log('old provider requests and responses could not be deleted', error))
      .finally(() => {
        pruning = null;
      });
  }

  let applied = runLimit();
  const unsubscribe = settings.subscribe(() => {
    const isFewer = runLimit() < applied;
    applied = runLimit();
    if (!isFewer) return;
    queue.dropSuperseded();
    pruneInBackground();
  });
  // The last host may have ended during a deletion.
  pruneInBackground();

  return {
    open: () => (runLimit() === 0 ? null : new ExchangeLog(queue.add)),
    read(runId) {
      const queued = queue.find(runId);
      if (queued) return queued.read();
      const json = store.read(runId);
      return json === null ? [] : (JSON.parse(json) as ProviderExchange[]);
    },
    async close() {
      isClosing = true;
      unsubscribe();
      queue.writeAll();
      await pruning;
    },
  };
}
