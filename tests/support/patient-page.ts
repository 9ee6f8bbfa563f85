import type { Page } from '@playwright/test';

/** Runs in the page. */
function waitLonger(): void {
  /** Of a message, which may offer Undo, and of a minus that waits for its digit, in milliseconds. */
  const short = new Set([6_000, 1_200]);
  const { setTimeout } = window;
  const patient = (handler: TimerHandler, delay = 0, ...parameters: unknown[]): number =>
    setTimeout(handler, short.has(delay) ? 60_000 : delay, ...parameters);
  Object.assign(window, { setTimeout: patient });
}

/** How many times as long each page takes for everything: shows tests that depend on the speed of a machine. */
const slowdown = Number(process.env['TOUCHSTONE_SLOW_PAGES'] ?? 1);

/** Has a page keep for a minute what it takes back after seconds: a test on a busy machine may come later than a person. */
export async function makePatient(page: Page): Promise<void> {
  await page.addInitScript(waitLonger);
  await page.evaluate(waitLonger);
  if (slowdown === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
}
