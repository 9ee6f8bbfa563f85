import type { Page } from '@playwright/test';
import { expect, test } from '../../support/served-window.ts';
import { labelledSet, threat } from '../../support/tour-dialogs.ts';

const texts = (page: Page) => page.getByRole('listbox', { name: 'Texts' }).getByRole('option');
const editor = (page: Page) => page.getByRole('textbox', { name: 'Text to check' });

test('checks a text by keyboard and highlights it', async ({ page, served, pageProblems }) => {
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

test('checks a labelled file, reads it by keyboard, opens it again by its address, and exports it', async ({
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
