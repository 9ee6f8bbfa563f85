import type { Page } from '@playwright/test';
import { accessibilityFindings } from '../../support/accessibility.ts';
import { expect, test } from '../../support/served-window.ts';

/** The pages with their titles. */
const pages = {
  providers: 'Providers and keys',
  endpoints: 'Compatible endpoints',
  'service-models': 'Built-in models',
  'on-device': 'On-device models',
  'api-keys': 'API keys',
  'local-server': 'Local server',
  data: 'Data and backup',
  appearance: 'Appearance',
};

/** Nothing is on its way any more. */
async function settle(page: Page): Promise<void> {
  await expect(page.getByRole('status', { name: /^Reading/ })).toHaveCount(0);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in the ${colorScheme} theme axe finds nothing`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' } });

    test('on every page', async ({ page, served }) => {
      for (const [name, title] of Object.entries(pages)) {
        await test.step(name, async () => {
          await page.goto(`${served.address}/#/settings/${name}`);
          await expect(page.getByRole('heading', { level: 2, name: title }).first()).toBeVisible();
          await settle(page);
          expect(await accessibilityFindings(page)).toEqual([]);
        });
      }
    });

    test('with a form open, a question asked, the palette and the keys', async ({ page, served }) => {
      await page.goto(`${served.address}/#/settings/providers/OpenAi`);
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      await settle(page);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Control+k');
      await settle(page);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Keyboard shortcuts', exact: true }).first().click();
      await settle(page);
      expect(await accessibilityFindings(page)).toEqual([]);
    });
  });
}
