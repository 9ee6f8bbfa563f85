import { expect, type Page } from '@playwright/test';
import { openWire, type TourObjects } from '../window-tour.ts';
import { answerOf, broken, held, newPrompt, run, type PictureState } from './steps.ts';

const model = '/playground/models/OpenAiCompatible/workshop%2Fkestrel-large';

const closeWire = (page: Page): Promise<void> => page.keyboard.press('Control+j');

/** What opens beside a prompt: wire, parameters, model picker, dialogs, grounding and history. */
export function playgroundStates({ runId, promptId, versionId, dataspaceId }: TourObjects): readonly PictureState[] {
  return [
    {
      name: 'play-wire',
      address: model,
      enter: async (page) => {
        await openWire(page);
        await run(page, 'Give a long answer', /Complete/);
      },
      leave: closeWire,
    },
    {
      name: 'play-wire-provider',
      address: model,
      enter: async (page) => {
        await openWire(page);
        await page.getByRole('radio', { name: 'Provider' }).click();
        await run(page, 'Give a long answer', /Complete/);
      },
      leave: closeWire,
    },
    {
      name: 'play-wire-history',
      address: `/playground/runs/${runId}`,
      enter: async (page) => {
        await openWire(page);
        await page.getByRole('radio', { name: 'Request' }).click();
      },
      leave: closeWire,
    },
    {
      name: 'play-wire-new',
      address: model,
      enter: async (page) => {
        await openWire(page);
        await newPrompt(page, 'Hello');
      },
      leave: closeWire,
    },
    {
      name: 'play-wire-copy',
      address: model,
      enter: async (page) => {
        await openWire(page);
        await page.getByRole('button', { name: 'Code language' }).click();
      },
      leave: closeWire,
    },
    {
      name: 'play-history-all',
      address: `/playground/runs/${runId}`,
      enter: async (page) => {
        await page.getByRole('region', { name: 'History' }).getByRole('radio', { name: 'All' }).click();
      },
      leave: async (page) => {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.getByRole('region', { name: 'History' }).getByRole('radio', { name: 'This prompt' }).click();
      },
    },
    {
      name: 'play-schema',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'List the days.');
        await page.getByRole('combobox', { name: 'response_format' }).click();
        await page.getByRole('option', { name: 'json_schema' }).click();
        await page.getByRole('button', { name: 'Edit JSON schema in a large editor' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'play-parameters-bad',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'List the days.');
        await page.getByLabel('temperature', { exact: true }).fill('7');
        await page.getByLabel('max_tokens', { exact: true }).fill('many');
      },
    },
    ...Object.entries({ none: 'zebra-9', service: 'built-in', device: 'on-device', claude: 'claude' }).map(
      ([name, words]) => ({
        name: `play-picker-${name}`,
        address: model,
        enter: async (page: Page) => {
          await page.keyboard.press('Control+l');
          await page.keyboard.insertText(words);
        },
      }),
    ),
    {
      name: 'play-menu',
      address: model,
      enter: async (page) => {
        await page.locator('.prompt-name').click();
      },
    },
    {
      name: 'play-rename',
      address: model,
      enter: async (page) => {
        await page.keyboard.press('F2');
      },
    },
    {
      name: 'play-save-new',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'Greet {{name}} in {{language}}, as {{role}}.');
        await page.keyboard.press('Control+s');
        await page.getByRole('dialog').locator('summary').click();
      },
    },
    {
      name: 'play-save-version',
      address: `/playground/prompts/${promptId}/${versionId}`,
      enter: async (page) => {
        await page.getByRole('textbox', { name: 'Prompt, Handlebars' }).click();
        await page.keyboard.insertText('Be brief. ');
        await page.keyboard.press('Control+s');
      },
    },
    {
      name: 'play-grounded',
      address: model,
      enter: async (page) => {
        await newPrompt(page, 'When are pieces taken in?');
        await page.evaluate((id) => (location.hash = `/knowledge/${id}`), dataspaceId);
        await page.getByRole('option', { name: /^Assay office/, selected: true }).waitFor();
        await page.keyboard.press('Control+k');
        await page.keyboard.insertText('Use dataspace in playground');
        await page.getByRole('option', { name: /^Use dataspace in playground/ }).waitFor();
        await page.keyboard.press('Enter');
        const editor = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
        await editor.waitFor();
        await page.evaluate((address) => (location.hash = address), model);
        await page.getByRole('button', { name: /workshop\/kestrel-large/ }).waitFor();
        await editor.click();
        await page.keyboard.insertText('When are pieces taken in?');
        await page.keyboard.press('Control+Enter');
        await expect(
          answerOf(page)
            .getByText(/Complete/)
            .first(),
        ).toBeVisible();
      },
    },
    {
      name: 'play-grounded-sent',
      address: model,
      enter: async (page) => {
        await page.getByRole('button', { name: 'Preview final prompt' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    { name: 'play-history-error', address: `/playground/runs/${runId}`, ...broken(/\/window\/runs/) },
    { name: 'play-history-loading', address: '/playground', ...held(/\/window\/runs/) },
    {
      name: 'play-models-loading',
      address: '/playground',
      isLoading: true,
      enter: async (page) => {
        await held(/\/window\/models|\/models/).enter(page);
        await page.keyboard.press('Control+l');
      },
      leave: held(/\/window\/models|\/models/).leave,
    },
  ];
}
