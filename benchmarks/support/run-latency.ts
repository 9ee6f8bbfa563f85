import type { Page } from '@playwright/test';

/**
 * The difference between the clocks of a page and of this process in milliseconds, from the quickest of some calls: each process fixes
 * the start of its clock on its own.
 */
async function clockDifference(page: Page): Promise<number> {
  let best = { took: Number.POSITIVE_INFINITY, difference: 0 };
  for (let call = 0; call < 20; call += 1) {
    const before = performance.timeOrigin + performance.now();
    const there = await page.evaluate(() => performance.timeOrigin + performance.now());
    const after = performance.timeOrigin + performance.now();
    if (after - before < best.took) best = { took: after - before, difference: (before + after) / 2 - there };
  }
  return best.difference;
}

export interface RunLatencyOptions {
  /** Presses the keys of Run. */
  press: () => Promise<unknown>;
  /** Resolves when the answer to the newest request has been shown. */
  shown: () => Promise<unknown>;
  /** Milliseconds since 1970 at which the newest request for an answer arrived at the provider, on this process's clock. */
  arrivedAt: () => number;
  rounds: number;
}

/** Milliseconds from the key event of Run in the page to the request at the provider, for each round. */
export async function measureRunLatency(page: Page, options: RunLatencyOptions): Promise<number[]> {
  const { press, shown, arrivedAt, rounds } = options;
  await page.evaluate(() => {
    const onKey = ({ key, timeStamp }: KeyboardEvent): void => {
      if (key === 'Enter') Object.assign(globalThis, { runPressedAt: performance.timeOrigin + timeStamp });
    };
    addEventListener('keydown', onKey, { capture: true });
  });
  const difference = await clockDifference(page);
  const latencies: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await press();
    await shown();
    const pressedAt = await page.evaluate(() => (globalThis as unknown as { runPressedAt: number }).runPressedAt);
    latencies.push(arrivedAt() - (pressedAt + difference));
  }
  return latencies;
}
