import { accessibilityFindings } from '../../support/accessibility.ts';
import { expect, test } from './playground-window.ts';

const findOrder = {
  name: 'orders/find',
  description: 'Looks up one order. Call it before you promise anything about delivery or money.',
  inputSchema: {
    type: 'object',
    properties: {
      order_id: { type: 'string', description: 'On the invoice' },
      include: { type: 'array', items: { type: 'string', enum: ['items', 'parcels'] } },
      since: { type: 'string', format: 'date' },
    },
    required: ['order_id', 'include'],
  },
};

test('a tool of MCP is pasted, fixed for all providers, saved to the library and called by the model', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Where is my order NW-48213?');
  const row = page.getByRole('region', { name: 'Tools', exact: true });
  await row.getByRole('button', { name: 'Add tool' }).click();
  await page.getByRole('button', { name: 'Paste tools' }).last().click();
  const dialog = page.getByRole('dialog', { name: 'Paste tools' });
  await dialog.getByRole('textbox').fill(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [findOrder] } }));
  await expect(dialog.getByText('renamed from orders/find')).toBeVisible();
  await dialog.getByRole('button', { name: 'Add 1 tool' }).click();

  const support = page.getByRole('complementary', { name: 'Provider support' });
  const openAi = support.getByRole('listitem', { name: 'OpenAI (strict)' });
  await expect(openAi).toContainText('missing: "since"');
  await support.getByRole('button', { name: 'Fix for all providers' }).click();
  await page.getByRole('button', { name: 'Apply fix' }).click();
  await expect(openAi).toContainText('OK');
  await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('find_order');
  await page.getByRole('radio', { name: 'Lookup' }).click();
  await page.getByRole('textbox', { name: 'Arguments of row 1' }).fill('{"order_id": "NW-48213"}');
  await page.getByRole('textbox', { name: 'Result of row 1' }).fill('{"state": "in transit"}');
  await page.getByRole('button', { name: 'Save to library' }).click();
  expect(await accessibilityFindings(page)).toEqual([]);
  await expect(page.getByRole('list', { name: 'Tools in the library' }).getByText('find_order')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row.getByRole('button', { name: 'find_order' })).toBeVisible();
  await page.getByRole('combobox', { name: 'tool_choice' }).click();
  await page.getByRole('option', { name: 'required' }).click();

  const call = nextRun();
  await playground.run();
  const run = await call;
  expect(run.body).toMatchObject({
    tool_choice: 'required',
    tools: [
      {
        type: 'function',
        function: {
          name: 'find_order',
          parameters: {
            properties: { since: { type: ['string', 'null'] } },
            required: ['order_id', 'include', 'since'],
            additionalProperties: false,
          },
        },
      },
    ],
  });
  expect(JSON.stringify(run.body)).not.toContain('in transit');
  const args = '{"order_id": "NW-48213", "include": [], "since": null}';
  await run.chatCalls([{ id: 'call_1', name: 'find_order', arguments: args }]);
  await expect(playground.answer.getByText('find_order').first()).toBeVisible();

  // What was saved is what another prompt gets.
  await page.reload();
  await expect(row.getByRole('button', { name: 'find_order' })).toBeVisible();
  await row.getByRole('button', { name: 'Add tool' }).click();
  await page.getByRole('button', { name: 'Remove from prompt' }).click();
  await page.getByRole('list', { name: 'Tools in the library' }).getByText('find_order').click();
  await expect(page.getByRole('textbox', { name: 'Result of row 1' })).toHaveValue('{"state": "in transit"}');
});

test('a schema of 100 KB is edited and linted while it is typed', async ({ page, playground }) => {
  await playground.writePrompt('Hello');
  const row = page.getByRole('region', { name: 'Tools', exact: true });
  await row.getByRole('button', { name: 'Add tool' }).click();
  await page.getByRole('button', { name: 'Add tool' }).last().click();
  const properties = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`property_${index}`, { type: 'string', minLength: 2 }]),
  );
  await page.getByRole('textbox', { name: 'JSON schema' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(JSON.stringify({ type: 'object', properties }));
  await expect(page.getByText('Edit further parameters in the JSON schema.')).toBeVisible();
  await page.getByRole('textbox', { name: 'JSON schema' }).press('Control+End');
  await page.keyboard.type('    ', { delay: 30 });
  const support = page.getByRole('complementary', { name: 'Provider support' });
  await expect(support.getByRole('listitem', { name: 'OpenAI (strict)' })).toContainText('problems');
});
