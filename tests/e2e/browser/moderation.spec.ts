import type { Page } from '@playwright/test';
import { accessibilityFindings } from '../../support/accessibility.ts';
import { expect, test } from '../../support/served-window.ts';

const threat = 'I will find you and kill you with a knife, you worthless idiot.';
const lines = [
  { prompt: threat, S: 0, H: 0, HR: 1, SH: 0, V: 1 },
  { prompt: 'Where do I find the torque table?', S: 0, H: 0, HR: 0, SH: 0, V: 0 },
  { prompt: 'How do I kill a Python process?', S: 0, H: 0, HR: 0, SH: 0, V: 0 },
];
const labelledSet = {
  name: 'tickets.jsonl',
  mimeType: 'application/jsonl',
  buffer: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
};

const texts = (page: Page) => page.getByRole('listbox', { name: 'Texts' }).getByRole('option');
const editor = (page: Page) => page.getByRole('textbox', { name: 'Text to check' });

test('a text is written, checked by keyboard and marked', async ({ page, served, pageProblems }) => {
  await page.goto(`${served.address}/#/moderation`);
  await editor(page).click();
  await page.keyboard.insertText(`Good morning. ${threat}`);
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText(/^Flagged: .*violence/)).toBeVisible();
  await expect(page.locator('mark').first()).toContainText('will find you');
  await page.getByRole('button', { name: /^Violence: show/ }).click();
  await expect(editor(page)).toBeFocused();
  expect(pageProblems).toEqual([]);
});

test('a labelled file is checked, read through by keys, found again by its address, and exported', async ({
  page,
  served,
}) => {
  await page.goto(`${served.address}/#/moderation`);
  await page.getByLabel('Import file').setInputFiles(labelledSet);
  const violence = page.getByRole('row', { name: /^Violence/ });
  await expect(violence).toContainText('1.00');
  await expect(page.getByRole('radio', { name: 'Flagged 1' })).toBeVisible();
  await expect(texts(page)).toHaveCount(3);
  await texts(page).first().click();
  await page.keyboard.press('j');
  await expect(page).toHaveURL(/\/2$/);
  await expect(page.getByRole('heading', { name: 'Text 2' })).toBeVisible();
  await expect(page.getByText('Not flagged')).toBeVisible();
  await page.reload();
  await expect(editor(page)).toContainText('torque table');
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  expect((await download).suggestedFilename()).toBe('tickets-moderation.csv');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in the ${colorScheme} theme axe finds nothing`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' } });

    test('on an empty screen, with texts, passages and figures, and with the guard open', async ({ page, served }) => {
      await page.goto(`${served.address}/#/moderation`);
      await expect(page.getByText('Batch', { exact: true })).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.getByLabel('Import file').setInputFiles(labelledSet);
      await expect(page.getByRole('button', { name: /^Violence: show/ })).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.getByRole('button', { name: /^Guard/ }).click();
      await expect(page.getByText('No runs checked since Touchstone started')).toHaveCount(2);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'About the on-device classifier' }).click();
      expect(await accessibilityFindings(page)).toEqual([]);
    });

    test('in the smallest window', async ({ page, served }) => {
      await page.setViewportSize({ width: 980, height: 700 });
      await page.goto(`${served.address}/#/moderation`);
      await page.getByLabel('Import file').setInputFiles(labelledSet);
      await page.getByRole('button', { name: 'Select a text' }).click();
      await expect(texts(page)).toHaveCount(3);
      expect(await accessibilityFindings(page)).toEqual([]);
    });
  });
}
