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

export interface RunLatency {
  /** Milliseconds from the key event of Run in the page to the request at the provider. */
  readonly total: number;
  /** Until the page has sent its request to the host. */
  readonly inWindow: number;
}

/** Presses Run some times and measures each. */
export async function measureRunLatency(page: Page, options: RunLatencyOptions): Promise<RunLatency[]> {
  const { press, shown, arrivedAt, rounds } = options;
  await page.evaluate(() => {
    const onKey = ({ key, timeStamp }: KeyboardEvent): void => {
      if (key === 'Enter') Object.assign(globalThis, { runPressedAt: performance.timeOrigin + timeStamp });
    };
    addEventListener('keydown', onKey, { capture: true });
    // What the window itself takes: in a browser its requests for answers go over a WebSocket, on the desktop over a port.
    for (const { prototype } of [WebSocket, MessagePort]) {
      const name = 'send' in prototype ? 'send' : 'postMessage';
      const original = Reflect.get(prototype, name) as (...values: unknown[]) => void;
      Reflect.set(prototype, name, function (this: unknown, ...values: unknown[]) {
        const [frame] = values;
        const isRun = typeof frame === 'string' ? frame.includes('/api/completions') : hasRunPath(frame);
        if (isRun) Object.assign(globalThis, { runSentAt: performance.timeOrigin + performance.now() });
        original.apply(this, values);
      });
    }
    function hasRunPath(frame: unknown): boolean {
      return String((frame as { path?: unknown } | null)?.path).includes('/api/completions');
    }
  });
  const difference = await clockDifference(page);
  const latencies: RunLatency[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await press();
    await shown();
    const times = await page.evaluate(() => {
      const { runPressedAt, runSentAt } = globalThis as unknown as { runPressedAt: number; runSentAt: number };
      return { pressedAt: runPressedAt, sentAt: runSentAt };
    });
    latencies.push({
      total: arrivedAt() - (times.pressedAt + difference),
      inWindow: times.sentAt - times.pressedAt,
    });
  }
  return latencies;
}
