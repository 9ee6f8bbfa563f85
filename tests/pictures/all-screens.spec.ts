import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test as base } from '../e2e/browser/tour-window.ts';
import { agentStates } from '../support/picture-states/agent-states.ts';
import { playgroundStates } from '../support/picture-states/playground-states.ts';
import { promptStates } from '../support/picture-states/prompt-states.ts';
import { privacyStates } from '../support/picture-states/privacy-states.ts';
import { runStates } from '../support/picture-states/run-states.ts';
import { answerByWords, type PictureState } from '../support/picture-states/steps.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { dialogStops } from '../support/tour-dialogs.ts';
import { emptyStops, filledStops, openStop, settled } from '../support/window-tour.ts';

const folder = process.env['TOUCHSTONE_PICTURES'];
/** Takes only the pictures whose names match. */
const only = new RegExp(process.env['TOUCHSTONE_PICTURES_ONLY'] ?? '');
const sizes = [
  { width: 1280, height: 800 },
  { width: 980, height: 700 },
  { width: 1920, height: 1080 },
  { width: 640, height: 400 },
];

const test = base.extend({
  hostOptions: async ({}, use) => {
    await using provider = await startScriptedProvider(answerByWords);
    await use(['--endpoint', `workshop=${provider.baseAddress}`]);
  },
});

/** One stop in both themes and all sizes: `1280x800-light/audit.png`. */
async function takeOne(page: Page, stop: PictureState): Promise<void> {
  await page.setViewportSize(sizes[0]!);
  await openStop(page, { name: stop.name, address: stop.address });
  await stop.enter?.(page);
  for (const size of sizes) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      if (!stop.isLoading) await settled(page);
      const path = join(folder!, `${size.width}x${size.height}-${colorScheme}`);
      mkdirSync(path, { recursive: true });
      await page.screenshot({ path: join(path, `${stop.name}.png`) });
    }
  }
  await page.setViewportSize(sizes[0]!);
  await page.keyboard.press('Escape');
  await stop.leave?.(page);
}

/** All stops whose names match. One that can't be entered doesn't keep the others from being taken. */
async function takeAll(page: Page, stops: readonly PictureState[]): Promise<void> {
  page.setDefaultTimeout(15_000);
  const failed: string[] = [];
  for (const stop of stops.filter(({ name }) => only.test(name))) {
    try {
      await takeOne(page, stop);
    } catch (error) {
      failed.push(`${stop.name}: ${String(error)}`);
      await page.screenshot({ path: join(folder!, `failed-${stop.name}.png`) });
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.reload();
    }
  }
  expect(failed).toEqual([]);
}

test.skip(folder === undefined, 'npm run tool -- pictures --all DIR says where the pictures go');
test.setTimeout(900_000);

test('every screen for a new user', async ({ page }) => {
  await takeAll(page, emptyStops);
});

test('every screen with data', async ({ page, objects }) => {
  await takeAll(page, filledStops(objects));
});

test('every dialog with data', async ({ page, objects }) => {
  // Some have the name of another picture.
  await takeAll(
    page,
    dialogStops(objects).map((stop) => ({ ...stop, name: `dialog-${stop.name}` })),
  );
});

test('the states of the playground', async ({ page, objects }) => {
  await takeAll(page, [...runStates(objects), ...playgroundStates(objects)]);
});

test('the states of the prompts', async ({ page, objects }) => {
  await takeAll(page, promptStates(objects));
});

test('the states of the agents', async ({ page, objects }) => {
  await takeAll(page, agentStates(objects));
});

test('the states of the settings for keys and privacy', async ({ page }) => {
  await takeAll(page, privacyStates);
});
