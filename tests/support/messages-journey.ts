import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from './scripted-provider.ts';

export interface MessagesJourney {
  readonly page: Page;
  /** A folder of this test alone. */
  readonly folder: string;
  readonly model: string;
  chooseModel(words: string): Promise<void>;
  nextRun(): Promise<ScriptedCall>;
}

const fewShot = `---
name: grade
---
{{role "system"~}}
You grade bicycle parts.
{{~role "user"~}}
A dent in the rim.
{{~role "model"~}}
repair
{{~role "user"~}}
{{part}}`;

const messageOf = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

async function importFewShot({ page, folder }: MessagesJourney): Promise<void> {
  const library = join(folder, 'few-shot');
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, 'grade.prompt'), fewShot);
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('button', { name: 'Import prompts' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Folder').setInputFiles(library);
  await dialog.getByRole('button', { name: 'Preview import' }).click();
  await dialog.getByRole('button', { name: 'Import 1 prompt' }).click();
  await expect(dialog).toBeHidden();
  await page
    .getByRole('listbox', { name: /^Prompts/ })
    .getByRole('option', { name: /^grade/ })
    .click();
  await page.getByRole('button', { name: /^Open/ }).click();
}

/** Writes a second example with the keyboard, moves it to the front and takes that back. */
async function editMessages({ page }: MessagesJourney): Promise<void> {
  const items = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
  await expect(items).toHaveCount(3);
  await expect(items.filter({ hasText: 'Example' })).toHaveCount(2);
  await messageOf(page, 'Message 2, Assistant').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Control+Shift+Enter');
  await expect(messageOf(page, 'Message 3, User')).toBeFocused();
  await page.keyboard.type('A cracked fork crown.');
  await page.keyboard.press('Control+Shift+Enter');
  await page.keyboard.type('replace');
  await expect(items.filter({ hasText: 'Example' })).toHaveCount(4);
  await page.getByRole('button', { name: 'Move Message 4, Assistant', exact: true }).press('ArrowUp');
  await expect(messageOf(page, 'Message 3, Assistant')).toHaveText('replace');
  await messageOf(page, 'Message 3, Assistant').press('Control+z');
  await expect(messageOf(page, 'Message 3, User')).toHaveText('A cracked fork crown.');
  await page.getByRole('button', { name: 'Text of Message 1, User' }).click();
  await expect(messageOf(page, 'Message 1, User')).toBeHidden();
}

/** From a prompt file with examples to a run whose messages an auditor reads: import, edit, render, run. */
export async function followMessagesJourney(journey: MessagesJourney): Promise<void> {
  const { page } = journey;
  await importFewShot(journey);
  await journey.chooseModel(journey.model);
  await editMessages(journey);
  await page.getByRole('region', { name: 'Variables' }).getByLabel('part', { exact: true }).fill('A worn chain.');
  await page.getByRole('radio', { name: 'Rendered', exact: true }).click();
  const rendered = page.getByRole('textbox', { name: 'Rendered prompt' });
  await expect(rendered).toContainText('You grade bicycle parts.');
  await expect(rendered.locator('.sent-label')).toContainText([
    'System',
    'User',
    'Assistant',
    'User',
    'Assistant',
    'User',
  ]);
  await page.getByRole('radio', { name: 'Messages', exact: true }).click();
  const next = journey.nextRun();
  await page.keyboard.press('Control+Enter');
  const call = await next;
  await call.chatStream(['replace']);
  expect(call.body['messages']).toEqual([
    { role: 'system', content: 'You grade bicycle parts.' },
    { role: 'user', content: 'A dent in the rim.' },
    { role: 'assistant', content: 'repair' },
    { role: 'user', content: 'A cracked fork crown.' },
    { role: 'assistant', content: 'replace' },
    { role: 'user', content: 'A worn chain.' },
  ]);
  await expect(page.getByRole('region', { name: 'Answer', exact: true }).getByText(/^Complete/)).toBeVisible();
  await page.getByRole('link', { name: 'Audit' }).click();
  const text = page.getByRole('region', { name: 'Text of the run' });
  await expect(text.getByRole('heading')).toHaveText([
    'System',
    'User',
    'Assistant',
    'User',
    'Assistant',
    'User',
    'Answer',
  ]);
}
