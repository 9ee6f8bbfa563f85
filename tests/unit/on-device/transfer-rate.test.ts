import { describe, expect, it } from 'vitest';
import { createTransferRate } from '../../../electron/on-device/model-jobs.ts';

describe('the rate of a transfer', () => {
  it('is averaged over the last five seconds', () => {
    let now = 0;
    const rate = createTransferRate(() => now);
    expect(rate.bytesPerSecond()).toBeNull();
    rate.add(0);
    expect(rate.bytesPerSecond()).toBeNull();
    for (now = 1000; now <= 10_000; now += 1000) rate.add(now);
    now = 10_000;
    expect(rate.bytesPerSecond()).toBe(1000);
    for (now = 11_000; now <= 20_000; now += 1000) rate.add(10_000 + 3 * (now - 10_000));
    expect(rate.bytesPerSecond()).toBe(3000);
  });

  it('restarts when the transfer does', () => {
    let now = 0;
    const rate = createTransferRate(() => now);
    rate.add(5000);
    now = 1000;
    rate.add(0);
    expect(rate.bytesPerSecond()).toBeNull();
    now = 2000;
    rate.add(700);
    expect(rate.bytesPerSecond()).toBe(700);
  });
});
