import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fillDatabase, generateRuns } from '../../../benchmarks/support/audit-generator.ts';
import { expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { auditPage } from '../browser/audit-page.ts';

test('on the desktop finds, rates, saves and exports a conversation by keyboard', async ({ folder, launch }) => {
  const dataDirectory = join(folder, 'data');
  mkdirSync(dataDirectory);
  fillDatabase(dataDirectory, generateRuns(Number(process.env['TOUCHSTONE_AUDIT_RUNS'] ?? 2_000)));
  const first = await launch({ dataDirectory });
  const { page } = first;
  const audit = auditPage(page);
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await page.keyboard.press(await audit.screenKeys());
  await audit.settled();
  await page.keyboard.press('/');
  await page.keyboard.type('customer');
  await expect(page).toHaveURL(/text=customer/);
  await page.keyboard.press('Enter');
  await audit.settled();
  await page.keyboard.press('j');
  await expect(audit.detail).toContainText(/2 of/);
  // Right after each other: a minus that no digit follows is soon forgotten.
  await Promise.all(['-', '1', '0'].map((key) => page.keyboard.press(key)));
  await expect(audit.feedback.getByRole('radio', { checked: true })).toHaveAccessibleName('-10');
  await expect(audit.openRow).toContainText('−10');
  const address = new URL(page.url()).hash;

  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Evidence pack' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Evidence pack' });
  await expect(dialog).toContainText('1 selected conversation');
  // The dialog takes the focus when it opens; a button that was focused before would lose it again.
  await expect(dialog.locator(':focus')).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Create pack' }).press('Enter');
  await expect(dialog.getByText('Complete')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Open folder' })).toBeVisible();
  await first.quit();

  const second = await launch({ dataDirectory });
  await auditPage(second.page).settled();
  await expect.poll(() => new URL(second.page.url()).hash).toBe(address);
  await expect(auditPage(second.page).openRow).toContainText('−10');
});
