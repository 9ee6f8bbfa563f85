import { expect, test } from './playground-window.ts';

const schema = {
  type: 'object',
  properties: {
    part: { type: 'string' },
    decided_on: { type: 'string', format: 'date' },
    evidence: { type: 'array', items: { type: 'string' } },
  },
  required: ['part', 'decided_on'],
};

test('writes a schema with the linter, and shows the streaming answer as a tree with its error at its path', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Assess the claim.');
  await page.getByRole('combobox', { name: 'response_format' }).click();
  await page.getByRole('option', { name: 'json_schema' }).click();
  await page.getByRole('button', { name: 'Edit JSON schema in a large editor' }).click();
  const dialog = page.getByRole('dialog', { name: 'JSON schema' });
  await expect(dialog.getByText('Every provider and the on-device model support this schema')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'JSON schema' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{"type": "text"}');
  await expect(dialog.getByRole('status')).toContainText('at /type must be one of');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(JSON.stringify(schema));
  await expect(dialog.getByText('Rejected by 2 of 6: OpenAI (strict), Groq (strict)')).toBeVisible();
  await dialog.getByRole('button', { name: 'Fix for all providers' }).click();
  await page.getByRole('button', { name: 'Apply fix' }).click();
  await expect(dialog.getByText('Every provider and the on-device model support this schema')).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const call = nextRun();
  await playground.run();
  const run = await call;
  expect(run.body['response_format']).toMatchObject({
    type: 'json_schema',
    json_schema: { schema: { required: ['part', 'decided_on', 'evidence'], additionalProperties: false } },
  });
  run.openEventStream();
  await run.chatDelta({ content: '{"part": "fork cr' });
  const tree = playground.answer.getByRole('tree', { name: 'Answer as a tree' });
  await expect(tree.getByRole('treeitem')).toHaveText(['{1 property', 'part"fork cr']);
  await run.chatDelta({ content: 'own", "decided_on": "24 November", "evidence": ["photo", "carrier"' });
  await expect(tree.getByRole('treeitem').nth(3)).toHaveText('evidence[2]');
  await run.chatDelta({ content: ']}' });
  await run.chatEnd({ usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 } });
  await expect(playground.answer.getByText('1 schema error')).toBeVisible();
  await expect(tree.getByRole('treeitem').nth(2)).toHaveText(
    'decided_on"24 November"/decided_on must be a date, as in 2026-11-24',
  );
  await playground.answer.getByRole('radio', { name: 'Plain' }).click();
  await expect(playground.answer.locator('pre')).toHaveText(
    '{"part": "fork crown", "decided_on": "24 November", "evidence": ["photo", "carrier"]}',
  );
  await page.reload();
  await playground.answer.getByRole('radio', { name: 'Tree' }).click();
  await expect(playground.answer.getByText('1 schema error')).toBeVisible();
  await expect(tree.getByRole('treeitem')).toHaveCount(6);
});

test('shows an answer of 4 MB with 100,000 values as a tree that scrolls and collapses', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('List everything.');
  await page.getByRole('combobox', { name: 'response_format' }).click();
  await page.getByRole('option', { name: 'json_object' }).click();
  const values = Array.from({ length: 50_000 }, (_, index) => ({ text: `${index} ${'word '.repeat(14)}` }));
  const call = nextRun();
  await playground.run();
  await (await call).chatStream([JSON.stringify({ values })]);
  const tree = playground.answer.getByRole('tree', { name: 'Answer as a tree' });
  await expect(playground.answer.getByText('Complete')).toBeVisible();
  // The window follows an answer that streams for longer than a frame to its end.
  await tree.focus();
  await page.keyboard.press('Home');
  await expect(tree.getByRole('treeitem').first()).toHaveText('{1 property');
  await expect(tree.getByRole('treeitem').nth(1)).toHaveText('values[50,000]');
  expect(await tree.getByRole('treeitem').count()).toBeLessThan(200);
  await page.keyboard.press('End');
  await expect(tree.getByRole('treeitem').last()).toContainText('49999 word');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  await expect(tree.getByRole('treeitem')).toHaveText(['{1 property']);
});
