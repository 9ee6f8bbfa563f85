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

/** Has a page keep for a minute what it takes back after seconds: a test on a busy machine may come later than a person. */
export async function makePatient(page: Page): Promise<void> {
  await page.addInitScript(waitLonger);
  await page.evaluate(waitLonger);
}
