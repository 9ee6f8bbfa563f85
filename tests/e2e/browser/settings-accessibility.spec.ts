import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/served-window.ts';

const pages = [
  'providers',
  'endpoints',
  'service-models',
  'on-device',
  'api-keys',
  'local-server',
  'data',
  'appearance',
];

/** WCAG 2.2 A and AA and the best practices; every finding as one line. */
async function findings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Measured when nothing fades in any more. */
async function settle(page: Page): Promise<void> {
  await expect(page.getByRole('status', { name: /^Reading/ })).toHaveCount(0);
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {}))),
  );
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in the ${colorScheme} theme axe finds nothing`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' } });

    for (const name of pages) {
      test(`on the page ${name}`, async ({ page, served }) => {
        await page.goto(`${served.address}/#/settings/${name}`);
        await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
        await settle(page);
        expect(await findings(page)).toEqual([]);
      });
    }

    test('with a form open, a question asked, the palette and the keys', async ({ page, served }) => {
      await page.goto(`${served.address}/#/settings/providers/OpenAi`);
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      await settle(page);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('Control+k');
      await settle(page);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Keys', exact: true }).first().click();
      await settle(page);
      expect(await findings(page)).toEqual([]);
    });
  });
}
