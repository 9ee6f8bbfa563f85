import { accessibilityFindings } from '../../support/accessibility.ts';
import { followDatasetJourney, pasteManyRows, pasteText } from '../../support/dataset-journey.ts';
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

test('edits are kept however soon the page is reloaded after them', async ({ page }) => {
  const { id } = (await callInPage(page, 'POST', '/datasets', {
    name: 'Tickets',
    columns: [{ name: 'ticket', type: 'text' }],
    rows: [{ ticket: 'late' }, { ticket: 'broken' }],
  })) as { id: string };
  await page.evaluate((hash) => void (location.hash = hash), `#/compare/datasets/${id}`);
  const grid = page.getByRole('grid');
  const cell = (name: string) => grid.getByRole('gridcell', { name, exact: true });
  await cell('broken').click();
  // More than one transaction writes them.
  await pasteText(page, Array.from({ length: 10_000 }, (_, row) => `row ${row}\tmore ${row}`).join('\n'));
  await expect(grid).toHaveAttribute('aria-rowcount', '10002');
  await page.reload();
  await expect(cell('more 0')).toBeVisible();
  await expect(grid).toHaveAttribute('aria-rowcount', '10002');
  await cell('late').click();
  await page.keyboard.type('typed and not left');
  await page.reload();
  await expect(cell('typed and not left')).toBeVisible();
  await expect(grid).toHaveAttribute('aria-rowcount', '10002');
});

test('edits of a window that closes are shown in the one that waits for them', async ({ page }) => {
  const { id } = (await callInPage(page, 'POST', '/datasets', {
    name: 'Tickets',
    columns: [{ name: 'ticket', type: 'text' }],
    rows: [{ ticket: 'late' }],
  })) as { id: string };
  const other = await page.context().newPage();
  const address = page.url().replace(/#.*|$/, `#/compare/datasets/${id}`);
  for (const one of [page, other]) await one.goto(address);
  const notice = other.getByText('This dataset is open in another window.', { exact: false });
  await expect(notice).toBeVisible();
  await page.getByRole('gridcell', { name: 'late', exact: true }).click();
  await page.keyboard.type('typed in the first');
  await page.keyboard.press('Enter');
  await page.close();
  await expect(other.getByRole('gridcell', { name: 'typed in the first', exact: true })).toBeVisible();
  await expect(notice).toBeHidden();
});
