import { accessibilityFindings } from '../../support/accessibility.ts';
import { followDatasetJourney, pasteManyRows } from '../../support/dataset-journey.ts';
import { callInPage, expect, test } from '../../support/served-window.ts';

test('a spreadsheet becomes a dataset, which is edited, saved and restored', async ({ page, pageProblems }) => {
  await page.evaluate(() => {
    location.hash = '#/compare/datasets';
  });
  await expect(page.getByText('No datasets yet')).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
  await followDatasetJourney({ page, call: (method, path, body) => callInPage(page, method, path, body) });
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(pageProblems).toEqual([]);
});

test('100,000 pasted rows are shown wherever one scrolls, and saved', async ({ page }) => {
  await page.evaluate(() => {
    location.hash = '#/compare/datasets';
  });
  await page.getByRole('button', { name: 'New dataset' }).click();
  await pasteManyRows(page, 100_000);
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved version 2.', { exact: true })).toBeVisible();
  await expect(page.getByRole('gridcell', { name: 'last 99999', exact: true })).toBeVisible();
});
