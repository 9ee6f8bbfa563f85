import type { Page } from '@playwright/test';
import { accessibilityFindings } from '../../support/accessibility.ts';
import { expect, test } from '../../support/served-window.ts';
import { auditPage } from './audit-page.ts';
import { typeInto } from './type-into.ts';

async function openSamples(page: Page, address: string): Promise<void> {
  await page.goto(`${address}/#/audit`);
  await page.getByRole('button', { name: 'Load sample data' }).click();
  await auditPage(page).settled();
  await expect(page.getByRole('group', { name: /^Feedback on/ })).toBeVisible();
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in the ${colorScheme} theme axe finds nothing`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' } });

    test('in the list, every part of a run, and what is picked', async ({ page, served, pageProblems }) => {
      await openSamples(page, served.address);
      for (const part of ['Prompt', 'Headers', 'Timing', 'JSON', 'Conversation']) {
        await page.getByRole('radio', { name: part }).click();
        expect([part, await accessibilityFindings(page)]).toEqual([part, []]);
      }
      await page
        .getByRole('button', { name: /^Add tag/ })
        .first()
        .click();
      await page.keyboard.press('8');
      await page.keyboard.press('x');
      await expect(page.getByText('1 selected')).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(pageProblems).toEqual([]);
    });

    test('in the menu of filters, chips, and where nothing matches', async ({ page, served, pageProblems }) => {
      await openSamples(page, served.address);
      for (const field of ['date', 'model', 'score', 'header', 'workspace']) {
        const menu = page.getByRole('dialog', { name: /^Filter/ });
        await page.keyboard.press('f');
        await typeInto(menu.getByPlaceholder('Filter by'), field);
        await page.keyboard.press('Enter');
        await expect(menu.getByRole('button', { name: 'All filters' })).toBeVisible();
        expect([field, await accessibilityFindings(page)]).toEqual([field, []]);
        await page.keyboard.press('Escape');
        await expect(menu).toBeHidden();
      }
      await page.goto(`${served.address}/#/audit/text=nothing+has+this+word&score=-3..-1&status=Lost`);
      await expect(page.getByText('No matching conversations')).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(pageProblems).toEqual([]);
    });

    test('in the figures, an evidence pack, a replay and the empty list of replays', async ({
      page,
      served,
      pageProblems,
    }) => {
      await openSamples(page, served.address);
      await page.getByRole('button', { name: 'View as table' }).press('Enter');
      await expect(page.getByRole('dialog').getByRole('table').first()).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
      await page.getByRole('button', { name: 'Evidence pack' }).click();
      await expect(page.getByText(/^Matches in the first/)).toBeVisible();
      await page.getByRole('button', { name: /of \d+ columns/ }).click();
      await page.getByRole('button', { name: 'Custom pattern' }).click();
      await typeInto(page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }), 'Broken');
      await page.getByLabel('Regular expression').fill('(');
      await expect(page.getByLabel('Regular expression')).toHaveAttribute('aria-invalid', 'true');
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove pattern Broken' }).click();
      await page.getByRole('button', { name: 'Create pack' }).click();
      await page.getByRole('button', { name: 'Files and checksums' }).click();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog', { name: 'Evidence pack' })).toBeHidden();
      await page.keyboard.press('r');
      await expect(page.getByRole('dialog', { name: /^Replay/ })).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.goto(`${served.address}/#/audit/replays`);
      await expect(page.getByText('No replays yet')).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(pageProblems).toEqual([]);
    });
  });
}

for (const { width, height } of [
  { width: 980, height: 700 },
  { width: 1680, height: 1000 },
]) {
  test(`at ${width} by ${height} a panel scrolls, the window never does`, async ({ page, served }) => {
    await page.setViewportSize({ width, height });
    await openSamples(page, served.address);
    const excess = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const screen = document.querySelector('main') as HTMLElement;
      return [
        scrollWidth - innerWidth,
        scrollHeight - innerHeight,
        screen.scrollWidth - screen.clientWidth,
        screen.scrollHeight - screen.clientHeight,
      ];
    });
    expect(excess).toEqual([0, 0, 0, 0]);
  });
}
