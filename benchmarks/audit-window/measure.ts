import type { Page } from '@playwright/test';
import { auditPage } from '../../tests/e2e/browser/audit-page.ts';
import { percentile, row, type Row } from '../support/report.ts';
import { fromKey, recordFrames, type Frames } from './frames.ts';
import { longestTask, type Tracer } from './trace.ts';

/** The targets: people notice a longer frame. */
const maxMilliseconds = 50;
const rounds = 3;

/** The round with the least interference shows what the window needs. */
function frameRows(what: string, recorded: readonly Frames[]): Row[] {
  const slowestOf = ({ intervals }: Frames) => Math.max(...intervals);
  const best = recorded.toSorted((one, other) => slowestOf(one) - slowestOf(other))[0]!;
  const all = recorded.flatMap(({ intervals }) => intervals);
  const dropped = all.filter((interval) => interval > maxMilliseconds).length;
  return [
    row(`${what}: slowest frame of the best of ${rounds} rounds`, slowestOf(best), 'ms', { max: maxMilliseconds }),
    row(`${what}: slowest frame of all rounds`, Math.max(...all), 'ms'),
    row(`${what}: frame, p99`, percentile(all, 0.99), 'ms'),
    row(`${what}: frames over 50 ms of ${all.length}`, dropped, ''),
    row(`${what}: longest task over 50 ms`, Math.max(0, ...recorded.flatMap(({ longTasks }) => longTasks)), 'ms'),
  ];
}

/** A separate round, because tracing takes time too. */
async function taskRow(page: Page, tracer: Tracer, what: string, work: () => Promise<unknown>): Promise<Row> {
  await page.keyboard.press('Home');
  await tracer.start();
  await work();
  const longest = longestTask(await tracer.stop());
  return row(`${what}: CPU of the longest task`, longest, 'ms', { max: maxMilliseconds });
}

async function inRounds(page: Page, what: string, work: () => Promise<unknown>): Promise<Row[]> {
  const recorded: Frames[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.keyboard.press('Home');
    recorded.push(await recordFrames(page, work));
  }
  return frameRows(what, recorded);
}

/** Drags the scroll bar through the whole list, one step per frame. */
async function dragThrough(page: Page): Promise<void> {
  await auditPage(page).list.evaluate(async (list) => {
    const frames = 180;
    for (let frame = 0; frame <= frames; frame += 1) {
      list.scrollTop = ((list.scrollHeight - list.clientHeight) * frame) / frames;
      await new Promise(requestAnimationFrame);
    }
  });
  await auditPage(page).settled();
}

/** Frames while the unfiltered list scrolls, by each input method. */
export async function measureScrolling(page: Page, tracer: Tracer, prefix: string): Promise<Row[]> {
  const audit = auditPage(page);
  await audit.list.focus();
  const found: Row[] = [];
  const add = async (what: string, work: () => Promise<unknown>) => {
    found.push(...(await inRounds(page, `${prefix}, ${what}`, work)));
    found.push(await taskRow(page, tracer, `${prefix}, ${what}`, work));
  };
  // The first time includes compilation.
  await dragThrough(page);
  await add('arrow keys through 120 rows', async () => {
    for (let press = 0; press < 120; press += 1) await page.keyboard.press('ArrowDown');
  });
  await add('Page Down through 60 views', async () => {
    for (let press = 0; press < 60; press += 1) await page.keyboard.press('PageDown');
  });
  await audit.list.hover();
  await add('wheel through 100 turns', async () => {
    for (let turn = 0; turn < 100; turn += 1) await page.mouse.wheel(0, 240);
  });
  await add('scroll bar from end to end', () => dragThrough(page));
  return found;
}

/** From a key to the rows: moving through the list, to its ends, and searching. */
export async function measureKeys(page: Page, prefix: string): Promise<Row[]> {
  const audit = auditPage(page);
  const total = Number(await audit.list.getByRole('option').first().getAttribute('aria-setsize'));
  await audit.list.focus();
  const times: Record<string, number[]> = {};
  const measure = async (what: string, press: () => Promise<unknown>, effect: Parameters<typeof fromKey>[2]) => {
    (times[what] ??= []).push(await fromKey(page, press, effect));
  };
  for (let round = 0; round < 5; round += 1) {
    await measure('End', () => page.keyboard.press('End'), { openRow: total });
    await measure('Home', () => page.keyboard.press('Home'), { openRow: 1 });
    await measure('J', () => page.keyboard.press('j'), { openRow: 2 });
    await measure('Page Down', () => page.keyboard.press('PageDown'), { openRow: 14 });
  }
  for (const word of ['customer', 'contract', 'house', 'school', 'invoice']) {
    await page.keyboard.press('/');
    await page.keyboard.press('Control+a');
    const search = async () => {
      await page.keyboard.type(word);
      await page.keyboard.press('Enter');
    };
    await measure('a word of the full text', search, { address: `text=${word}` });
  }
  await page.keyboard.press('/');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  await audit.settled();
  return Object.entries(times).map(([what, taken]) =>
    row(`${prefix}, from ${what} to the rows, p50 of ${taken.length}`, percentile(taken, 0.5), 'ms'),
  );
}
