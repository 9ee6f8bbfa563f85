import { expect } from '@playwright/test';
import { addModel, type TourObjects } from '../window-tour.ts';
import { answerOf, newPrompt, run, type PictureState } from './steps.ts';

const model = '/playground/models/OpenAiCompatible/workshop%2Fkestrel-large';

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
