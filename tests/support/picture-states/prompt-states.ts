import { type Page } from '@playwright/test';
import { settled, type TourObjects } from '../window-tour.ts';
import { broken, callHost, held, kestrel, type PictureState } from './steps.ts';

const text = `You answer customers of a bicycle workshop.

Customer: {{name}}
Question: {{question}}

Answer in two sentences.`;

/** A prompt with everything that a version may have, and more prompts around it. */
async function fillLibrary(page: Page): Promise<{ promptId: string; oldId: string; newId: string }> {
  const variables = [
    { name: 'name', sampleValue: 'Mara Lindqvist', description: 'As she signs' },
    { name: 'question', defaultValue: 'When is my bicycle ready?' },
  ];
  const prompt = await callHost(page, 'POST', '/prompts', {
    name: 'Workshop reply with a rather long name that nobody shortened before it was saved',
    folder: 'support/mail/customers of the workshop in town',
    tags: ['mail', 'english', 'reviewed'],
    description: 'First answer to a mail that came in, before anybody from the workshop has seen the bicycle',
    promptText: text,
    systemMessage: 'You are friendly and brief.',
    ...kestrel,
    configuration: { temperature: 0.2 },
    variables,
    note: 'As it went live',
  });
  const second = await callHost(page, 'POST', `/prompts/${prompt['id']}/versions`, {
    promptText: text.replace('two sentences', 'three short sentences').replace('Question:', 'They ask:'),
    systemMessage: 'You are friendly, brief and exact.',
    ...kestrel,
    configuration: { temperature: 0.7, max_tokens: 200, stop: ['END'] },
    variables: variables.slice(0, 1),
    note: 'Warmer, after the complaints of October, and with the name of the person in the first line',
  });
  await callHost(page, 'POST', `/prompts/${prompt['id']}/versions`, {
    promptText: text.replace('two sentences', 'one sentence'),
    aiSystem: 'OpenAi',
    model: 'gpt-4.1-mini',
    note: 'Cheaper',
  });
  for (const [index, name] of [
    'Summarise a thread',
    'Translate',
    'Extract the order number',
    'Classify a ticket',
    'Refund decision',
  ].entries())
    await callHost(page, 'POST', '/prompts', {
      name,
      folder: index % 2 ? 'support' : null,
      tags: index % 2 ? ['mail'] : ['short', 'json'],
      promptText: `${name}: {{text}}`,
      ...kestrel,
    });
  await callHost(page, 'POST', '/prompts', {
    name: 'Orders',
    promptText: '{{#each orders}}{{id}} {{item}}{{/each}} for {{customer.name}}',
    ...kestrel,
  });
  await callHost(page, 'POST', '/prompts', { name: 'Fixed text', promptText: 'Name three birds.', ...kestrel });
  return { promptId: prompt['id']!, oldId: prompt['latestVersionId']!, newId: second['id']! };
}

let library: Promise<{ promptId: string; oldId: string; newId: string }> | null = null;

const greeting =
  '---\nname: greeting\nmodel: openai/gpt-6-luna\nunknownKey: 1\nconfig:\n  temperature: 9\n---\nGreet {{name}} {{@state.x}}.\n';

export function promptStates({ promptId }: TourObjects): readonly PictureState[] {
  const open = (rest: (ids: { promptId: string; oldId: string; newId: string }) => string) => async (page: Page) => {
    const isNew = library === null;
    library ??= fillLibrary(page);
    const ids = await library;
    // The window learns at its next load what was made without it.
    if (isNew) await page.reload();
    await page.evaluate((hash) => (location.hash = hash), rest(ids));
    await settled(page);
  };
  const version = open((ids) => `/prompts/${ids.promptId}/${ids.newId}`);
  const find = async (page: Page, name: string) => {
    await page.getByLabel('Search prompts').fill(name);
    await page
      .getByRole('listbox', { name: /^Prompts/ })
      .getByRole('option')
      .first()
      .click();
  };
  const runView = async (page: Page, name: string) => {
    await page.reload();
    await find(page, name);
    await page.getByRole('radio', { name: 'Run', exact: true }).click();
  };
  const clear = (page: Page) => page.getByLabel('Search prompts').fill('');
  const menu = (item: string) => async (page: Page) => {
    await version(page);
    await page.getByRole('button', { name: /^More for Workshop/ }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
  const importing = async (page: Page) => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Import prompts' }).click();
    await page.getByRole('dialog').waitFor();
  };
  const chooseFiles = async (page: Page, contents: Record<string, string>) => {
    await importing(page);
    const files = Object.entries(contents).map(([name, content]) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(content),
    }));
    await page.getByRole('dialog').getByLabel('Files').setInputFiles(files);
  };
  return [
    { name: 'prompts-none-selected', address: '/prompts', enter: open(() => '/prompts') },
    { name: 'prompts-latest', address: '/prompts', enter: open((ids) => `/prompts/${ids.promptId}`) },
    { name: 'prompts-version', address: '/prompts', enter: version },
    {
      name: 'prompts-label',
      address: '/prompts',
      enter: async (page) => {
        await version(page);
        await page.getByRole('button', { name: 'Label', exact: true }).click();
        await page.getByRole('dialog').getByLabel('Label').fill('production');
      },
    },
    {
      name: 'prompts-labelled',
      address: '/prompts',
      enter: async (page) => {
        await version(page);
        await page.getByRole('button', { name: 'Label', exact: true }).click();
        await page.getByRole('dialog').getByLabel('Label').fill('production');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Remove label production' }).waitFor();
      },
    },
    {
      name: 'prompts-menu',
      address: '/prompts',
      enter: async (page) => {
        await version(page);
        await page.getByRole('button', { name: /^More for Workshop/ }).click();
      },
    },
    { name: 'prompts-rename', address: '/prompts', enter: menu('Rename') },
    { name: 'prompts-label-history', address: '/prompts', enter: menu('Label history') },
    {
      name: 'prompts-variables',
      address: '/prompts',
      enter: async (page) => {
        await version(page);
        await page.getByRole('region', { name: 'Variables' }).getByRole('button', { name: 'Edit' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'prompts-diff',
      address: '/prompts',
      enter: open((ids) => `/prompts/${ids.promptId}/compare/${ids.oldId}/${ids.newId}`),
    },
    {
      name: 'prompts-diff-unified',
      address: '/prompts',
      enter: async (page) => {
        await open((ids) => `/prompts/${ids.promptId}/compare/${ids.oldId}/${ids.newId}`)(page);
        await page.getByRole('radio', { name: 'Unified' }).click();
      },
      leave: async (page) => {
        await page.getByRole('radio', { name: 'Split' }).click();
      },
    },
    {
      name: 'prompts-diff-same',
      address: '/prompts',
      enter: open((ids) => `/prompts/${ids.promptId}/compare/${ids.oldId}/${ids.oldId}`),
    },
    {
      name: 'prompts-search-none',
      address: '/prompts',
      enter: (page) => page.getByLabel('Search prompts').fill('zebra'),
      leave: clear,
    },
    {
      name: 'prompts-run-json',
      address: '/prompts',
      enter: async (page) => {
        await runView(page, 'Orders');
        await page.getByRole('textbox', { name: 'orders JSON' }).fill('nope');
      },
      leave: clear,
    },
    { name: 'prompts-run-fixed', address: '/prompts', enter: (page) => runView(page, 'Fixed text'), leave: clear },
    {
      name: 'prompts-run-answer',
      address: '/prompts',
      enter: async (page) => {
        await runView(page, 'Translate');
        await page.getByLabel('text').fill('Give a long answer');
        await page.keyboard.press('Control+Enter');
        await page.getByRole('link', { name: 'Open in audit' }).waitFor();
      },
      leave: clear,
    },
    {
      name: 'prompts-run-running',
      address: '/prompts',
      enter: async (page) => {
        await runView(page, 'Translate');
        await page.getByLabel('text').fill('This never begins');
        await page.keyboard.press('Control+Enter');
        await page.getByText('The answer appears when').waitFor();
      },
      leave: async (page) => {
        await page.keyboard.press('Escape');
        await clear(page);
      },
    },
    {
      name: 'prompts-run-failed',
      address: '/prompts',
      enter: async (page) => {
        await runView(page, 'Translate');
        await page.getByLabel('text').fill('There are too many requests');
        await page.keyboard.press('Control+Enter');
        await page.getByText('Run failed').waitFor();
      },
      leave: clear,
    },
    {
      name: 'prompts-unsaved',
      address: '/prompts',
      enter: async (page) => {
        await version(page);
        await page.getByRole('button', { name: /^Open/ }).click();
        const editor = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
        await editor.waitFor();
        await editor.click();
        await page.keyboard.insertText('Be brief. ');
        await page.getByText('Edited', { exact: true }).waitFor();
        await version(page);
      },
    },
    {
      name: 'prompts-deleted',
      address: '/prompts',
      enter: async (page) => {
        await find(page, 'Refund decision');
        await page.keyboard.press('Escape');
        await page
          .getByRole('listbox', { name: /^Prompts/ })
          .getByRole('option')
          .first()
          .focus()
          .catch(() => {});
        await page.keyboard.press('Delete');
      },
      leave: async (page) => {
        await page
          .getByRole('button', { name: 'Undo' })
          .click()
          .catch(() => {});
        await clear(page);
      },
    },
    { name: 'prompts-not-found', address: '/prompts/00000000-0000-4000-8000-000000000000' },
    {
      name: 'prompts-version-not-found',
      address: '/prompts',
      enter: open((ids) => `/prompts/${ids.promptId}/00000000-0000-4000-8000-000000000000`),
    },
    { name: 'prompts-import', address: `/prompts/${promptId}`, enter: importing },
    {
      name: 'prompts-import-files',
      address: `/prompts/${promptId}`,
      enter: async (page) => {
        await chooseFiles(page, {
          'greeting.prompt': greeting,
        });
      },
    },
    {
      name: 'prompts-import-preview',
      address: `/prompts/${promptId}`,
      enter: async (page) => {
        await chooseFiles(page, {
          'greeting.prompt': greeting,
          'broken.prompt': '---\nname: [\n---\nGreet {{#if name}}.\n',
          'promptfooconfig.yaml':
            'prompts:\n  - file://missing.txt\n  - "Answer {{question}}"\nproviders:\n  - openai:gpt-6-luna\ntests:\n  - vars:\n      question: Why?\n',
          'picture.png': '\x89PNG\r\n\x1a\n\0\0',
          'prompts.csv': 'prompt\n"Say {{word}}"\n"Spell {{word}}"\n',
        });
        await page.getByRole('button', { name: 'Preview import' }).click();
        await page.getByRole('region', { name: 'Import preview' }).waitFor();
      },
    },
    {
      name: 'prompts-import-nothing',
      address: `/prompts/${promptId}`,
      enter: async (page) => {
        await chooseFiles(page, { 'picture.png': '\x89PNG\r\n\x1a\n\0\0' });
        await page.getByRole('button', { name: 'Preview import' }).click();
        await page.getByRole('region', { name: 'Import preview' }).waitFor();
      },
    },
    {
      name: 'prompts-export',
      address: `/prompts/${promptId}`,
      enter: async (page) => {
        await page.getByRole('button', { name: 'Export prompts' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'prompts-folders',
      address: `/prompts/${promptId}`,
      enter: async (page) => {
        await page.keyboard.press('Control+k');
        await page.keyboard.insertText('Linked folders');
        await page.keyboard.press('Enter');
        await page.getByRole('dialog', { name: 'Linked folders' }).waitFor();
      },
    },
    { name: 'prompts-error', address: '/prompts', ...broken(/\/prompts\?|\/window\/prompt/) },
    { name: 'prompts-loading', address: '/prompts', ...held(/\/prompts\?|\/window\/prompt/) },
  ];
}
