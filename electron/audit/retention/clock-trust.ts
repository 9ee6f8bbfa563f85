import type { RetentionStore } from '../../storage/retention-store.ts';

const hour = 3_600_000;

/** Old runs are looked for once a day: no more than this since the last time needs no explanation. In milliseconds. */
const usualGap = 48 * hour;

/** How long a time that does must have stood, without the clock going back, before it is believed. */
const standing = hour;

export interface ClockTrustOptions {
  readonly store: Pick<RetentionStore, 'lastApplied' | 'doubtedSince' | 'noteDoubt'>;
  readonly now: () => number;
}

/**
 * Whether the clock may be believed when runs are to be removed for good. After an empty battery, or while a system starts, a clock may be
 * a year ahead until it is set right: what nobody asked to have removed would be gone. Whoever was away for long waits an hour.
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
