import { expect, type Page } from '@playwright/test';
import { addModel, type TourObjects } from '../window-tour.ts';
import { answerOf, newPrompt, run, type PictureState } from './steps.ts';

const model = '/playground/models/OpenAiCompatible/workshop%2Fkestrel-large';

const fewShot = `{{role "system"~}}
You assess damage claims for a bicycle shop. Look at the photo before you decide. Fill the schema; never promise a refund.
{{~role "user"~}}
The rim has a dent and the spokes are loose. I rode it twice.
{{~role "model"~}}
{"part": "rim", "cause": "impact", "covered": false, "next_step": "Offer a paid repair"}
{{~role "user"~}}
Claim, in {{language}}:
"""{{ticket.text}}"""`;

async function showForm(page: Page, form: 'Messages' | 'Template' | 'Rendered'): Promise<void> {
  await page.getByRole('radio', { name: form, exact: true }).click();
}

async function openMessages(page: Page): Promise<void> {
  await newPrompt(page, fewShot, { language: 'English', 'ticket.text': 'The fork crown cracked on the second ride.' });
  await showForm(page, 'Messages');
}

/** The messages of a prompt: as blocks, as text, rendered. */
const messageStates: readonly PictureState[] = [
  {
    name: 'play-messages',
    address: model,
    enter: async (page) => {
      await openMessages(page);
      await page.getByRole('textbox', { name: 'Message 4, User' }).click();
    },
  },
  {
    name: 'play-messages-menu',
    address: model,
    enter: async (page) => {
      await openMessages(page);
      await page.getByRole('button', { name: 'Text of Message 1, System' }).click();
      await page.getByRole('button', { name: 'Message 3, Assistant: role and actions' }).click();
    },
  },
  {
    name: 'play-messages-error',
    address: model,
    enter: async (page) => {
      await openMessages(page);
      await page.getByRole('textbox', { name: 'Message 4, User' }).click();
      await page.keyboard.insertText('{{#if late}} ');
      await expect(page.getByRole('list', { name: 'Template errors' })).toBeVisible();
    },
  },
  { name: 'play-messages-text', address: model, enter: (page) => newPrompt(page, fewShot) },
  {
    name: 'play-messages-nested',
    address: model,
    enter: (page) => newPrompt(page, '{{#each turns}}{{role "user"}}{{this}}{{/each}}'),
  },
  {
    name: 'play-messages-rendered',
    address: model,
    enter: async (page) => {
      await openMessages(page);
      await showForm(page, 'Rendered');
    },
    leave: (page) => showForm(page, 'Messages'),
  },
  {
    name: 'play-cache-break',
    address: model,
    enter: async (page) => {
      await newPrompt(page, `${'The handbook says what a claim has to name. '.repeat(110)}{{name}}, greet.`, {
        name: 'Ada',
      });
      await page.keyboard.press('Control+Enter');
      await expect(
        answerOf(page)
          .getByText(/Complete/)
          .first(),
      ).toBeVisible();
      await page.getByRole('region', { name: 'Variables' }).getByLabel('name', { exact: true }).fill('Mara');
      await showForm(page, 'Rendered');
      await page.getByText('The cache breaks here').scrollIntoViewIfNeeded();
    },
    leave: (page) => showForm(page, 'Template'),
  },
];

/** A prompt before, during and after its runs, alone and beside other models. */
export function runStates({ runId }: TourObjects): readonly PictureState[] {
  return [
    { name: 'play-new', address: model, enter: (page) => newPrompt(page, ' ') },
    {
      name: 'play-blocker',
      address: model,
      enter: async (page) => {
        await newPrompt(page, ' ');
        await page.keyboard.press('Control+Enter');
      },
    },
    {
      name: 'play-template-error',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Greet {{name}} {{#if late}} now.');
        await page.keyboard.press('Control+Enter');
      },
    },
    {
      name: 'play-warnings',
      address: model,
      enter: (page) =>
        newPrompt(
          page,
          'Greet {{customer}} of {{customer.city}}: {{#each orders}}{{id}}{{/each}} {{#if late}}late{{/if}} {{a_very_long_variable_name_that_someone_chose_for_a_reason}}',
          { customer: '{"city": "Bern"}', orders: 'not json' },
        ),
    },
    {
      name: 'play-rendered',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Greet {{name}} in {{language}}.', { name: 'Mara' });
        await page.keyboard.press('Control+Shift+P');
      },
      leave: (page) => page.keyboard.press('Control+Shift+P'),
    },
    {
      name: 'play-estimate',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Greet {{name}} in {{language}}.', { name: 'Mara', language: 'English' });
        await page.getByRole('button', { name: /^about \d+ tokens/ }).click();
      },
    },
    ...messageStates,
    {
      name: 'play-connecting',
      address: model,
      enter: (page) => run(page, 'This never begins', /Waiting|Connecting/),
      leave: (page) => page.keyboard.press('Escape'),
    },
    {
      name: 'play-streaming',
      address: model,
      enter: (page) => run(page, 'This never ends', /Streaming/),
      leave: (page) => page.keyboard.press('Escape'),
    },
    {
      name: 'play-stopped',
      address: model,
      enter: async (page) => {
        await run(page, 'This never ends', /Streaming/);
        await expect(answerOf(page).getByText(/The$/).first()).toBeVisible();
        await page.keyboard.press('Escape');
        await expect(answerOf(page).getByText(/Partial answer kept/)).toBeVisible();
      },
    },
    { name: 'play-broken-off', address: model, enter: (page) => run(page, 'This breaks off', /Failed/) },
    { name: 'play-429', address: model, enter: (page) => run(page, 'There are too many requests', /Failed/) },
    { name: 'play-401', address: model, enter: (page) => run(page, 'This has a wrong key', /Failed/) },
    { name: 'play-500', address: model, enter: (page) => run(page, 'There is server trouble', /Failed/) },
    {
      name: 'play-no-key',
      address: '/playground/models/OpenAi/gpt-6-luna',
      enter: async (page) => {
        await newPrompt(page, 'Hello');
        await page.keyboard.press('Control+Enter');
        await expect(
          answerOf(page)
            .getByText(/Failed/)
            .first(),
        ).toBeVisible();
      },
    },
    { name: 'play-length', address: model, enter: (page) => run(page, 'This is too long', /Complete/) },
    { name: 'play-nothing', address: model, enter: (page) => run(page, 'Please say nothing', /Complete/) },
    {
      name: 'play-reasoning',
      address: model,
      enter: async (page) => {
        await run(page, 'Please think first', /Complete/);
        await answerOf(page)
          .getByRole('button', { name: /Reasoning/ })
          .click();
      },
    },
    { name: 'play-long', address: model, enter: (page) => run(page, 'Give a long answer', /Complete/) },
    {
      name: 'play-rated',
      address: `/playground/runs/${runId}`,
      enter: async (page) => {
        await answerOf(page)
          .getByRole('radio', { name: '7' })
          .or(answerOf(page).getByRole('button', { name: '7' }))
          .first()
          .click();
      },
    },
    {
      name: 'play-compare-new',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Give a long answer');
        await addModel(page, 'kestrel-small');
      },
    },
    {
      name: 'play-compare',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Give a long answer. The small is busy.');
        await addModel(page, 'kestrel-small');
        await page.keyboard.press('Control+Enter');
        await expect(answerOf(page).getByText('Failed').first()).toBeVisible();
        await expect(
          answerOf(page)
            .getByText(/Complete/)
            .first(),
        ).toBeVisible();
      },
    },
    {
      name: 'play-compare-four',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Give a long answer. The small is busy.');
        for (const name of ['kestrel-small', 'kestrel-large', 'kestrel-large']) await addModel(page, name);
        await page.keyboard.press('Control+Enter');
        await expect(answerOf(page).getByText('Failed').first()).toBeVisible();
        await expect(answerOf(page).getByText(/Complete/)).toHaveCount(3);
      },
    },
    {
      name: 'play-compare-running',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'This never ends');
        for (const name of ['kestrel-small', 'kestrel-large']) await addModel(page, name);
        await page.keyboard.press('Control+Enter');
        await expect(answerOf(page).getByText('Streaming')).toHaveCount(3);
      },
      leave: (page) => page.keyboard.press('Escape'),
    },
  ];
}
