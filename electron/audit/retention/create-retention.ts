import { setTimeout as wait } from 'node:timers/promises';
import type {
  Retention as RetentionSettings,
  RetentionPreview,
  RetentionState,
} from '../../../shared/contract/audit-data.ts';
import type { Log } from '../../log.ts';
import type { OldRunPosition, RetentionMode, RetentionStore } from '../../storage/retention-store.ts';
import type { SettingsStore } from '../../storage/storage.ts';

/** Runs that are counted per slice. */
const countedRuns = 500;
/** Runs whose texts are measured for a preview. */
const measuredRuns = 200;

/** Keeps an even sample of the runs, between `measuredRuns` and twice as many. */
function createEvenChoice() {
  let chosen: number[] = [];
  let step = 1;
  let seen = 0;
  return {
    show(sequence: number): void {
      if (seen++ % step === 0) chosen.push(sequence);
      if (chosen.length < 2 * measuredRuns) return;
      chosen = chosen.filter((_, index) => index % 2 === 0);
      step *= 2;
    },
    all: (): readonly number[] => chosen,
  };
}

/** What a retention would change in runs before a time, counted in slices. The bytes are an estimate from a sample. */
async function previewRetention(
  store: RetentionStore,
  { mode, before }: { mode: RetentionMode; before: number },
  { signal }: { signal: AbortSignal },
): Promise<RetentionPreview> {
  const conversations = new Set<number>();
  const choice = createEvenChoice();
  let runs = 0;
  let oldest: number | null = null;
  let position: OldRunPosition | null = null;
  for (;;) {
    const found: OldRunPosition[] = store.find(mode, before, position, countedRuns);
    for (const { conversation, createdAt, sequence } of found) {
      conversations.add(conversation);
      choice.show(sequence);
      oldest = oldest === null ? createdAt : Math.min(oldest, createdAt);
    }
    runs += found.length;
    position = found.at(-1) ?? null;
    if (found.length < countedRuns) break;
    await wait(0, undefined, { signal });
  }
  const measured = choice.all();
  const bytes = measured.reduce((sum, sequence) => sum + store.textBytes(sequence), 0);
  return {
    before: new Date(before).toISOString(),
    runs,
    conversations: conversations.size,
    oldest: oldest === null ? null : new Date(oldest).toISOString(),
    bytes: measured.length === 0 ? 0 : Math.round((bytes * runs) / measured.length),
  };
}

const hour = 3_600_000;

/** The retention is applied once a day. A longer gap since the last time makes the clock doubtful. In milliseconds. */
const usualGap = 48 * hour;

/** How long a doubtful clock must run, without going back, before it is trusted. */
const standing = hour;

interface ClockTrustOptions {
  readonly store: Pick<RetentionStore, 'lastApplied' | 'doubtedSince' | 'noteDoubt'>;
  readonly now: () => number;
}

/**
 * Whether the clock can be trusted to remove runs permanently. After an empty battery, or while a system starts, a clock can be a year
 * ahead until it is corrected, and would remove runs too early. After a long absence the removal therefore starts an hour later.
 */
export function isClockTrusted({ store, now }: ClockTrustOptions): boolean {
  const time = now();
  const last = store.lastApplied();
  if (last !== null && time - (last.endedAt ?? last.startedAt) <= usualGap) {
    if (store.doubtedSince() !== null) store.noteDoubt(null);
    return true;
  }
  const since = store.doubtedSince();
  if (since !== null && time >= since) return time - since >= standing;
  store.noteDoubt(time);
  return false;
}

/** Applies the settings group `retention` to old runs. */
export interface Retention {
  state(): RetentionState;
  /** What a retention would change now. */
  preview(request: { mode: RetentionMode; days: number }, options: { signal: AbortSignal }): Promise<RetentionPreview>;
  /** Applies the settings now. Resolves when it is done. */
  apply(): Promise<void>;
  /** Stops after the current slice. The rest follows at the next start. */
  close(): Promise<void>;
}

export interface RetentionOptions {
  readonly store: RetentionStore;
  readonly settings: Pick<SettingsStore, 'read' | 'subscribe'>;
  readonly log: Log;
  readonly now?: () => number;
}

const day = 86_400_000;
/** Runs per transaction. That takes a few milliseconds, unless their texts are long or the disk is slow. */
const sliceRuns = 25;
/** After a transaction that took longer, the next one has half as many runs. */
const maxMilliseconds = 10;
/** How often a doubtful clock is checked. */
const doubtMilliseconds = 600_000;
/** Pause between two transactions, so that other requests can run. */
const pauseMilliseconds = 5;

function isSame(one: RetentionSettings | null, other: RetentionSettings): boolean {
  return one?.mode === other.mode && one.days === other.days;
}

/** Adapts the number of runs per transaction to the speed. */
function createPace() {
  let slice = sliceRuns;
  return {
    take(work: (slice: number) => number): number {
      const startedAt = performance.now();
      const changed = work(slice);
      const isLong = performance.now() - startedAt > maxMilliseconds;
      slice = isLong ? Math.max(1, slice >> 1) : Math.min(sliceRuns, slice * 2);
      return changed;
    },
  };
}

interface ApplyOptions extends Pick<RetentionOptions, 'store' | 'settings'> {
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Applies a retention in slices, until nothing is left, the settings change or the signal is aborted. */
async function applyRetention(
  { mode, days }: RetentionSettings,
  { store, settings, now, signal }: ApplyOptions,
): Promise<void> {
  if (mode === 'off') return;
  const startedAt = now();
  const before = startedAt - days * day;
  let runs = 0;
  const pace = createPace();
  for (;;) {
    const current = settings.read().retention;
    // The person chose to keep more: the remaining runs stay.
    if (current.mode !== mode || current.days > days || signal.aborted) break;
    const changed = pace.take((slice) => store.apply(mode, before, slice));
    if (changed === 0) break;
    runs += changed;
    store.noteApplied({ mode, startedAt, endedAt: null, runs });
    await wait(pauseMilliseconds);
  }
  store.noteApplied({ mode, startedAt, endedAt: now(), runs });
}

/** Calls `apply` at the start and once a day while the retention is on and the clock can be trusted. Returns a function that stops this. */
function scheduleRetention({ store, settings, log, now }: Required<RetentionOptions>, apply: () => void): () => void {
  let doubt: NodeJS.Timeout | null = null;

  function applyOnceTrusted(): void {
    if (doubt) clearTimeout(doubt);
    doubt = null;
    if (settings.read().retention.mode === 'off') return;
    try {
      if (isClockTrusted({ store, now })) return apply();
    } catch (error) {
      log('the clock could not be compared with the last removal', error);
    }
    doubt = setTimeout(applyOnceTrusted, doubtMilliseconds).unref();
  }

  const start = setTimeout(applyOnceTrusted, 1000).unref();
  const daily = setInterval(applyOnceTrusted, day).unref();
  return () => {
    clearTimeout(start);
    clearInterval(daily);
    if (doubt) clearTimeout(doubt);
  };
}

/** Applies the retention at the start and once a day, if the clock can be trusted, and after each change of it. */
export function createRetention({ store, settings, log, now = Date.now }: RetentionOptions): Retention {
  const closing = new AbortController();
  let running: Promise<void> | null = null;
  let applied = settings.read().retention;

  async function applyUntilUnchanged(): Promise<void> {
    for (let last: RetentionSettings | null = null; !isSame(last, settings.read().retention);) {
      last = settings.read().retention;
      await applyRetention(last, { store, settings, now, signal: closing.signal });
      if (closing.signal.aborted) return;
    }
  }

  function apply(): Promise<void> {
    running ??= applyUntilUnchanged().finally(() => {
      running = null;
    });
    return running;
  }

  function applyInBackground(): void {
    apply().catch((error: unknown) => log('old runs could not be removed', error));
  }

  const unsubscribe = settings.subscribe(({ retention }) => {
    if (isSame(applied, retention)) return;
    applied = retention;
    applyInBackground();
  });
  const stopSchedule = scheduleRetention({ store, settings, log, now }, applyInBackground);

  return {
    preview: ({ mode, days }, { signal }) => previewRetention(store, { mode, before: now() - days * day }, { signal }),
    apply,
    state() {
      const last = store.lastApplied();
      return {
        ...settings.read().retention,
        isRunning: running !== null,
        last: last && {
          mode: last.mode,
          startedAt: new Date(last.startedAt).toISOString(),
          endedAt: last.endedAt === null ? null : new Date(last.endedAt).toISOString(),
          runs: last.runs,
        },
      };
    },
    async close() {
      closing.abort();
      unsubscribe();
      stopSchedule();
      await running?.catch(() => undefined);
    },
  };
}
