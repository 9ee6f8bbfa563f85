import type { Page } from '@playwright/test';
import { enterStop, filledStops, settled, type TourStop } from '../../support/window-tour.ts';
import { expect, test } from './tour-window.ts';

test.use({ contextOptions: { reducedMotion: 'reduce' } });

const softly = expect.configure({ soft: true });

const sizes = [
  { width: 1280, height: 800 },
  { width: 980, height: 700 },
  { width: 640, height: 400 },
];

/** What lies below a toast, or over it: anything but the toast itself. */
function coveredByToasts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const covered: string[] = [];
    const layers = document.querySelectorAll('#window > *, [role=dialog], [role=alertdialog], [role=menu]');
    for (const toast of document.querySelectorAll('.toast')) {
      const own = toast.getBoundingClientRect();
      for (const layer of layers) {
        const other = layer.getBoundingClientRect();
        const width = Math.min(own.right, other.right) - Math.max(own.left, other.left);
        const height = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
        if (width > 1 && height > 1) covered.push(`${layer.className}: ${Math.round(width)} by ${Math.round(height)}`);
      }
    }
    return covered;
  });
}

/** Failures, whose toasts stay until they are dismissed: of addresses that the host doesn't know. */
async function showToasts(page: Page): Promise<void> {
  const nowhere = '00000000-0000-4000-8000-000000000000';
  const addresses = ['/playground/runs/nothing', `/playground/runs/${nowhere}`];
  for (const [index, address] of addresses.entries()) {
    await page.evaluate((hash) => (location.hash = hash), address);
    await expect(page.locator('.toast')).toHaveCount(index + 1);
  }
}

/** One stop for each layout: lists with a detail, panels side by side, a page, and the kinds of dialogs. */
const screens = new Set(['prompts', 'agents-conversation', 'knowledge-passage', 'audit', 'settings-providers']);
const dialogs = new Set(['playground-models', 'playground-save', 'palette']);

async function expectNothingCovered(page: Page, stop: TourStop, at: readonly (typeof sizes)[number][]): Promise<void> {
  await enterStop(page, stop);
  for (const size of at) {
    await page.setViewportSize(size);
    await settled(page);
    await expect(page.locator('.toast')).toHaveCount(2);
    await softly.poll(() => coveredByToasts(page), `${stop.name} at ${size.width}`).toEqual([]);
  }
  await page.setViewportSize(sizes[0]!);
}

test('toasts cover no part of a screen and of a dialog', async ({ page, objects }) => {
  const stops = filledStops(objects);
  await page.reload();
  await showToasts(page);
  for (const stop of stops.filter(({ name }) => screens.has(name))) await expectNothingCovered(page, stop, sizes);
  for (const stop of stops.filter(({ name }) => dialogs.has(name))) {
    // Closes the dialog of the stop before.
    await page.reload();
    await showToasts(page);
    // Between the large and the small window, dialogs stay as they are.
    await expectNothingCovered(page, stop, [sizes[0]!, sizes[2]!]);
  }
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  await dismiss.first().click();
  await dismiss.click();
  await expect(page.locator('.toast')).toHaveCount(0);
});
