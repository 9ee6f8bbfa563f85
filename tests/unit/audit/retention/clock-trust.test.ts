import { expect, test, vi } from 'vitest';
import { isClockTrusted } from '../../../../electron/audit/retention/create-retention.ts';
import { createRetention } from '../../../../electron/audit/retention/create-retention.ts';
import { openTestStorage } from '../../storage/test-storage.ts';
import { day, now as today } from './retention-time.ts';
import { recordAged } from './test-retention.ts';

const hour = day / 24;
const year = 365 * day;

/** Storage in which runs were removed last a day ago, and a clock that can be set. */
function openClock() {
  const storage = openTestStorage();
  const clock = { time: today };
  storage.retention.noteApplied({ mode: 'delete', startedAt: today - day, endedAt: today - day, runs: 0 });
  const isTrusted = (time: number) => isClockTrusted({ store: storage.retention, now: () => (clock.time = time) });
  return { storage, clock, isTrusted };
}

test('trusts a time soon after the last removal, also an earlier one', () => {
  const { isTrusted } = openClock();
  expect([isTrusted(today), isTrusted(today - hour), isTrusted(today - year)]).toEqual([true, true, true]);
});

test("doesn't trust a clock that is a year ahead for a moment, however often", () => {
  const { isTrusted } = openClock();
  for (let start = 0; start < 3; start += 1) {
    const ahead = today + year + start * day;
    expect([isTrusted(ahead), isTrusted(ahead + hour / 2), isTrusted(today + hour)]).toEqual([false, false, true]);
  }
});

test('trusts the clock an hour after a long absence, also if the host ends in between', () => {
  const { isTrusted } = openClock();
  expect([isTrusted(today + year), isTrusted(today + year + hour / 2), isTrusted(today + year + hour)]).toEqual([
    false,
    false,
    true,
  ]);
});

test('removes nothing at the start while the clock is a year ahead, and old runs once it is correct', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    const { storage, clock } = openClock();
    const [old, young] = [await recordAged(storage, 60), await recordAged(storage, 3)];
    storage.settings.update({ retention: { mode: 'delete', days: 30 } });
    clock.time = today + year;
    const log = vi.fn();
    const { retention: store, settings } = storage;
    const retention = createRetention({ store, settings, log, now: () => clock.time });
    await vi.advanceTimersByTimeAsync(hour / 2);
    expect(storage.runs.count()).toBe(2);
    clock.time = today + hour;
    await vi.advanceTimersByTimeAsync(hour / 2);
    vi.useRealTimers();
    await retention.apply();
    expect([storage.runs.read(old.runId), storage.runs.read(young.runId)?.status]).toEqual([null, 'Completed']);
    await retention.close();
    expect(log).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
