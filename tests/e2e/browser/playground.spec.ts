import { sessionHeaders } from '../../support/served-window.ts';
import { expect, test } from './playground-window.ts';
import { typeInto } from './type-into.ts';

const template = `Customer: {{customer.name}}
{{#each orders}}
- {{id}}: {{item}}
{{/each}}
Tone: {{tone}}`;

test('writes, fills, runs, stops, reruns and restores a prompt, and keeps everything after a reload', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt(template);
  await playground.variable('customer.name').fill('Mara "M" Lindqvist');
  await playground.variable('orders').fill('[{"id": "NW-1", "item": "Frame"}]');
  await expect(page.getByText('1 without a value')).toBeVisible();
  await expect(page.getByText('2 of 3 filled')).toBeVisible();

  let call = nextRun();
  await playground.run();
  let run = await call;
  expect(run.body['messages']).toEqual([
    { role: 'user', content: 'Customer: Mara "M" Lindqvist\n- NW-1: Frame\nTone: ' },
  ]);
  run.openEventStream();
  await run.chatDelta({ content: 'The **first** ans' });
  await expect(playground.answer.getByText('Streaming')).toBeVisible();
  await expect(playground.answer.locator('strong')).toHaveText('first');
  await expect(playground.history.getByRole('option')).toHaveCount(1);
  await run.chatDelta({ content: 'wer.' });
  await run.chatEnd({ usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } });
  await expect(playground.answer.getByText(/^Complete/)).toBeVisible();
  await expect(playground.answer.getByText('12 in · 3 out')).toBeVisible();
  await expect(playground.answer.getByText('{{tone}} has no value and renders empty.')).toBeVisible();

  await playground.variable('tone').fill('warm');
  await expect(page.getByText('1 without a value')).toBeHidden();
  call = nextRun();
  await playground.run();
  run = await call;
  run.openEventStream();
  await run.chatDelta({ content: 'A second answer that' });
  await expect(playground.answer.getByText('A second answer that')).toBeVisible();
  await page.keyboard.press('Escape');
  await run.closed;
  await expect(playground.answer.getByText('Partial answer kept.')).toBeVisible();
  await expect(playground.answer.getByText('A second answer that')).toBeVisible();
  await expect(playground.history.getByRole('option')).toHaveCount(2);
  await expect(playground.history.getByText('Stopped')).toBeVisible();

  await playground.history.getByRole('option').nth(1).click();
  await expect(playground.answer.getByText('The first answer.')).toBeVisible();
  await expect(playground.variable('tone')).toHaveValue('');
  await expect(playground.variable('customer.name')).toHaveValue('Mara "M" Lindqvist');
  await expect(page.getByText('1 without a value')).toBeVisible();

  await page.reload();
  await expect(playground.prompt).toContainText('Customer: {{customer.name}}');
  await expect(playground.variable('orders')).toHaveValue(/NW-1/);
  await expect(playground.answer.getByText('The first answer.')).toBeVisible();
  await expect(playground.history.getByRole('option')).toHaveCount(2);
  await expect(page.getByRole('button', { name: /workshop\/kestrel-large/ })).toBeVisible();
});

test('restoring a run can be undone', async ({ page, playground, nextRun }) => {
  await playground.chooseModel('kestrel-small');
  await playground.writePrompt('First {{a}}');
  await playground.variable('a').fill('one');
  const call = nextRun();
  await playground.run();
  await (await call).chatStream(['Done.']);
  await expect(playground.answer.getByText(/^Complete/)).toBeVisible();
  await playground.writePrompt('Second {{b}}');
  await playground.variable('b').fill('two');
  await playground.history.getByRole('option').first().click();
  await expect(playground.prompt).toContainText('First {{a}}');
  await expect(playground.variable('a')).toHaveValue('one');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(playground.prompt).toContainText('Second {{b}}');
  await expect(playground.variable('b')).toHaveValue('two');
});

test('edits values at any position, and restores them with a variable that returns to the text', async ({
  page,
  playground,
}) => {
  await playground.writePrompt('Hello {{name}}');
  await playground.variable('name').fill('Mara');
  await playground.variable('name').press('Home');
  await page.keyboard.type('Frau ');
  await expect(playground.variable('name')).toHaveValue('Frau Mara');
  await playground.writePrompt('Hello');
  await expect(playground.variable('name')).toHaveCount(0);
  await playground.writePrompt('Goodbye {{name}}');
  await expect(playground.variable('name')).toHaveValue('Frau Mara');
});

test('keeps text that is typed right before the window closes', async ({ page, playground }) => {
  await playground.writePrompt('Hello {{name}}');
  const name = playground.variable('name');
  await name.fill('Mara');
  await playground.written();
  const loaded = page.waitForEvent('load');
  await name.evaluate((field) => {
    field.focus();
    document.execCommand('insertText', false, ' Lindqvist');
    location.reload();
  });
  await loaded;
  await expect(name).toHaveValue('Mara Lindqvist');
});

test('shows errors beside their fields, and Run moves the focus there', async ({ page, playground }) => {
  await playground.chooseModel('kestrel-small');
  await playground.writePrompt('Line one\n{{#each orders}}\n{{/if}}');
  await expect(page.getByRole('button', { name: /^3:\d+ / })).toBeVisible();
  await expect(playground.prompt.locator('.cm-lintRange-error')).toHaveText('{{/if}}');
  await playground.run();
  await expect(page.getByRole('alert').filter({ hasText: 'Line 3' })).toBeVisible();
  await playground.writePrompt('{{#each orders}}{{id}}{{/each}}');
  await playground.variable('orders').fill('[{"id": 1,}]');
  await expect(page.getByText('Line 1, column 11')).toBeVisible();
});

test('the editor completes names, closes blocks and shows which tags belong together', async ({ page, playground }) => {
  await playground.writePrompt('{{customer.name}} ');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('{{cus');
  await expect(page.getByRole('option', { name: /customer\.name/ })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(playground.prompt).toHaveText('{{customer.name}} {{customer.name}}');
  await playground.writePrompt('');
  await page.keyboard.type('{{#ea');
  await expect(page.getByRole('option', { name: /each/ })).toBeVisible();
  await page.keyboard.press('Enter');
  await page.keyboard.type('orders');
  await expect(playground.prompt).toHaveText('{{#each orders}}{{/each}}');
  await expect(playground.prompt.locator('.tok-match')).toHaveText(['{{#each orders}}', '{{/each}}']);
});

test('the wire shows the request and each frame, in all three formats', async ({ page, playground, nextRun }) => {
  await playground.chooseModel('kestrel-small');
  await playground.writePrompt('Count to three');
  await page.keyboard.press('Control+j');
  for (const [form, path, frames] of [
    ['SSE', '/api/completions/sse', 4],
    ['JSON array', '/api/completions/stream', 4],
    ['Sync', '/api/completions/sync', 1],
  ] as const) {
    await playground.wire.getByRole('radio', { name: form }).click();
    const call = nextRun();
    await playground.run();
    const run = await call;
    if (form === 'Sync') run.chatAnswer({ content: 'one two three' });
    else await run.chatStream(['one ', 'two ', 'three']);
    await expect(playground.answer.getByText(/^Complete/)).toBeVisible();
    await expect(playground.answer.getByText('one two three')).toBeVisible();
    await expect(playground.wire.getByText(`POST ${path}`).first()).toBeVisible();
    await expect(playground.wire.getByText(`${frames} frame${frames === 1 ? '' : 's'} received`)).toBeVisible();
  }
});

test('reasoning streams beside the answer and is collapsed by default', async ({ page, playground, nextRun }) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Think');
  const call = nextRun();
  await playground.run();
  const run = await call;
  run.openEventStream();
  await run.chatDelta({ reasoning_content: 'Let me think about it.' });
  await run.chatDelta({ content: 'Done thinking.' });
  await expect(playground.answer.getByText('Done thinking.')).toBeVisible();
  await run.chatEnd();
  const fold = playground.answer.getByRole('button', { name: /Reasoning/ });
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await fold.click();
  await expect(playground.answer.getByText('Let me think about it.')).toBeVisible();
  await page.reload();
  await expect(playground.answer.getByText('Let me think about it.')).toBeVisible();
});

test('a failure shows the provider and the fix, and keeps the partial answer', async ({ playground, nextRun }) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Fail');
  let call = nextRun();
  await playground.run();
  (await call).fail(429, 'Slow down', { 'retry-after': '30' });
  await expect(playground.answer.getByText('Rate limit or quota of "workshop" reached')).toBeVisible();
  await expect(playground.answer.getByRole('button', { name: /Run again in \d+ s/ })).toBeVisible();
  await expect(playground.answer.getByRole('button', { name: 'Choose another model' })).toBeVisible();
  call = nextRun();
  await playground.run();
  const run = await call;
  run.openEventStream();
  await run.chatDelta({ content: 'As far as it' });
  await expect(playground.answer.getByText('As far as it')).toBeVisible();
  run.cut();
  await expect(playground.answer.getByText('Partial answer kept.')).toBeVisible();
  await expect(playground.answer.getByText('As far as it')).toBeVisible();
});

test('creates, renames, switches, deletes and restores prompts', async ({ page, playground }) => {
  const menu = page.getByRole('toolbar', { name: 'Prompt' }).getByRole('button').first();
  await playground.writePrompt('The first one');
  await menu.click();
  await page.getByRole('menuitem', { name: 'New prompt' }).click();
  await expect(playground.prompt).toHaveText('Write your prompt. Type {{name}} to add a variable.');
  await playground.writePrompt('The second one');
  await page.keyboard.press('F2');
  await typeInto(page.getByLabel('Prompt name'), 'Second');
  await page.keyboard.press('Enter');
  await expect(menu).toHaveText('Second');
  await menu.click();
  await page.getByRole('menuitem', { name: /^Untitled prompt/ }).click();
  await expect(playground.prompt).toContainText('The first one');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(playground.prompt).toContainText('The second one');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(playground.prompt).toContainText('The first one');
  await page.goBack();
  await expect(playground.prompt).toContainText('The second one');
});

test('the address of a run restores it, whoever started it', async ({ page, playground, nextRun, served }) => {
  await playground.chooseModel('kestrel-small');
  await playground.writePrompt('Deep {{link}}');
  await playground.variable('link').fill('here');
  const call = nextRun();
  await playground.run();
  await (await call).chatStream(['Found.']);
  await expect(playground.answer.getByText(/^Complete/)).toBeVisible();
  const headers = await sessionHeaders(page);
  const { data } = (await (await page.request.get(`${served.address}/window/runs`, { headers })).json()) as {
    data: { runId: string }[];
  };
  await playground.writePrompt('Something else');
  await page.evaluate((runId) => (location.hash = `#/playground/run/${runId}`), data[0]?.runId);
  await expect(playground.prompt).toContainText('Deep {{link}}');
  await expect(playground.variable('link')).toHaveValue('here');
});

test('the wire shows what the provider received, also for a run of the history', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.writePrompt('Name a bird.');
  await playground.chooseModel('kestrel-large');
  const call = nextRun();
  await playground.run();
  await (await call).chatStream(['Kes', 'trel']);
  await expect(playground.answer).toContainText('Kestrel');
  await page.keyboard.press('Control+j');
  await playground.wire.getByRole('radio', { name: 'Provider' }).click();
  const shown = async (): Promise<void> => {
    await expect(playground.wire.getByRole('region', { name: 'Provider request', exact: true })).toContainText(
      '"model": "kestrel-large"',
    );
    await expect(playground.wire.getByRole('region', { name: 'Provider response', exact: true })).toContainText(
      'data: [DONE]',
    );
  };
  await shown();
  await page.reload();
  await shown();
});

test('the reason why a run cannot start leads to its cause, also where that is hidden', async ({
  page,
  playground,
}) => {
  await page.setViewportSize({ width: 980, height: 700 });
  const reason = page.getByRole('toolbar', { name: 'Prompt' }).getByRole('alert');
  const temperature = page.getByRole('dialog', { name: 'Parameters' }).getByRole('textbox', { name: 'temperature' });
  await page.getByRole('button', { name: 'Parameters', exact: true }).click();
  await temperature.fill('hot');
  await page.keyboard.press('Escape');
  await playground.run();
  await expect(reason).toContainText('temperature');
  await reason.click();
  await expect(temperature).toBeFocused();
  await temperature.fill('');
  await page.keyboard.press('Escape');
  await playground.writePrompt('Hello {{#if late}}');
  await page.getByRole('radio', { name: 'Rendered', exact: true }).click();
  await playground.run();
  await expect(reason).toContainText('Line 1');
  await reason.click();
  await expect(playground.prompt).toBeFocused();
});
