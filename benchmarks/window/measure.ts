import { setTimeout as delay } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import { recordFrames } from '../audit-window/frames.ts';

/** What a page did while it showed a stream. Times in milliseconds. */
export interface Streamed {
  /** Processor time of the main thread. */
  readonly mainMs: number;
  readonly scriptMs: number;
  readonly styleMs: number;
  readonly layoutMs: number;
  readonly seconds: number;
  readonly framesPerSecond: number;
  readonly slowestFrameMs: number;
  readonly framesOver50: number;
  readonly longestTaskMs: number;
}

/** The last rendering and the stored run come after the last event. */
const lastRenderingMs = 700;

async function readTimes(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1000]));
}

/** Measures the page from before `start` until a moment after `ended`. Nothing else asks the page anything meanwhile. */
export async function measureStream(
  page: Page,
  start: () => Promise<unknown>,
  ended: Promise<unknown>,
): Promise<Streamed> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await readTimes(session);
  const startedAt = performance.now();
  const { intervals, longTasks } = await recordFrames(page, async () => {
    await start();
    await ended;
    await delay(lastRenderingMs);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readTimes(session);
  await session.detach();
  const took = (name: string) => after[name]! - before[name]!;
  return {
    mainMs: took('TaskDuration'),
    scriptMs: took('ScriptDuration'),
    styleMs: took('RecalcStyleDuration'),
    layoutMs: took('LayoutDuration'),
    seconds,
    framesPerSecond: intervals.length / seconds,
    slowestFrameMs: Math.max(...intervals),
    framesOver50: intervals.filter((interval) => interval > 50).length,
    longestTaskMs: Math.max(0, ...longTasks),
  };
}
