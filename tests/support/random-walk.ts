import type { Page } from '@playwright/test';
import { fc } from './fast-check.ts';
import { installWalkProbe, type View, type WalkProbe } from './walk-probe.ts';
import { dialogStops } from './tour-dialogs.ts';
import type { CallHost } from './call-host.ts';
import { filledStops, fillHost, openStop, type TourObjects, type TourStop } from './window-tour.ts';

/** What a person does next: a key, some text, or something with the mouse on the controls that are there. */
type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'click' | 'double-click' | 'right-click' | 'wheel' | 'drag'; readonly picks: readonly number[] };

const keys = [
  ...['Tab', 'Shift+Tab', 'Enter', 'Space', 'Escape', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'],
  ...['Backspace', 'Delete', 'PageDown', 'F2', 'F8', 'j', 'k', 'x', 'r', 'f', 'o', 'n', '/', '?', '1', '9', '-', '0'],
  ...['Control+Enter', 'Control+k', 'Control+l', 'Control+s', 'Control+z', 'Control+a', 'Control+j', 'Control+e'],
  ...['Control+d', 'Control+Alt+n', 'Control+Shift+n', 'Control+Shift+l', 'Control+Shift+p', 'Control+Shift+m'],
];
const texts = ['refund', '{{name}}', '{{#if', '0', '-1', '"', '[{"a": 1}]', '🜚 العربية', 'a'.repeat(300)];

const pick = fc.nat(1_000_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('key' as const), key: fc.constantFrom(...keys) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('type' as const), text: fc.constantFrom(...texts) }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('click' as const), picks: fc.tuple(pick) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('double-click' as const, 'right-click' as const, 'wheel' as const),
      picks: fc.tuple(pick),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drag' as const), picks: fc.tuple(pick, pick) }) },
);

const wholeLength = process.env['TOUCHSTONE_WALK'];
const seed = Number(process.env['TOUCHSTONE_WALK_SEED'] ?? 42);
const onlyScreens = process.env['TOUCHSTONE_WALK_SCREEN']?.split(',');

/** How long a walk may take that has as many actions on each screen as `TOUCHSTONE_WALK` says. */
export const walkTimeout = 180_000 + Number(wholeLength ?? 0) * 3_000;

interface WalkedScreen {
  readonly name: string;
  readonly stops: readonly TourStop[];
  /** Actions until the walk starts again at another stop. */
  readonly legLength: number;
  /** Whether actions may lead to other screens. */
  readonly canLeave: boolean;
}

/** Every screen with the stops at which a walk of it starts. */
function walkedScreens(objects: TourObjects): WalkedScreen[] {
  const stops = [...filledStops(objects), ...dialogStops(objects)];
  const screens = [
    'playground',
    'compare',
    'prompts',
    'agents',
    'knowledge',
    'audit',
    'moderation',
    'recorder',
    'settings',
  ].map((name) => ({
    name,
    stops: stops.filter((stop) => stop.name.split('-')[0] === name),
    legLength: 25,
    canLeave: false,
  }));
  const openPalette = (page: Page) => page.keyboard.press('Control+k');
  const overPages = stops.filter(({ enter }) => !enter).map((stop) => ({ ...stop, enter: openPalette }));
  const all = [...screens, { name: 'palette', stops: overPages, legLength: 5, canLeave: true }];
  return onlyScreens ? all.filter(({ name }) => onlyScreens.includes(name)) : all;
}

/** Asks the page what it shows; a page that was loaded again meanwhile is asked again. */
export async function scan(page: Page, picks: readonly number[] = []): Promise<View> {
  for (;;) {
    try {
      return await page.evaluate(
        (which) => (globalThis as unknown as { walkProbe: WalkProbe }).walkProbe.scan(which),
        picks,
      );
    } catch (error) {
      if (!String(error).includes('Execution context was destroyed')) throw error;
      await page.locator('h1').first().waitFor();
    }
  }
}

async function act(page: Page, one: Step, points: View['points']): Promise<void> {
  if (one.kind === 'key') return page.keyboard.press(one.key);
  if (one.kind === 'type') return page.keyboard.insertText(one.text);
  const [from, to] = points;
  if (!from) return;
  if (one.kind === 'click') return page.mouse.click(from.x, from.y);
  if (one.kind === 'double-click') return page.mouse.dblclick(from.x, from.y);
  if (one.kind === 'right-click') return page.mouse.click(from.x, from.y, { button: 'right' });
  await page.mouse.move(from.x, from.y);
  if (one.kind === 'wheel') return page.mouse.wheel(0, one.picks[0]! % 2 === 0 ? 400 : -400);
  await page.mouse.down();
  if (to) await page.mouse.move(to.x, to.y, { steps: 2 });
  await page.mouse.up();
}

function describeStep(one: Step, points: View['points']): string {
  if (one.kind === 'key') return one.key;
  if (one.kind === 'type') return JSON.stringify(one.text.slice(0, 20));
  return `${one.kind} ${points.map((point) => point?.kind ?? 'nothing').join(' to ')}`;
}

const picksOf = (one: Step | undefined): readonly number[] => (one && 'picks' in one ? one.picks : []);

/** One screen's walk: what it did last and what went wrong. */
class Walk {
  readonly page: Page;
  readonly problems: readonly string[];
  readonly screen: WalkedScreen;
  readonly kinds = new Set<string>();

  constructor(page: Page, problems: readonly string[], screen: WalkedScreen) {
    this.page = page;
    this.problems = problems;
    this.screen = screen;
  }

  /** Goes from a stop through some steps and resolves with what went wrong. */
  async leg(stop: TourStop, steps: readonly Step[]): Promise<string[]> {
    const { page, problems, screen } = this;
    await openStop(page, { ...stop, enter: undefined });
    // What earlier actions have changed may leave nothing to open here. Everything else is there sooner or later.
    page.setDefaultTimeout(5_000);
    await stop.enter?.(page).catch(() => {});
    page.setDefaultTimeout(0);
    const done = [`at ${stop.name}`];
    let view = await scan(page, picksOf(steps[0]));
    for (const [index, one] of steps.entries()) {
      for (const point of view.points) if (point) this.kinds.add(point.kind);
      done.push(describeStep(one, view.points));
      await act(page, one, view.points);
      view = await scan(page, picksOf(steps[index + 1]));
      if (view.crashes.length > 0 || problems.length > 0)
        return [...view.crashes, ...problems, `after: ${done.slice(-12).join(', ')}`];
      if (!screen.canLeave && !view.hash.startsWith(`#/${screen.name}`)) {
        await openStop(page, { ...stop, enter: undefined });
        view = await scan(page, picksOf(steps[index + 1]));
      }
    }
    return [];
  }
}

/**
 * Collects what the page reports as an error: exceptions, rejections that nobody handled, what is on its console, and what its
 * host fails to do. Takes effect with the next load of the page.
 */
export async function observe(page: Page): Promise<string[]> {
  await page.addInitScript(installWalkProbe);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`Uncaught: ${error.stack ?? String(error)}`));
  page.on('crash', () => problems.push('The page crashed'));
  page.on('console', (message) => {
    // The host rejecting an input is part of a walk; the browser reports the status by itself.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(`Console: ${message.text()}`);
  });
  // Nothing opens a dialog of the system or another page, which would stay open.
  page.on('filechooser', () => {});
  page.on('popup', (popup) => void popup.close());
  return problems;
}

/** Whether everything that the stops show is still there: a walk may delete it. */
async function areThere(call: CallHost, { promptId, agentId, dataspaceId, sourceId }: TourObjects): Promise<boolean> {
  const paths = [`prompts/${promptId}`, `agents/${agentId}`, `dataspaces/${dataspaceId}`];
  paths.push(`window/knowledge/sources/${sourceId}`);
  const found = await Promise.all(
    paths.map((path) => call('GET', `/${path}`).catch(() => null) as Promise<{ id?: string } | null>),
  );
  return found.every((one, index) => one?.id !== undefined && paths[index]!.endsWith(one.id));
}

/**
 * Walks at random through every screen, with `length` actions on each or as many as `TOUCHSTONE_WALK` says. Resolves with what
 * went wrong on each screen.
 */
export async function walkEverywhere(page: Page, call: CallHost, length: number): Promise<Record<string, string[][]>> {
  const actions = Number(wholeLength ?? length);
  const problems = await observe(page);
  let objects = await fillHost(page, call);
  const found: Record<string, string[][]> = {};
  await page.reload();
  for (const { name } of walkedScreens(objects)) {
    const start = performance.now();
    const steps = fc.sample(step, { seed: seed + name.length * 7919, numRuns: actions });
    const kinds = new Set<string>();
    for (let leg = 0, at = 0; at < steps.length; leg += 1) {
      if (!(await areThere(call, objects))) objects = await fillHost(page, call);
      const screen = walkedScreens(objects).find((one) => one.name === name)!;
      const walk = new Walk(page, problems, screen);
      const stop = screen.stops[(leg + seed) % screen.stops.length]!;
      const legLength = Math.min(screen.legLength, Math.ceil(actions / 2));
      const wrong = await walk.leg(stop, steps.slice(at, (at += legLength)));
      for (const kind of walk.kinds) kinds.add(kind);
      if (wrong.length === 0) continue;
      (found[name] ??= []).push(wrong);
      // What went wrong there would go wrong again.
      await page.evaluate(() => (location.hash = '/settings/appearance'));
      if (wholeLength) console.log(wrong.join('\n'));
      await page.reload();
      problems.length = 0;
    }
    const each = ((performance.now() - start) / steps.length).toFixed(0);
    if (wholeLength) console.log(`${name}: ${steps.length} actions, ${kinds.size} kinds of controls, ${each} ms each`);
  }
  return found;
}
