import type { Page } from '@playwright/test';
import { expect, kestrel, test, type Library } from './prompts-window.ts';
import { followLibraryJourney } from '../../support/library-journey.ts';
import { fetchInPage } from '../../support/served-window.ts';
import { typeInto } from './type-into.ts';

const firstText = `You answer customers of a bicycle workshop.

Customer: {{name}}
Question: {{question}}

Answer in two sentences.`;

const secondText = firstText.replace('two sentences', 'three short sentences').replace('Question:', 'They ask:');

const versions = (page: Page) => page.getByRole('listbox', { name: /^Versions/ });

async function twoVersions(library: Library) {
  const prompt = await library.prompt({
    name: 'Workshop reply',
    folder: 'support/mail',
    tags: ['mail', 'english'],
    description: 'First answer to a mail that came in',
    promptText: firstText,
    ...kestrel,
    configuration: { temperature: 0.2 },
    variables: [{ name: 'name', sampleValue: 'Mara Lindqvist', description: 'As she signs' }, { name: 'question' }],
    note: 'As it went live',
  });
  const second = await library.version(prompt.id, {
    promptText: secondText,
    ...kestrel,
    configuration: { temperature: 0.7, max_tokens: 200 },
    variables: [{ name: 'name', sampleValue: 'Mara Lindqvist', description: 'As she signs' }, { name: 'question' }],
    note: 'Warmer',
  });
  return { prompt, second };
}

test('saves, edits, saves again and compares a draft, and restores the older version', async ({
  page,
  playground,
  pageProblems,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Greet {{name}}');
  await playground.variable('name').fill('Mara');
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Save to library' });
  await dialog.getByLabel('Name', { exact: true }).fill('Greeting');
  await dialog.getByLabel('Folder').fill('support');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'Version 1 in the library' })).toBeVisible();
  await expect(page.getByText('Edited', { exact: true })).toBeHidden();

  await playground.writePrompt('Greet {{name}} warmly');
  await expect(page.getByText('Edited', { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText('Edited', { exact: true })).toBeVisible();
  await page.keyboard.press('Control+s');
  await page.getByRole('dialog', { name: 'Save "Greeting"' }).getByLabel('Note').fill('Warmer');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Version 2 in the library' }).click();

  await expect(page.getByRole('heading', { name: 'Greeting' })).toBeVisible();
  await page.getByRole('radio', { name: 'Compare' }).click();
  const compared = page.getByRole('table', { name: 'Prompt' });
  await expect(compared.locator('ins')).toHaveText(' warmly');
  await versions(page)
    .getByRole('option', { name: /^Version 1/ })
    .click();
  await page.getByRole('radio', { name: 'Version', exact: true }).click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('Restored version 1 as version 3.', { exact: true })).toBeVisible();
  await expect(versions(page).getByRole('option', { name: /^Version 3/ })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('region', { name: 'Version 3' }).getByText('Greet {{name}}')).toBeVisible();
  expect(pageProblems).toEqual([]);
});

test('finds a prompt by its text; Undo restores a deleted one, otherwise it is deleted', async ({ page, library }) => {
  const { prompt } = await twoVersions(library);
  await library.prompt({ name: 'Invoice reader', promptText: 'Read {{invoice}}', tags: ['finance'] });
  await library.open('/prompts');
  const list = page.getByRole('listbox', { name: /^Prompts/ });
  await expect(list.getByRole('option')).toHaveCount(2);
  const reply = list.getByRole('option', { name: /Workshop reply/ });
  await page.keyboard.press('/');
  await typeInto(page.getByLabel('Search prompts'), 'bicycle');
  await expect(list.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(list.getByRole('option')).toHaveCount(2);
  await page
    .getByRole('button', { name: /^mail 1/ })
    .last()
    .click();
  await expect(list.getByRole('option')).toHaveText([/Workshop reply/]);

  await reply.click();
  await page.getByRole('button', { name: 'More for Workshop reply' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(reply).toHaveCount(0);
  expect(await library.status(`/prompts/${prompt.id}`)).toBe(200);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('heading', { name: 'Workshop reply' })).toBeVisible();

  await expect(reply).toHaveCount(1);
  await page.keyboard.press('Delete');
  await expect(reply).toHaveCount(0);
  await page.getByRole('button', { name: 'Dismiss' }).last().click();
  await expect.poll(() => library.status(`/prompts/${prompt.id}`)).toBe(404);
});

test('runs a version as an API call does, and finds the run in the audit by its version', async ({
  page,
  library,
  nextRun,
}) => {
  const { prompt, second } = await twoVersions(library);
  await library.open(`/prompts/${prompt.id}/run/${second.id}`);
  await page.getByLabel('question').fill('Are you open today?');
  const call = nextRun();
  await page.keyboard.press('Control+Enter');
  const run = await call;
  expect(JSON.stringify(run.body['messages'])).toContain('They ask: Are you open today?');
  run.chatAnswer({ content: 'Yes, **until six**.' });
  await expect(page.getByRole('region', { name: 'Answer' }).locator('strong')).toHaveText('until six');
  await page.getByRole('radio', { name: 'Version', exact: true }).click();
  await page.getByRole('link', { name: '1 run in the audit' }).click();
  await expect(page).toHaveURL(new RegExp(`prompt-version=${second.id}`));
  await expect(page.getByText('until six').first()).toBeVisible();
});

test('a version opens in the playground with its samples and settings, and the palette finds the prompt', async ({
  page,
  playground,
  library,
}) => {
  await twoVersions(library);
  await library.open('/playground');
  await page.keyboard.press('Control+k');
  await typeInto(page.getByPlaceholder('Search or run a command'), 'workshop reply');
  await page.getByRole('option', { name: /Workshop reply/ }).click();
  await expect(page).toHaveURL(/#\/prompts\//);
  await versions(page)
    .getByRole('option', { name: /^Version 1/ })
    .click();
  await expect(page.getByRole('region', { name: 'Version 1' })).toBeVisible();
  await page.keyboard.press('o');
  await expect(playground.prompt).toContainText('Answer in two sentences.');
  await expect(playground.variable('name')).toHaveValue('Mara Lindqvist');
  await expect(page.getByRole('link', { name: 'Version 1 in the library' })).toBeVisible();
});

test('marks a model that will be shut down, and tries its replacement with one click', async ({
  page,
  playground,
  library,
}) => {
  const ending = { aiSystem: 'OpenAi', model: 'gpt-4.1' } as const;
  const prompt = await library.prompt({ name: 'Refund decision', promptText: 'Decide {{case}}', ...ending });
  await library.open(`/prompts/${prompt.id}`);
  await expect(page.getByRole('option', { name: /Refund decision .*Retires 14 Jan 2027/ })).toBeVisible();
  await page.getByRole('link', { name: 'Try gpt-6-luna' }).click();
  await expect(playground.prompt).toContainText('Decide {{case}}');
  await expect(page.getByRole('button', { name: /gpt-6-luna/ })).toBeVisible();
  await expect(page.getByText('Edited', { exact: true })).toBeVisible();
});

test('imports, edits, compares and labels a folder, runs it over HTTP, and finds the run by its version', async ({
  page,
  served,
  playground,
  nextRun,
  request,
  pageProblems,
}, testInfo) => {
  const issued = await fetchInPage(page, 'POST', '/window/api-keys', { name: 'nightly' });
  const { key } = JSON.parse(issued.text) as { key: string };
  await followLibraryJourney({
    page,
    folder: testInfo.outputPath(),
    model: 'kestrel-large',
    writePrompt: (text) => playground.writePrompt(text),
    chooseModel: (words) => playground.chooseModel(words),
    nextRun,
    runByHttp: async (data) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await request.post(`${served.address}/prompts/run`, { headers, data })).json();
    },
  });
  expect(pageProblems).toEqual([]);
});
