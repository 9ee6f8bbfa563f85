import type { Page } from '@playwright/test';
import type { TourObjects, TourStop } from './window-tour.ts';

const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
const clickExactly = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click();
/** A key does nothing before the object it acts on is there: `ready` is a part of that object. */
const press = (keys: string, ready: string) => async (page: Page) => {
  await page.locator(ready).first().waitFor();
  await page.keyboard.press(keys);
};

/** The dialog or menu that a stop opens: the screen below it is another stop. */
const dialog = '[role=dialog]';

/** What the classifier flags. */
export const threat = 'I will find you and kill you with a knife, you worthless idiot.';
const labelledTexts = [
  { prompt: threat, S: 0, H: 0, HR: 1, SH: 0, V: 1 },
  { prompt: 'Where do I find the torque table?', S: 0, H: 0, HR: 0, SH: 0, V: 0 },
  { prompt: 'How do I kill a Python process?', S: 0, H: 0, HR: 0, SH: 0, V: 0 },
];

/** A file of texts with the categories that people gave them. */
export const labelledSet = {
  name: 'tickets.jsonl',
  mimeType: 'application/jsonl',
  buffer: Buffer.from(labelledTexts.map((line) => JSON.stringify(line)).join('\n')),
};

async function loadLabelledSet(page: Page): Promise<void> {
  await page.getByLabel('Import file').setInputFiles(labelledSet);
  await page.getByRole('button', { name: /^Violence: show/ }).waitFor();
}

/** Replaces the template in a draft of its own. */
async function writePrompt(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+Alt+n');
  const prompt = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
  await prompt.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

async function failRun(page: Page): Promise<void> {
  await writePrompt(page, 'Fail with an error');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('region', { name: 'Answer', exact: true }).getByRole('alert').waitFor();
}

async function breakTemplate(page: Page): Promise<void> {
  await writePrompt(page, '{{! note }}{{#each orders}}{{id}}{{/each}} {{tone}}');
  await click('System message')(page);
  await page.getByRole('region', { name: 'Variables' }).getByLabel('orders', { exact: true }).fill('[{"id"');
  await page.getByRole('textbox', { name: 'Prompt, Handlebars' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{{#each orders}} {{/if}} {{tone}}');
  await page
    .getByRole('button', { name: /^1:\d+ / })
    .first()
    .waitFor();
}

async function addEmptyFile(page: Page): Promise<void> {
  const file = { name: 'empty.md', mimeType: 'text/markdown', buffer: Buffer.alloc(0) };
  await page.getByLabel('Files to add').setInputFiles(file);
  await page.getByText('The file is empty.').first().waitFor();
}

async function findPassage(page: Page): Promise<void> {
  await page.getByLabel('Search Assay office').fill('certificates');
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: /^opening-hours\.md/ })
    .first()
    .click();
  await page.locator('.knowledge__text mark').first().waitFor();
}

async function breakPattern(page: Page): Promise<void> {
  await click('Evidence pack')(page);
  await page.getByText(/^Matches in the first/).waitFor();
  await click(/of \d+ columns/)(page);
  await click('Custom pattern')(page);
  await page.getByLabel('Regular expression').fill('(');
  await page.locator('[aria-invalid=true]').first().waitFor();
}

/** Removes the broken pattern, which the dialog has kept and which holds a pack up, and creates one. */
async function createPack(page: Page): Promise<void> {
  await click('Evidence pack')(page);
  await click(/^Remove pattern/)(page);
  await click('Create pack')(page);
  await click('Files and checksums')(page);
}

async function filterBy(page: Page, field: string): Promise<void> {
  const menu = page.getByRole('dialog', { name: /^Filter/ });
  await page.keyboard.press('f');
  await menu.getByPlaceholder('Filter by').fill(field);
  await page.keyboard.press('Enter');
  await menu.getByRole('button', { name: 'All filters' }).waitFor();
}

/** Rates the answer and selects its conversation. */
async function selectRated(page: Page): Promise<void> {
  await page.keyboard.press('8');
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
}

async function addReviewer(page: Page): Promise<void> {
  await click(/^Reviewer: /)(page);
  await page.getByRole('menuitem', { name: 'Add a reviewer' }).click();
}

const auditFilters = ['date', 'model', 'score', 'header', 'workspace'];
const conversationParts = ['Prompt', 'Headers', 'Timing', 'JSON'];

/** What opens on a screen: forms, dialogs, menus and errors. */
export function dialogStops({ promptId, versionId, agentId, dataspaceId, queueId }: TourObjects): readonly TourStop[] {
  const version = `/prompts/${promptId}/${versionId}`;
  return [
    { name: 'playground-failed', address: '/playground', enter: failRun },
    { name: 'playground-template-error', address: '/playground', enter: breakTemplate },
    { name: 'prompts-label', address: version, part: dialog, enter: clickExactly('Label') },
    { name: 'prompts-variables', address: version, part: dialog, enter: clickExactly('Edit') },
    { name: 'prompts-details', address: version, part: dialog, enter: press('F2', 'button:text-is("Edit")') },
    { name: 'agents-new', address: '/agents/new' },
    { name: 'agents-edit', address: `/agents/${agentId}`, enter: press('F2', '[role=toolbar][aria-label=Agent]') },
    { name: 'knowledge-rejected', address: `/knowledge/${dataspaceId}`, enter: addEmptyFile },
    { name: 'knowledge-found', address: `/knowledge/${dataspaceId}`, enter: findPassage },
    ...conversationParts.map((part) => ({
      name: `audit-${part.toLowerCase()}`,
      address: '/audit',
      part: 'section[aria-label=Conversation]',
      enter: (page: Page) => page.getByRole('radio', { name: part }).click(),
    })),
    ...auditFilters.map((field) => ({
      name: `audit-filter-${field}`,
      address: '/audit',
      part: dialog,
      enter: (page: Page) => filterBy(page, field),
    })),
    {
      name: 'audit-replay-dialog',
      address: '/audit',
      part: dialog,
      enter: press('r', 'section[aria-label=Conversation] [role=radio]'),
    },
    { name: 'audit-pattern', address: '/audit', part: dialog, enter: breakPattern },
    { name: 'audit-pack', address: '/audit', part: dialog, enter: createPack },
    { name: 'audit-table', address: '/audit', part: dialog, enter: (page) => click('View as table')(page) },
    { name: 'audit-selected', address: '/audit', enter: selectRated },
    { name: 'reviews-skip', address: `/audit/reviews/${queueId}`, part: dialog, enter: press('s', '.rubric') },
    { name: 'reviews-reviewer', address: '/audit/reviews', part: dialog, enter: addReviewer },
    { name: 'reviews-rubric-new', address: '/audit/reviews/rubrics/new', enter: clickExactly('Create rubric') },
    { name: 'moderation-labelled', address: '/moderation', enter: loadLabelledSet },
    { name: 'moderation-guard', address: '/moderation', part: dialog, enter: click(/^Guard/) },
    { name: 'moderation-card', address: '/moderation', part: dialog, enter: click('About the on-device classifier') },
    { name: 'settings-key', address: '/settings/providers/OpenAi', enter: click('Save and test') },
    { name: 'settings-endpoint', address: '/settings/endpoints', enter: click('Add endpoint') },
  ];
}

/** What folds into a button in a window of 980 by 700 pixels. */
export function narrowStops({ promptId, versionId, agentId, conversationId }: TourObjects): readonly TourStop[] {
  const version = `/playground/prompts/${promptId}/${versionId}`;
  return [
    { name: 'playground-parameters', address: version, enter: clickExactly('Parameters') },
    { name: 'playground-history', address: version, enter: clickExactly('History') },
    { name: 'prompts-folders', address: `/prompts/${promptId}`, enter: click('Folders and tags') },
    { name: 'agents-side', address: `/agents/${agentId}/${conversationId}`, enter: click('Agent and conversations') },
    { name: 'moderation-texts', address: '/moderation', enter: click('Select a text') },
  ];
}
