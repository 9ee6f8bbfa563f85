import { readFileSync } from 'node:fs';
import { auditPage } from './audit-page.ts';
import { expect, test } from './audit-host.ts';
import { typeInto } from './type-into.ts';

test('finds, reads, rates and exports a conversation by keyboard alone', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/playground`);
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await page.keyboard.press(await audit.screenKeys());
  await audit.settled();
  const everything = await audit.count.textContent();

  await page.keyboard.press('/');
  await typeInto(page.getByLabel('Search conversations'), 'customer');
  await expect(page).toHaveURL(/#\/audit\/text=customer/);
  await expect(page.getByLabel('Search conversations')).toBeFocused();
  await page.keyboard.press('Enter');
  await audit.settled();
  await expect(audit.count).not.toHaveText(everything ?? '');

  await page.keyboard.press('f');
  await typeInto(audit.filterField, 'status');
  await page.keyboard.press('Enter');
  await expect(audit.filterField).toHaveValue('');
  await typeInto(audit.filterField, 'completed');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Status' })).toContainText('Completed');
  await page.keyboard.press('Escape');
  await audit.settled();

  await page.keyboard.press('j');
  await audit.isAt(2);
  await expect(page).toHaveURL(/\/[\da-f-]{36}$/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Text of the run' })).toBeFocused();
  // Right after each other: a minus that no digit follows is soon forgotten.
  await Promise.all([page.keyboard.press('-'), page.keyboard.press('7')]);
  await expect(audit.feedback.getByRole('radio', { checked: true })).toHaveAccessibleName('-7');
  await page.keyboard.press('t');
  await typeInto(page.getByPlaceholder('Find or create a tag'), 'promised too much');
  await page.keyboard.press('Enter');
  await expect(audit.feedback.getByRole('button', { name: 'Remove tag promised too much' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Tags' })).toBeHidden();
  await page.keyboard.press('c');
  await typeInto(page.getByLabel('Comment'), 'Nobody can keep that.');
  const stored = page.waitForResponse((response) => response.request().postData()?.includes('can keep that') ?? false);
  await page.keyboard.press('Enter');
  await audit.isAt(3);
  await stored;

  await page.goto(`${served.address}/#/audit/feedback-text=can+keep+that`);
  await expect(audit.count).toHaveText('1 conversation');
  await expect(audit.openRow).toContainText('−7');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(audit.count).toHaveText('1 selected');
  await page.keyboard.press('Control+k');
  await typeInto(page.getByPlaceholder('Search or run a command'), 'evidence pack');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Evidence pack' });
  await expect(dialog).toContainText('1 selected conversation');
  // The dialog takes the focus when it opens; a button that was focused before would lose it again.
  await expect(dialog.locator(':focus')).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Create pack' }).press('Enter');
  await expect(dialog.getByText('Complete')).toBeVisible();
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download' }).focus();
  await page.keyboard.press('Enter');
  const bytes = readFileSync(await (await download).path());
  expect(bytes.subarray(0, 2).toString()).toBe('PK');
});

test('typing in the full-text field never loses the focus or a letter, and Back has one step per word', async ({
  page,
  served,
}) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit`);
  await audit.settled();
  const field = page.getByLabel('Search conversations');
  await field.focus();
  // Slowly enough that the list is searched several times on the way.
  await page.keyboard.type('customer formal', { delay: 260 });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('customer formal');
  await expect(page).toHaveURL(/text=customer\+formal/);
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL(/#\/audit$/);
  await expect(field).toHaveValue('');
});

test('an address opens the same list and the same conversation again', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit/score=-10..-1&sort=lowest-score`);
  await audit.settled();
  const last = String(await audit.list.getByRole('option').first().getAttribute('aria-setsize'));
  await audit.list.focus();
  await page.keyboard.press('End');
  await audit.isAt(last);
  await expect(page).toHaveURL(/\/[\da-f-]{36}$/);
  const title = await audit.detail.getByRole('heading', { level: 2 }).textContent();
  await page.reload();
  await audit.isAt(last);
  await expect(audit.detail.getByRole('heading', { level: 2 })).toHaveText(title ?? '');
  await expect(page.getByRole('combobox', { name: 'Sort by' })).toHaveValue('lowest-score');
});

test('saves, renames, opens, deletes and restores a view', async ({ page, served }) => {
  await page.goto(`${served.address}/#/audit/status=Failed`);
  await auditPage(page).settled();
  const views = page.getByRole('navigation', { name: 'Saved views' });
  const name = page.getByLabel('View name');
  await page.keyboard.press('s');
  await typeInto(name, 'What failed');
  await page.keyboard.press('Enter');
  await expect(views.getByRole('button', { name: 'What failed', exact: true })).toHaveAttribute('aria-current', 'true');
  await views.getByRole('button', { name: 'Actions for view What failed' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await typeInto(name, 'All that failed');
  await page.keyboard.press('Enter');
  await views.getByRole('button', { name: 'All conversations' }).click();
  await expect(page.getByRole('group', { name: 'Status' })).toHaveCount(0);
  await views.getByRole('button', { name: 'All that failed', exact: true }).click();
  await expect(page.getByRole('group', { name: 'Status' })).toContainText('Failed');
  await views.getByRole('button', { name: 'Actions for view All that failed' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(views.getByRole('button', { name: 'All that failed', exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(views.getByRole('button', { name: 'All that failed', exact: true })).toBeVisible();
});

test('explains invalid filters beside them', async ({ page, served }) => {
  await page.goto(`${served.address}/#/audit/status=Lost&colour=red`);
  await auditPage(page).settled();
  await expect(page.getByText(/Ignored invalid filters in this link: colour, status\./)).toBeVisible();
  await page.keyboard.press('f');
  await typeInto(auditPage(page).filterField, 'score');
  await page.keyboard.press('Enter');
  await page.getByLabel('From', { exact: true }).fill('5');
  await page.getByLabel('To', { exact: true }).fill('-5');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Must not be above the upper limit')).toBeVisible();
  await page.getByLabel('To', { exact: true }).fill('11');
  await expect(page.getByText('Must be from −10 to 10')).toBeVisible();
});

test('highlights matching words, and a search for signs alone is no error', async ({ page, served }) => {
  await page.goto(`${served.address}/#/audit/text=customer`);
  await auditPage(page).settled();
  await expect
    .poll(() =>
      page.evaluate(() => [...(CSS.highlights.get('audit-find') ?? [])].map((range) => String(range).toLowerCase())[0]),
    )
    .toBe('customer');
  await page.getByLabel('Search conversations').fill('"(( AND *');
  await expect(page).toHaveURL(/text=~22/);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test.describe('without any run', () => {
  test.use({ runs: 0 });

  test('loads the sample data with one click and removes it with another', async ({ page, served }) => {
    const audit = auditPage(page);
    await page.goto(`${served.address}/#/audit`);
    await page.getByRole('button', { name: 'Load sample data' }).click();
    await audit.settled();
    await expect(audit.count).toContainText(/\d+ conversations/);
    await expect(audit.detail.getByText('Sample', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Remove sample data' }).click();
    await expect(page.getByText('No runs yet').first()).toBeVisible();
  });
});
