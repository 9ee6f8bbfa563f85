import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createChangeNotifier } from '../../../electron/common/change-notifier.ts';

describe('notifications of changes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('send the first change at once, then at most five a second, and always the last', () => {
    let state = 0;
    const reported: number[] = [];
    const notifier = createChangeNotifier(() => state, 200);
    const unsubscribe = notifier.subscribe((value) => reported.push(value));
    for (let step = 0; step < 100; step += 1) {
      state += 1;
      notifier.changed();
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(1000);
    expect(reported).toEqual([1, 20, 40, 60, 80, 100]);
    unsubscribe();
    notifier.changed();
    vi.advanceTimersByTime(1000);
    expect(reported.length).toBe(6);
  });

  it('send nothing without changes, and nothing after closing', () => {
    const reported: number[] = [];
    const notifier = createChangeNotifier(() => 1, 200);
    notifier.subscribe((value) => reported.push(value));
    vi.advanceTimersByTime(1000);
    notifier.changed();
    notifier.changed();
    notifier.close();
    vi.advanceTimersByTime(1000);
    expect(reported).toEqual([1]);
  });
});
