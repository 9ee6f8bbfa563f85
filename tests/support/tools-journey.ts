import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from './scripted-provider.ts';

export interface ToolsJourney {
  readonly page: Page;
  readonly model: string;
  chooseModel(words: string): Promise<void>;
  writePrompt(text: string): Promise<void>;
  nextRun(): Promise<ScriptedCall>;
}

/** Adds two tools in the editor, as a person who fills in its form. */
async function addTools(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Tools', exact: true }).getByRole('button', { name: 'Add tool' }).click();
  const list = page.getByRole('navigation', { name: 'Tools' });
  for (const name of ['weather', 'clock']) {
    await list.getByRole('button', { name: 'Add tool' }).click();
    const editor = page.getByRole('region', { name: 'Unnamed tool' });
    const form = editor.getByRole('group', { name: 'Form' });
    for (const parameter of ['city', 'days']) {
      await form.getByRole('button', { name: 'Add', exact: true }).click();
      const field = form.getByRole('listitem', { name: 'parameter' }).getByRole('textbox', { name: 'Name' });
      await field.fill(parameter);
      await field.blur();
    }
    await form.getByRole('combobox', { name: 'Type of days' }).selectOption('integer');
    await editor.getByRole('textbox', { name: 'Name', exact: true }).first().fill(name);
  }
  await page.getByRole('button', { name: /^Done/ }).click();
}

/** A lookup for the weather, from a file with a row that has no meaning, and a fixed error for the clock. */
async function addMocks(page: Page): Promise<void> {
  await page
    .getByRole('region', { name: 'Tools', exact: true })
    .getByRole('button', { name: 'weather', exact: true })
    .click();
  const source = page.getByRole('region', { name: 'Result source' });
  await source.getByRole('radio', { name: 'Lookup' }).click();
  await source.getByLabel('File with rows of the lookup').setInputFiles({
    name: 'weather.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('city,days,result\nParis,2,wind\nParis,,rain\nRome,many,sun\n'),
  });
  const report = page.getByRole('dialog', { name: 'Import weather.csv' });
  await expect(report.getByRole('status')).toHaveText('2 rows to add, 1 row skipped.');
  await expect(report.getByText('days: "many" is not of type integer')).toBeVisible();
  await report.getByRole('button', { name: 'Add 2 rows' }).click();
  await source.getByRole('button', { name: 'Remove row 1' }).click();
  await expect(source.getByRole('textbox', { name: 'Result of row 1' })).toHaveValue('rain');
  await page
    .getByRole('navigation', { name: 'Tools' })
    .getByRole('button', { name: /^clock/ })
    .click();
  await source.getByRole('radio', { name: 'Fixed' }).click();
  await source.getByRole('textbox', { name: 'Result of every call' }).fill('no clock');
  await source.getByRole('checkbox', { name: 'Return as an error' }).click();
  await page.getByRole('button', { name: /^Done/ }).click();
}

/** The results in the messages of a request to the provider. */
function sentResults({ body }: ScriptedCall): unknown[] {
  const messages = body['messages'] as { role: string; content: unknown }[];
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

const paris = { id: 'call_1', name: 'weather', arguments: '{"city": "Paris", "days": 2}' };
const time = { id: 'call_2', name: 'clock', arguments: '{"city": "Paris"}' };

/** What the provider is asked after an action. */
async function callAfter(nextRun: ToolsJourney['nextRun'], act: () => Promise<unknown>): Promise<ScriptedCall> {
  const next = nextRun();
  await act();
  return next;
}

/** Answers two parallel calls by hand, then changes a result of the first step and continues in another way. */
async function answerByHand({ page, nextRun }: ToolsJourney): Promise<void> {
  const answer = page.getByRole('region', { name: 'Answer', exact: true });
  const result = (name: string) => answer.getByRole('textbox', { name: `Result of ${name}` });
  const run = await callAfter(nextRun, () => page.keyboard.press('Control+Enter'));
  await run.chatCalls([paris, time], 'I look it up.');
  const card = answer.getByRole('group', { name: 'Tool call weather, call 1' });
  await expect(card.getByRole('tree', { name: 'Arguments of weather, call 1' })).toContainText('city"Paris"');
  const both = [card, answer.getByRole('group', { name: 'Tool call clock, call 2' })];
  const isWide = (await answer.boundingBox())!.width > 700;
  const areSideBySide = async () => {
    const [first, second] = await Promise.all(both.map((each) => each.boundingBox()));
    return first!.y === second!.y;
  };
  await expect.poll(areSideBySide).toBe(isWide);
  await result('weather, call 1').fill('{"sky": "rain"}');
  await answer.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(answer.getByText('Enter a result for clock, call 2.')).toBeVisible();
  await result('clock, call 2').fill('12:00');
  const next = await callAfter(nextRun, () => result('clock, call 2').press('Control+Enter'));
  expect(sentResults(next)).toEqual(['{"sky": "rain"}', '12:00']);
  await next.chatStream(['Take an umbrella at noon.']);
  await expect(answer.getByText('Take an umbrella at noon.')).toBeVisible();
  await expect(answer.getByText('I look it up.')).toBeVisible();

  await card.getByRole('button', { name: /weather/ }).click();
  await result('weather, call 1').fill('sun');
  const branch = await callAfter(nextRun, () => answer.getByRole('button', { name: 'Continue', exact: true }).click());
  expect(sentResults(branch)).toEqual(['sun', '12:00']);
  await branch.chatStream(['Take a hat at noon.']);
  await expect(answer.getByText('Take a hat at noon.')).toBeVisible();
  await expect(answer.getByText('Take an umbrella at noon.')).toBeHidden();
  const history = page.getByRole('region', { name: 'History' });
  await expect(history.getByText('Take an umbrella at noon.')).toBeVisible();
  await expect(history.getByText('Take a hat at noon.')).toBeVisible();
}

/** Mocks answer every call, at first by a press of Continue, then automatically. */
async function answerByMocks({ page, nextRun }: ToolsJourney): Promise<void> {
  const answer = page.getByRole('region', { name: 'Answer', exact: true });
  await addMocks(page);
  await expect(answer.getByText('Take a hat at noon.')).toBeVisible();
  const first = await callAfter(nextRun, () => page.keyboard.press('Control+Enter'));
  await first.chatCalls([paris, time]);
  await expect(answer.getByText('From mock')).toHaveCount(2);
  await expect(answer.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await answer.getByRole('switch', { name: 'Continue automatically with mocks' }).click();
  const second = await callAfter(nextRun, () => answer.getByRole('button', { name: 'Continue', exact: true }).click());
  expect(sentResults(second)).toEqual(['rain', expect.stringContaining('no clock')]);
  const third = await callAfter(nextRun, () => second.chatCalls([paris]));
  expect(sentResults(third)).toEqual(['rain', expect.stringContaining('no clock'), 'rain']);
  await third.chatStream(['Still rain.']);
  await expect(answer.getByText('Still rain.')).toBeVisible();
  await expect(answer.getByRole('group', { name: /^Step/ })).toHaveCount(2);
}

/** Tool calls from the playground to the audit: answered by hand, in another way, and by mocks. */
export async function followToolsJourney(journey: ToolsJourney): Promise<void> {
  const { page } = journey;
  await journey.writePrompt('Do I need an umbrella?');
  await journey.chooseModel(journey.model);
  await addTools(page);
  await expect(page.getByRole('region', { name: 'Tools' }).getByText('weather')).toBeVisible();
  await answerByHand(journey);
  await answerByMocks(journey);
  await expect(page.getByRole('group', { name: 'Rate the answer' })).toBeVisible();
  await page.getByRole('radio', { name: 'Rendered', exact: true }).click();
  const labels = page.getByRole('textbox', { name: 'Rendered prompt' }).locator('.sent-label');
  await expect(labels).toContainText(['User', 'Assistant', 'Tool', 'Assistant', 'Tool']);
  await page.getByRole('link', { name: 'Audit' }).click();
  await expect(page.getByRole('group', { name: 'Runs of this conversation' })).toContainText('continues run 2');
  const text = page.getByRole('region', { name: 'Text of the run' });
  await expect(text.getByRole('group', { name: /^Tool call / })).toHaveCount(3);
  await expect(text.getByText('no clock')).toBeVisible();
  await expect(text.getByText('Still rain.')).toBeVisible();
}
