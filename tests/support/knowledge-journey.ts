import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from './scripted-provider.ts';

export interface KnowledgeJourney {
  readonly page: Page;
  /** A model that the scripted provider answers, as one types it into the filter of models. */
  readonly model: string;
  writePrompt(text: string): Promise<void>;
  chooseModel(words: string): Promise<void>;
  nextRun(): Promise<ScriptedCall>;
}

const report = join(import.meta.dirname, '../fixtures/knowledge/report.pdf');

/** Lets a file fall on the screen, as one does who holds it with the mouse. */
async function dropFile(page: Page, path: string, name: string): Promise<void> {
  const file = { name, content: readFileSync(path).toString('base64') };
  const dataTransfer = await page.evaluateHandle(({ name: fileName, content }) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], fileName));
    return transfer;
  }, file);
  const sources = page.getByRole('region', { name: 'Sources' });
  for (const type of ['dragenter', 'dragover', 'drop']) await sources.dispatchEvent(type, { dataTransfer });
}

async function addReport(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Knowledge' }).click();
  await page.getByRole('button', { name: 'Create dataspace' }).first().click();
  await page.getByLabel('Dataspace name').fill('Assay office');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No sources yet')).toBeVisible();
  await dropFile(page, report, 'report.pdf');
  await expect(page.getByRole('option', { name: /^report\.pdf PDF .* 3 pages \d+ passages$/ })).toBeVisible();
}

async function chooseDataspace(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Choose dataspaces' }).click();
  await page.getByRole('checkbox', { name: 'Assay office' }).click();
  await page.keyboard.press('Escape');
  const passages = page.getByRole('region', { name: 'Grounding', exact: true });
  await expect(passages.getByText(/^\d+ passages? used$/)).toBeVisible();
}

/** From dropping a PDF to a cited answer and to the page that it cites. */
export async function followKnowledgeJourney(journey: KnowledgeJourney): Promise<void> {
  const { page, model, writePrompt, chooseModel, nextRun } = journey;
  await addReport(page);
  await page.getByRole('link', { name: 'Playground' }).click();
  await chooseModel(model);
  await writePrompt('How long does cupellation take for each series?');
  await chooseDataspace(page);
  const run = nextRun();
  await page.keyboard.press('Control+Enter');
  const call = await run;
  expect(call.bodyText).toContain('Cupellation: one working day for each series.');
  await call.chatStream(['Cupellation takes ', '**one working day** ', 'for each series [1].']);
  const answer = page.getByRole('region', { name: 'Answer text' });
  await answer.getByRole('button', { name: '[1]' }).first().click();
  const passage = page.getByRole('dialog', { name: 'Passage 1' });
  await expect(passage).toContainText('one working day');
  await passage.getByRole('button', { name: 'Open source' }).click();
  const text = page.getByRole('document', { name: 'Text of the source' });
  await expect(text.locator('mark').filter({ hasText: 'one working day for each series' })).toBeVisible();
  await expect(text).toContainText('Page 2');
}
