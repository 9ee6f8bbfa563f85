import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from './scripted-provider.ts';

export interface LibraryJourney {
  readonly page: Page;
  /** A folder of this test alone. */
  readonly folder: string;
  /** A model that the scripted provider answers, as one types it into the filter of models. */
  readonly model: string;
  /** Replaces the whole template of the playground. */
  writePrompt(text: string): Promise<void>;
  chooseModel(words: string): Promise<void>;
  nextRun(): Promise<ScriptedCall>;
  /** Runs a prompt as a program does, over HTTP with a key. */
  runByHttp(body: object): Promise<{ message: string; runId: string }>;
}

const dotprompts = {
  'greeting.prompt': '---\nname: greeting\n---\nGreet {{name}} in one line.\n',
  'mail/reply.prompt': '---\nname: reply\n---\nReply to {{question}}.\n',
};

function writePrompts(folder: string): string {
  const library = join(folder, 'library');
  mkdirSync(join(library, 'mail'), { recursive: true });
  for (const [name, content] of Object.entries(dotprompts)) writeFileSync(join(library, name), content);
  return library;
}

async function importFolder({ page, folder }: LibraryJourney): Promise<void> {
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('button', { name: 'Import prompts' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Folder').setInputFiles(writePrompts(folder));
  await dialog.getByRole('button', { name: 'Preview import' }).click();
  await dialog.getByRole('button', { name: 'Import 2 prompts' }).click();
  await expect(dialog).toBeHidden();
}

async function editAndSave({ page, model, chooseModel, writePrompt }: LibraryJourney): Promise<void> {
  await page
    .getByRole('listbox', { name: /^Prompts/ })
    .getByRole('option', { name: /^greeting/ })
    .click();
  await page.getByRole('button', { name: /^Open/ }).click();
  await expect(page.getByRole('link', { name: 'Version 1 in the library' })).toBeVisible();
  await chooseModel(model);
  await writePrompt('Greet {{name}} warmly in one line.');
  await expect(page.getByText('Edited', { exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Version 1 in the library' }).click();
  await expect(page.getByText(/^Edits to version 1 are unsaved/)).toBeVisible();
  await page.getByRole('button', { name: 'Continue editing' }).click();
  await expect(page.getByRole('link', { name: 'Version 1 in the library' })).toBeVisible();
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Save "greeting"' });
  await dialog.getByText('Descriptions, defaults and samples').click();
  await dialog.getByLabel('Description of name').fill('Who is greeted');
  await dialog.getByLabel('Default of name').fill('you');
  await dialog.getByLabel('Note').fill('Warmer');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Version 2 in the library' }).click();
}

async function compareAndLabel({ page }: LibraryJourney): Promise<void> {
  await page.getByRole('radio', { name: 'Compare' }).click();
  await expect(page.getByRole('table', { name: 'Prompt' }).locator('ins')).toHaveText(/warmly/);
  await expect(page.getByRole('table', { name: 'Settings' })).toContainText('Who is greeted');
  await page.getByRole('radio', { name: 'Version', exact: true }).click();
  await page.getByRole('button', { name: 'Label', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Label').fill('production');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Remove label production' })).toBeVisible();
}

/**
 * From a folder of files to a run that an auditor finds: import, edit, compare, label, run over HTTP, and find the run by the id of
 * the version that made it.
 */
export async function followLibraryJourney(journey: LibraryJourney): Promise<void> {
  const { page } = journey;
  await importFolder(journey);
  await editAndSave(journey);
  await compareAndLabel(journey);
  const [, , promptId, versionId] = new URL(page.url()).hash.split('/');
  const answered = journey.nextRun().then((call) => {
    call.chatAnswer({ content: 'Good morning to **you**!' });
    return call.body['messages'];
  });
  const { message, runId } = await journey.runByHttp({ promptId, label: 'production' });
  expect([message, await answered]).toEqual([
    'Good morning to **you**!',
    [{ role: 'user', content: 'Greet you warmly in one line.' }],
  ]);
  await page.getByRole('link', { name: '1 run in the audit' }).click();
  await expect(page).toHaveURL(new RegExp(`prompt-version=${versionId}`));
  await expect(page.getByRole('article').filter({ hasText: 'Good morning to you!' })).toBeVisible();
  await page.getByRole('radio', { name: 'Headers' }).click();
  await page.getByRole('link', { name: 'Open the version' }).click();
  await expect(page.getByRole('region', { name: 'Version 2' })).toBeVisible();
  await page.goBack();
  await page.getByRole('radio', { name: 'JSON' }).click();
  const text = page.getByRole('region', { name: 'Text of the run' });
  await expect(text).toContainText(runId);
  await expect(text).toContainText(`"promptVersionId": "${versionId}"`);
}
