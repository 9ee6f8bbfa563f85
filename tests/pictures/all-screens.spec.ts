import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { test } from '../e2e/browser/tour-window.ts';
import { emptyStops, filledStops, openStop, settled, type TourStop } from '../support/window-tour.ts';

const folder = process.env['TOUCHSTONE_PICTURES'];
const sizes = [
  { width: 1280, height: 800 },
  { width: 980, height: 700 },
  { width: 1920, height: 1080 },
  { width: 640, height: 400 },
];

/** Every stop in both themes and all sizes: `1280x800-light/audit.png`. */
async function takeAll(page: Page, stops: readonly TourStop[]): Promise<void> {
  for (const stop of stops) {
    await page.setViewportSize(sizes[0]!);
    await openStop(page, stop);
    for (const size of sizes) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        await settled(page);
        const path = join(folder!, `${size.width}x${size.height}-${colorScheme}`);
        mkdirSync(path, { recursive: true });
        await page.screenshot({ path: join(path, `${stop.name}.png`) });
      }
    }
  }
}

test.skip(folder === undefined, 'npm run pictures -- --all DIR says where the pictures go');
test.setTimeout(900_000);

test('every screen as a new user finds it', async ({ page }) => {
  await takeAll(page, emptyStops);
});

test('every screen with data', async ({ page, objects }) => {
  await takeAll(page, filledStops(objects));
});
