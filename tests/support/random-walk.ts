import type { Page } from '@playwright/test';
import fc from 'fast-check';
import { settled, type TourObjects } from './window-tour.ts';

/** What a person does next: a key, some text, or a press on one of the controls that are there. */
type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'press'; readonly at: number; readonly button: 'left' | 'right' };

const keys = [
  ...['Tab', 'Shift+Tab', 'Enter', 'Space', 'Escape', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'],
  ...['Backspace', 'Delete', 'PageDown', 'j', 'k', 'x', 'r', 'f', 'o', '/', '?', '1', '9', '-', '0'],
  ...['Control+Enter', 'Control+k', 'Control+l', 'Control+s', 'Control+z', 'Control+a', 'Control+Alt+n'],
];
const texts = ['refund', '{{name}}', '{{#if', '0', '-1', '"', '🜚 العربية', 'a'.repeat(300)];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('key' as const), key: fc.constantFrom(...keys) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('type' as const), text: fc.constantFrom(...texts) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('press' as const),
      at: fc.nat(10_000),
      button: fc.constantFrom('left' as const, 'left' as const, 'left' as const, 'right' as const),
    }),
  },
);

/** How many actions a walk has on each screen: few in every run of the suites, `TOUCHSTONE_WALK=500` for a whole walk. */
export const walkLength = Number(process.env['TOUCHSTONE_WALK'] ?? 60);
const seed = Number(process.env['TOUCHSTONE_WALK_SEED'] ?? 42);

/** What leaves the app or the page: links to other screens are followed by walks of their own. */
const leaving = '.rail *, .rail, a[target=_blank], a[download], input[type=file], [data-walk=no]';

/** Presses a control that can be reached now, or nothing if there is none. */
async function press(page: Page, at: number, button: 'left' | 'right'): Promise<void> {
  const point = await page.evaluate(
    ([index, excluded]) => {
      const layer = [
        ...document.querySelectorAll('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]'),
      ].findLast((element) => element.closest('#window') === null);
      const all = (layer ?? document).querySelectorAll<HTMLElement>(
        'button, a[href], input, textarea, [role=option], [role=menuitem], [role=radio], [role=slider], [role=row], .cm-content',
      );
      const reachable = [...all].filter((element) => {
        if (element.matches(excluded) || element.closest(excluded)) return false;
        const { left, top, width, height } = element.getBoundingClientRect();
        const hit = document.elementFromPoint(left + width / 2, top + height / 2);
        return hit !== null && element.contains(hit);
      });
      const chosen = reachable[index % Math.max(1, reachable.length)];
      if (!chosen) return null;
      const { left, top, width, height } = chosen.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    },
    [at, leaving] as const,
  );
  if (point) await page.mouse.click(point.x, point.y, { button });
}

interface Counting {
  /** Requests of the window that the host hasn't begun to respond to. */
  openRequests: number;
}

/** Counts the requests of the window, whichever way they reach the host. Takes effect with the next load of the page. */
async function countRequests(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counting = globalThis as unknown as Counting;
    counting.openRequests = 0;
    const { fetch } = globalThis;
    globalThis.fetch = async (...parameters) => {
      counting.openRequests += 1;
      try {
        return await fetch(...parameters);
      } finally {
        counting.openRequests -= 1;
      }
    };
    const { postMessage } = MessagePort.prototype as { postMessage: (frame: unknown) => void };
    const open = new Map<MessagePort, Set<number>>();
    interface Frame {
      type?: string;
      id: number;
    }
    const idsOf = (port: MessagePort): Set<number> => {
      const known = open.get(port);
      if (known) return known;
      const ids = new Set<number>();
      open.set(port, ids);
      port.addEventListener('message', ({ data }: MessageEvent<Frame>) => {
        const isOver = ['head', 'end', 'failure'].includes(data.type ?? '');
        if (isOver && ids.delete(data.id)) counting.openRequests -= 1;
      });
      return ids;
    };
    // Other ports of the page, such as the one that React schedules with, carry no frames.
    MessagePort.prototype.postMessage = function (this: MessagePort, frame: Frame | null): void {
      if (frame?.type === 'request') {
        idsOf(this).add(frame.id);
        counting.openRequests += 1;
      } else if (frame?.type === 'cancel' && open.get(this)?.delete(frame.id)) counting.openRequests -= 1;
      postMessage.call(this, frame);
    };
  });
}

/** Resolves when the host has responded to everything and the window has drawn it. */
async function quiet(page: Page): Promise<void> {
  const drawn = () =>
    page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await drawn();
  await page.waitForFunction(() => (globalThis as unknown as Counting).openRequests === 0);
  await drawn();
}

function describe(one: Step): string {
  return one.kind === 'press' ? `${one.button} ${one.at}` : one.kind === 'key' ? one.key : `"${one.text.slice(0, 20)}"`;
}

/** Walks through a screen and resolves with what went wrong, with the steps that led there. */
async function walk(page: Page, home: string, problems: readonly string[]): Promise<string[]> {
  const [steps] = fc.sample(fc.array(step, { minLength: walkLength, maxLength: walkLength, size: 'max' }), {
    seed: seed + home.length * 7919,
    numRuns: 1,
  });
  const screen = home.split('/')[1]!;
  for (const [index, one] of steps!.entries()) {
    if (one.kind === 'key') await page.keyboard.press(one.key);
    else if (one.kind === 'type') await page.keyboard.insertText(one.text);
    else await press(page, one.at, one.button);
    await quiet(page);
    const crash = await page.locator('.boundary [role=alert]').allTextContents();
    if (crash.length > 0 || problems.length > 0) {
      const before = steps!.slice(Math.max(0, index - 8), index + 1).map(describe);
      return [...crash, ...problems, `${home}, step ${index}: ${before.join(', ')}`];
    }
    const isElsewhere = await page.evaluate((id) => !location.hash.startsWith(`#/${id}`), screen);
    if (isElsewhere) {
      await page.evaluate((hash) => (location.hash = hash), home);
      await settled(page);
    }
  }
  return [];
}

/** Walks through every screen from a fresh start and resolves with what went wrong on each. */
export async function walkEverywhere(page: Page, objects: TourObjects): Promise<Record<string, string[]>> {
  const problems = collectProblems(page);
  await countRequests(page);
  const found: Record<string, string[]> = {};
  for (const home of walkHomes(objects)) {
    await page.evaluate((hash) => (location.hash = hash), home);
    problems.length = 0;
    await page.reload();
    await page.locator('h1').first().waitFor();
    await settled(page);
    const wrong = await walk(page, home, problems);
    if (wrong.length > 0) found[home] = wrong;
  }
  return found;
}

/** Collects what the page reports as an error: exceptions, rejections that nobody handled, and what is on its console. */
function collectProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`Uncaught: ${error.stack ?? String(error)}`));
  page.on('console', (message) => {
    // The host rejecting an input is part of a walk; the browser reports the status by itself.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(`Console: ${message.text()}`);
  });
  return problems;
}

/** Where the walk of each screen starts. */
function walkHomes({ promptId, versionId, agentId, conversationId, dataspaceId }: TourObjects): readonly string[] {
  const homes = [
    `/playground/prompts/${promptId}/${versionId}`,
    `/prompts/${promptId}`,
    `/agents/${agentId}/${conversationId}`,
    `/knowledge/${dataspaceId}`,
    '/audit',
    '/moderation',
    '/settings/providers',
  ];
  const only = process.env['TOUCHSTONE_WALK_SCREEN'];
  return only ? homes.filter((home) => home.startsWith(`/${only}`)) : homes;
}
