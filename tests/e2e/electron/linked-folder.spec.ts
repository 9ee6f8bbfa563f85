import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/electron.ts';

test("on the desktop links a folder with the system's dialog, and follows changes on both sides", async ({
  folder,
  launch,
}) => {
  const { app, page } = await launch({ dataDirectory: join(folder, 'data') });
  const files = join(realpathSync(folder), 'prompts');
  mkdirSync(files);
  writeFileSync(join(files, 'greeting.prompt'), '---\nowner.team: [a,  b]\n---\nHello {{name}}\n');
  await app.evaluate(({ dialog }, path) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] });
  }, files);
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('button', { name: 'Link a folder' }).click();
  await page.getByRole('button', { name: 'Choose' }).click();
  await expect(page.getByLabel('Folder on this device')).toHaveValue(files);
  await page.getByRole('button', { name: 'Link folder' }).click();
  await expect(page.getByRole('region', { name: 'prompts' }).getByText('1 file')).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
  await page.getByRole('option', { name: /greeting/ }).click();
  await expect(page.getByText('Hello {{name}}').first()).toBeVisible();
  writeFileSync(join(files, 'greeting.prompt'), '---\nowner.team: [a,  b]\n---\nGood day {{name}}\n');
  await expect(page.getByText('Good day {{name}}').first()).toBeVisible();
  await page.getByRole('option', { name: /^Version 1/ }).click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect
    .poll(() => readFileSync(join(files, 'greeting.prompt'), 'utf8'))
    .toBe('---\nowner.team: [a,  b]\n---\nHello {{name}}\n');
});
