import { expect, kestrel, test } from './prompts-window.ts';

test('creates an agent, talks to it, stops, regenerates and deletes, and links its turns to the audit', async ({
  page,
  library,
  nextRun,
  pageProblems,
}) => {
  await library.open('/agents');
  await page.getByRole('button', { name: 'Create agent' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Workshop desk');
  await page.getByRole('button', { name: /^Model / }).click();
  await expect(page.getByRole('combobox', { name: 'Search models' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Workshop desk');
  await page.getByRole('button', { name: /^Model / }).click();
  await page.getByRole('combobox', { name: 'Search models' }).fill('kestrel-large');
  await page.getByRole('option', { name: /kestrel-large/ }).click();
  await page.getByLabel('Prompt', { exact: true }).fill('You are the desk of a bicycle workshop.');
  await page.keyboard.press('Control+Enter');
  const message = page.getByRole('textbox', { name: 'Message to Workshop desk' });
  await message.fill('Are you open today?');
  await page.reload();
  await expect(message).toHaveValue('Are you open today?');

  let call = nextRun();
  await message.press('Enter');
  let run = await call;
  expect(run.body['messages']).toEqual([
    { role: 'system', content: 'You are the desk of a bicycle workshop.' },
    { role: 'user', content: 'Are you open today?' },
  ]);
  run.openEventStream();
  await run.chatDelta({ reasoning_content: 'The desk is open until six.' });
  await page.getByRole('button', { name: /^Reasoning/ }).click();
  await expect(page.getByText('The desk is open until six.')).toBeVisible();
  await run.chatDelta({ content: 'Yes, **until' });
  await expect(page.getByRole('article').getByText('Streaming')).toBeVisible();
  await run.chatDelta({ content: ' six**.' });
  await run.chatEnd({ usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } });
  await expect(page.getByRole('article').locator('strong')).toHaveText('until six');
  await expect(page.getByRole('article').getByText('20 in · 5 out')).toBeVisible();
  await expect(page).toHaveURL(/#\/agents\/[\w-]+\/[\w-]+$/);

  call = nextRun();
  await message.fill('And tomorrow?');
  await message.press('Enter');
  run = await call;
  expect(run.body['messages']).toHaveLength(4);
  run.openEventStream();
  await run.chatDelta({ content: 'Tomorrow we are' });
  await expect(page.getByText('Tomorrow we are')).toBeVisible();
  await page.keyboard.press('Escape');
  await run.closed;
  await expect(page.getByText('Partial answer kept.')).toBeVisible();
  await expect(page.getByText('1 earlier turn in context')).toBeVisible();

  call = nextRun();
  await page.getByRole('button', { name: 'Send again' }).click();
  run = await call;
  run.openEventStream();
  await run.chatDelta({ content: 'Closed tomorrow.' });
  await run.chatEnd();
  await expect(page.getByRole('article')).toHaveCount(3);
  await page.reload();
  await expect(page.getByText('Tomorrow we are')).toBeVisible();
  await expect(page.getByText('Closed tomorrow.')).toBeVisible();
  const past = page.getByRole('complementary', { name: 'Agent and conversations' });
  await expect(past.getByRole('link', { name: /3 turns/ })).toBeVisible();

  // Up in the empty field opens the last message; what is sent there goes on in a branch.
  await message.press('ArrowUp');
  const edited = page.getByRole('textbox', { name: 'Message', exact: true });
  await expect(edited).toHaveValue('And tomorrow?');
  await edited.press('Escape');
  await expect(message).toBeFocused();
  const second = page.getByRole('article').nth(1);
  await second.getByRole('button', { name: 'Edit and branch' }).click();
  await edited.fill('And on Sunday?');
  call = nextRun();
  await edited.press('Enter');
  run = await call;
  expect(run.body['messages']).toEqual([
    { role: 'system', content: 'You are the desk of a bicycle workshop.' },
    { role: 'user', content: 'Are you open today?' },
    { role: 'assistant', content: 'Yes, **until six**.' },
    { role: 'user', content: 'And on Sunday?' },
  ]);
  run.openEventStream();
  await run.chatDelta({ content: 'Never on Sundays.' });
  await run.chatEnd();
  await expect(page.getByText('Never on Sundays.')).toBeVisible();
  await expect(page.getByRole('article')).toHaveCount(2);
  await expect(second.getByText('2 of 2')).toBeVisible();
  await second.getByRole('button', { name: 'Previous branch' }).click();
  await expect(page.getByText('Closed tomorrow.')).toBeVisible();
  await expect(second.getByText('1 of 2')).toBeVisible();
  await second.getByRole('button', { name: 'Next branch' }).click();
  await expect(page.getByText('Never on Sundays.')).toBeVisible();
  call = nextRun();
  await page.getByRole('button', { name: 'Regenerate' }).click();
  run = await call;
  expect(run.body['messages']).toHaveLength(4);
  run.openEventStream();
  await run.chatDelta({ content: 'On Sundays, no.' });
  await run.chatEnd();
  await expect(second.getByText('3 of 3')).toBeVisible();

  await page.keyboard.press('F2');
  // The form is beside the conversation, which goes on.
  await expect(page.getByText('On Sundays, no.')).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill('Front desk');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('heading', { name: 'Front desk', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('heading', { name: 'Workshop desk', exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'New conversation' }).click();
  await expect(page.getByText('New conversation with Workshop desk')).toBeVisible();
  await past.getByRole('link', { name: /3 turns/ }).click();
  await page.getByRole('article').first().getByRole('link', { name: 'Open in audit' }).click();
  await expect(page).toHaveURL(/#\/audit\/all\//);
  await page.evaluate(() => history.back());

  await page.getByRole('button', { name: 'More for Workshop desk' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(page.getByText('No agents yet')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(message).toBeVisible();
  expect(pageProblems).toEqual([]);
});

test('a failed turn names the provider that failed and can be sent again', async ({ page, library, nextRun }) => {
  const agent = await library.agent({ name: 'Desk', ...kestrel, prompt: 'Be brief.' });
  await library.open(`/agents/${agent.id}`);
  const message = page.getByRole('textbox', { name: 'Message to Desk' });
  let call = nextRun();
  await message.fill('Hello?');
  await message.press('Enter');
  (await call).fail(500, 'It broke');
  await expect(page.getByRole('alert')).toContainText('workshop');
  call = nextRun();
  await page.getByRole('button', { name: 'Send again' }).click();
  const run = await call;
  run.openEventStream();
  await run.chatDelta({ content: 'Here I am.' });
  await run.chatEnd();
  await expect(page.getByText('Here I am.')).toBeVisible();
});

test("enters the result of an agent's tool call, and another one in a branch", async ({
  page,
  library,
  nextRun,
  pageProblems,
}) => {
  const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } };
  await library.open('/agents/new');
  await page.getByLabel('Name', { exact: true }).fill('Clerk');
  await page.getByRole('button', { name: /^Model / }).click();
  await page.getByRole('combobox', { name: 'Search models' }).fill('kestrel-large');
  await page.getByRole('option', { name: /kestrel-large/ }).click();
  await page.getByText('Parameters', { exact: true }).first().click();
  await page.getByLabel('Extra parameters (JSON)').fill(JSON.stringify({ tools: [clock] }));
  await page
    .getByRole('button', { name: /^Create agent/ })
    .last()
    .click();
  const message = page.getByRole('textbox', { name: 'Message to Clerk' });
  await message.fill('When do you close?');
  let call = nextRun();
  await message.press('Enter');
  const calling = await call;
  expect(calling.body['tools']).toEqual([clock]);
  await calling.chatCalls([{ id: 'call_1', name: 'clock', arguments: '{"zone": "CET"}' }], 'Let me look.');
  const result = page.getByRole('textbox', { name: 'Result of clock' });
  await result.fill('18:00');
  call = nextRun();
  await page.keyboard.press('Control+Enter');
  const continued = await call;
  expect(continued.body['messages']).toMatchObject([
    { role: 'user', content: 'When do you close?' },
    { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '18:00' },
  ]);
  await continued.chatStream(['We close at six.']);
  await expect(page.getByText('We close at six.')).toBeVisible();
  await page.getByRole('button', { name: /^clock/ }).click();
  await result.fill('19:00');
  call = nextRun();
  await page.getByRole('button', { name: 'Continue' }).click();
  await (await call).chatStream(['We close at seven.']);
  await expect(page.getByText('We close at seven.')).toBeVisible();
  await expect(page.getByText('2 of 2')).toBeVisible();
  await page.getByRole('button', { name: 'Previous branch' }).click();
  await expect(page.getByText('We close at six.')).toBeVisible();
  expect(pageProblems).toEqual([]);
});
