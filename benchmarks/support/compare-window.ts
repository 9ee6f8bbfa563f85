import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, type Browser, type Page } from '@playwright/test';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import { startHeadlessHost } from '../../tests/e2e/browser/playground-host.ts';
import { fetchInPage } from '../../tests/support/served-window.ts';
import { type Frames, recordFrames } from '../audit-window/frames.ts';
import { browserTracer, longestTask } from '../audit-window/trace.ts';
import { percentile, type Row, row } from './report.ts';

export interface WatchedComparison {
  readonly dataset: unknown;
  /** Without its dataset. */
  readonly comparison: Record<string, unknown>;
  readonly cells: number;
  /** `name=address` of the provider. */
  readonly endpoint: string;
}

/** A frame longer than this is seen as a jump. */
const longFrameMs = 50;

/** Megabytes of every process that shows a page: each shared page counts in part. */
async function pageMegabytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    processInfo: { type: string; id: number }[];
  };
  const kilobytes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1]));
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

async function call<Value>(page: Page, method: string, path: string, body?: unknown): Promise<Value> {
  const { status, text } = await fetchInPage(page, method, path, body);
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as Value;
}

/** Waits without a request of the page: reads the progress that it shows. A search of the whole page in each frame would take its time. */
async function untilCompleted(page: Page, cells: number): Promise<void> {
  const done = `${cells.toLocaleString('en')} of ${cells.toLocaleString('en')} runs`;
  const counts = page.locator('.results__counts');
  await counts.getByText(done, { exact: true }).waitFor({ timeout: 300_000 });
}

/** A comparison that is ready to start. */
async function create(page: Page, { dataset, comparison }: WatchedComparison): Promise<string> {
  const { id: datasetId } = await call<{ id: string }>(page, 'POST', '/datasets', dataset);
  return (await call<Comparison>(page, 'POST', '/comparisons', { ...comparison, datasetId })).id;
}

const start = (page: Page, id: string) => call(page, 'POST', `/comparisons/${id}/start`, {});

/** Opens the results, and returns what runs the comparison to its end. */
async function show(page: Page, watched: WatchedComparison): Promise<() => Promise<void>> {
  const id = await create(page, watched);
  await page.evaluate((address) => (location.hash = address), `/compare/${id}`);
  await page
    .locator('.results__counts')
    .getByText(`0 of ${watched.cells.toLocaleString('en')} runs`, { exact: true })
    .waitFor();
  await page.getByRole('grid').waitFor();
  return async () => {
    await start(page, id);
    await untilCompleted(page, watched.cells);
  };
}

/** The frames of an empty page while the same cells are run: what is long there is the machine's. */
async function recordEmptyPage(browser: Browser, page: Page, watched: WatchedComparison): Promise<Frames> {
  const id = await create(page, watched);
  const empty = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    return await recordFrames(empty, async () => {
      await start(page, id);
      while ((await call<Comparison>(page, 'GET', `/comparisons/${id}`)).state === 'Running') await delay(500);
    });
  } finally {
    await empty.close();
  }
}

/** Memory and processor time in a round of their own, because reading them takes time from the frames. */
async function measureCosts(browser: Browser, page: Page, run: () => Promise<void>): Promise<Row[]> {
  const tracer = browserTracer(browser, page);
  const megabytes: number[] = [];
  await tracer.start();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      megabytes.push(await pageMegabytes(browser));
      await delay(500);
    }
  })();
  await run();
  isOver = true;
  await watching;
  return [
    row('window: processor time of the longest task', longestTask(await tracer.stop()), 'ms', { max: longFrameMs }),
    row('window: memory, highest', Math.max(...megabytes), 'MB', { max: 500 }),
  ];
}

async function measure(browser: Browser, page: Page, watched: WatchedComparison): Promise<Row[]> {
  const empty = await recordEmptyPage(browser, page, watched);
  const run = await show(page, watched);
  const startedAt = performance.now();
  const frames = await recordFrames(page, run);
  const seconds = (performance.now() - startedAt) / 1000;
  const perSecond = (intervals: readonly number[]) => 1000 / percentile(intervals, 0.5);
  const long = (intervals: readonly number[]) => intervals.filter((interval) => interval > longFrameMs).length;
  return [
    row('window: seconds for all cells', seconds, 's'),
    row('window: frames a second while cells stream, median', perSecond(frames.intervals), '/s'),
    row('window: frames over 50 ms while cells stream', long(frames.intervals), '', { max: 0 }),
    row('window: longest frame', Math.max(...frames.intervals), 'ms'),
    row('window: tasks over 50 ms', frames.longTasks.length, ''),
    row('empty page: frames a second while the same cells stream, median', perSecond(empty.intervals), '/s'),
    row('empty page: frames over 50 ms', long(empty.intervals), ''),
    row('empty page: longest frame', Math.max(...empty.intervals), 'ms'),
    ...(await measureCosts(browser, page, await show(page, watched))),
  ];
}

/** Frames and memory of a window that shows a comparison while its cells are run, and the frames of an empty page meanwhile. */
export async function measureWindow(watched: WatchedComparison): Promise<Row[]> {
  await using host = await startHeadlessHost({ endpoints: [watched.endpoint] });
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(host.windowUrl);
    await page.waitForURL(({ search }) => search === '');
    return await measure(browser, page, watched);
  } finally {
    await browser.close();
  }
}
