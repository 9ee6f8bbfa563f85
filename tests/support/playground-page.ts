import type { Locator, Page } from '@playwright/test';

/** The playground as a person uses it. */
export interface PlaygroundPage {
  readonly answer: Locator;
  readonly answerState: Locator;
  readonly history: Locator;
  readonly prompt: Locator;
  variable(name: string): Locator;
  chooseModel(name: string): Promise<void>;
  writePrompt(text: string): Promise<void>;
  run(): Promise<void>;
  stop(): Promise<void>;
}

export function playgroundPage(page: Page): PlaygroundPage {
  const answerPanel = page.getByRole('region', { name: 'Answer', exact: true });
  const prompt = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
  return {
    answer: page.getByRole('region', { name: 'Answer text' }),
    answerState: answerPanel.getByRole('status'),
    history: page.getByRole('region', { name: 'History' }),
    prompt,
    variable: (name) => page.getByRole('region', { name: 'Variables' }).getByRole('textbox', { name, exact: true }),
    async chooseModel(name) {
      await page.keyboard.press('Control+l');
      await page.getByLabel('Search models').fill(name);
      await page.getByRole('option', { name }).first().click();
    },
    async writePrompt(text) {
      await prompt.fill(text);
    },
    async run() {
      await page.getByRole('button', { name: /^Run/ }).first().click();
    },
    async stop() {
      await page.getByRole('button', { name: 'Stop' }).click();
    },
  };
}

/** Sets a provider's key on the settings screen, waits until it was tested, and goes back to the playground. */
export async function setProviderKey(page: Page, provider: string, key: string): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click();
  const row = page.getByRole('group', { name: provider, exact: true });
  await row.getByRole('button', { name: 'Add key' }).click();
  await row.getByLabel(`API key of ${provider}`).fill(key);
  await row.getByRole('button', { name: 'Save and test' }).click();
  await row.getByText('Key set').waitFor();
  await page.getByRole('link', { name: 'Playground' }).click();
}
