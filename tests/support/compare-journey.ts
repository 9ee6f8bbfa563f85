import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from './scripted-provider.ts';

export interface CompareJourney {
  readonly page: Page;
  /** A folder of this test alone. */
  readonly folder: string;
  readonly model: string;
  chooseModel(words: string): Promise<void>;
  writePrompt(text: string): Promise<void>;
  /** Makes something over HTTP or the window's port, and returns what the host answers. */
  create(path: string, body: object): Promise<{ id: string; latestVersionId: string }>;
  /** Called when the setup is complete. */
  checkSetup?(): Promise<void>;
}

/** As a spreadsheet in Europe saves it: with a byte order mark, semicolons and a line break inside quotes. */
const table = [
  '\u{feff}Title;ticket_text;expected',
  'Late;"The parcel is late.\nWho pays?";parcel',
  'Broken;"The frame is ""bent"".";frame',
  'Voucher;The voucher is rejected.;voucher',
  '',
].join('\r\n');

/** Answers that differ by variant, because equal ones are not voted on. */
export function answerTicket(call: ScriptedCall, models: readonly string[]): void {
  if (!call.path.endsWith('/chat/completions')) return call.models(models);
  void call.chatStream([`Dear customer, ${call.body['temperature'] === 0 ? 'we refund' : 'we resend'} the parcel.`]);
}

async function writeVariants({ page, model, chooseModel, writePrompt }: CompareJourney): Promise<void> {
  await writePrompt('Answer the customer: {{ticket.text}}');
  await chooseModel(model);
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog');
  await palette.getByRole('combobox').fill('Compare over rows');
  await palette.getByRole('option', { name: 'Compare over rows' }).click();
  const variants = page.getByRole('region', { name: 'Variants' });
  await expect(variants.getByRole('listitem')).toHaveCount(1);
  await variants.getByRole('button', { name: 'Add variant' }).click();
  await variants.getByRole('button', { name: 'Parameters of B: Default' }).click();
  await page.getByRole('textbox', { name: 'temperature' }).fill('0');
  await page.keyboard.press('Escape');
  await expect(variants.getByRole('button', { name: 'Parameters of B: temperature 0' })).toBeVisible();
}

async function chooseRows({ page, folder }: CompareJourney): Promise<void> {
  const file = join(folder, 'tickets.csv');
  writeFileSync(file, table);
  const inputs = page.getByRole('region', { name: 'Inputs' });
  await inputs.getByRole('button', { name: 'Import file' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import 3 rows' }).click();
  await expect(inputs).toContainText('3 rows, 3 columns');
  await expect(inputs.getByRole('cell', { name: 'The frame is "bent".' })).toBeVisible();
  await page.getByRole('button', { name: /^Start/ }).click();
  await expect(inputs).toContainText('No column for ticket.text');
  await inputs.getByRole('button', { name: 'Use ticket_text' }).click();
  await expect(inputs.getByText('No column for ticket.text')).toHaveCount(0);
  await inputs.getByRole('combobox', { name: 'Use of column Title' }).selectOption('title');
}

async function addChecks({ page }: CompareJourney): Promise<void> {
  const checks = page.getByRole('region', { name: 'Checks' });
  await checks.getByRole('button', { name: 'Add check' }).click();
  await page.getByRole('menuitem', { name: 'Contains' }).click();
  await expect(checks.getByRole('combobox', { name: 'Expected text: source' })).toHaveValue('column expected');
  await checks.getByRole('button', { name: 'Add check' }).click();
  await page.getByRole('menuitem', { name: 'Matches pattern' }).click();
  await checks.getByRole('textbox', { name: 'Pattern' }).fill('(');
  await expect(checks).toContainText('not a valid regular expression');
  await checks.getByRole('textbox', { name: 'Pattern' }).fill('customer');
  await expect(checks).not.toContainText('not a valid regular expression');
}

async function voteBlind({ page }: CompareJourney): Promise<void> {
  await page.getByRole('button', { name: 'Blind vote' }).click();
  await page.getByRole('textbox', { name: 'Question' }).fill('Which answer is kinder?');
  await page.getByRole('button', { name: 'Start voting' }).click();
  const main = page.getByRole('main');
  const firstAnswer = page.getByRole('region', { name: 'Text of answer 1' });
  for (let voted = 0; voted < 3; voted += 1) {
    await expect(main).toContainText(`${voted} of 3 pairs`);
    await expect(main).not.toContainText('temperature');
    await expect(firstAnswer).toContainText(/we (refund|resend)/);
    const isRefundFirst = (await firstAnswer.textContent())?.includes('we refund');
    await page.keyboard.press(isRefundFirst ? 'ArrowLeft' : 'ArrowRight');
  }
  await expect(main).toContainText('All pairs are voted on');
  await page.keyboard.press('Enter');
  await expect(main).toContainText('B won 3 of 3 decided pairs');
  await expect(main.getByRole('row', { name: /^B / })).toContainText('3');
  await page.getByRole('button', { name: 'Back to the results' }).click();
}

async function voteOnCell({ page }: CompareJourney): Promise<void> {
  await page.getByRole('gridcell', { name: 'we refund' }).first().click();
  const votes = page.getByRole('region', { name: 'Votes' });
  await expect(votes.getByRole('button', { name: 'Pass' })).toBeVisible();
  await page.keyboard.press('p');
  await expect(votes.getByRole('listitem')).toContainText('You');
  await page.reload();
  await page.getByRole('gridcell', { name: 'we refund' }).first().click();
  await expect(votes.getByRole('button', { name: 'Pass', pressed: true })).toBeVisible();
}

/** From a prompt and a spreadsheet to results: variants, import, columns, checks, start, votes. Ends at the results. */
export async function followCompareJourney(journey: CompareJourney): Promise<void> {
  const { page } = journey;
  await writeVariants(journey);
  await chooseRows(journey);
  await addChecks(journey);
  const estimate = page.getByRole('complementary', { name: 'Estimate' });
  await expect(estimate).toContainText('3 rows × 2 variants × 1');
  await journey.checkSetup?.();
  // Nothing of a setup that is not saved is lost.
  await page.reload();
  await expect(page.getByRole('button', { name: 'Parameters of B: temperature 0' })).toBeVisible();
  await page.getByRole('textbox', { name: 'Name of the comparison' }).fill('Warmer or colder');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved, not run yet')).toBeVisible();
  await page.getByRole('button', { name: 'Start 6 runs' }).click();
  await expect(page.getByRole('main')).toContainText('6 of 6 runs');
  await voteBlind(journey);
  await voteOnCell(journey);
}

const openScreen = (page: Page, address: string) => page.evaluate((hash) => void (location.hash = hash), address);

async function makeDatasetOfRuns({ page }: CompareJourney): Promise<string> {
  await openScreen(page, '/audit/rated=no');
  await page.getByRole('button', { name: 'More audit actions' }).click();
  await page.getByRole('menuitem', { name: 'Make a dataset' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make a dataset' });
  await dialog.getByRole('button', { name: 'Make a dataset' }).click();
  await expect(page).toHaveURL(/compare\/datasets\/[\da-f-]{36}$/);
  return page.url().split('/').at(-1)!;
}

/** From the recorded runs of an earlier comparison to a dataset, a comparison over it, and the label of its variant. */
export async function followLabelJourney(journey: CompareJourney): Promise<void> {
  const { page, create } = journey;
  const datasetId = await makeDatasetOfRuns(journey);
  const model = { aiSystem: 'OpenAiCompatible', model: `workshop/${journey.model}` };
  const prompt = await create('/prompts', { name: 'Parcel reply', promptText: 'Answer politely.', ...model });
  const variants = [{ name: 'A', promptVersionId: prompt.latestVersionId }];
  const { id } = await create('/comparisons', { name: 'Polite replies', datasetId, variants });
  await openScreen(page, `/compare/${id}`);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('main')).toContainText('6 of 6 runs');
  await page.getByRole('button', { name: 'Variant A' }).click();
  await page.getByRole('menuitem', { name: 'Make A production' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Make A production' }).click();
  await expect(page.getByText('"production" is now version 1 of "Parcel reply".', { exact: true })).toBeVisible();
  await openScreen(page, `/prompts/${prompt.id}`);
  await expect(page.getByRole('main')).toContainText('production');
}
