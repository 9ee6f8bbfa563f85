import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { LLMock } from '@copilotkit/aimock';
import { expect, test } from '../../support/served-window.ts';
import { typeInto } from './type-into.ts';

const weather = (...cities: string[]) => ({
  toolCalls: cities.map((city) => ({ name: 'weather', arguments: JSON.stringify({ city }) })),
});

/** A provider that can do everything but read PDF files. */
async function startProvider(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 7 });
  mock.onMessage('Reply with one word', { content: 'ready', usage: { input_tokens: 11, output_tokens: 3 } });
  mock.onMessage('prime', { content: '17', reasoning: 'Counting.' });
  mock.onMessage('large city', { content: '{"city":"Paris","population":2100000}' });
  mock.onMessage('in Paris and in Rome', weather('Paris', 'Rome'));
  mock.onMessage('weather in', weather('Paris'));
  mock.onMessage('colour', { content: 'Red' });
  mock.onMessage('code word', { error: { message: 'PDF input is off for this project.' }, status: 400 });
  await mock.start();
  return mock;
}

test('a provider is tested, the results are kept with the reason of a failure', async ({ page, served }) => {
  const mock = await startProvider();
  try {
    await page.goto(`${served.address}/#/settings/providers`);
    const openAi = page.getByRole('group', { name: 'OpenAI', exact: true });
    await openAi.getByRole('button', { name: 'Base URL of OpenAI' }).click();
    await openAi.getByRole('textbox').fill(`${mock.url}/v1`);
    await page.keyboard.press('Enter');
    await expect(openAi.getByRole('textbox')).toBeHidden();
    await openAi.getByRole('button', { name: 'Add key' }).click();
    await typeInto(page.getByLabel('API key of OpenAI'), 'sk-good-one');
    await page.keyboard.press('Enter');
    await expect(openAi.getByText('Key set', { exact: true })).toBeVisible();
    await openAi.getByRole('button', { name: 'Capabilities of OpenAI' }).click();
    const panel = openAi.getByRole('group', { name: 'Capabilities of OpenAI' });
    await expect(
      panel.getByText(/^Sends 8 small requests to OpenAI, which bills them. At most \$0\.\d+\.$/),
    ).toBeVisible();
    const before = mock.getRequests().length;
    await panel.getByRole('button', { name: 'Test what this provider can do' }).click();
    await expect(panel.getByText(/^Tested /)).toBeVisible();
    expect(mock.getRequests().length - before).toBe(8);
    const row = (name: string) => panel.getByRole('row', { name });
    await expect(row('Text')).toContainText('Yes');
    await expect(row('Token counts')).toContainText('Yes');
    await expect(row('JSON schemas')).toContainText('Yes');
    await expect(row('Parallel tool calls')).toContainText('Yes');
    await expect(row('Stop sequences')).toContainText('Not offered');
    await expect(row('PDF files')).toContainText('PDF input is off for this project.');
    await page.reload();
    await openAi.getByRole('button', { name: 'Capabilities of OpenAI' }).click();
    await expect(row('PDF files')).toContainText('No');
    await expect(panel.getByText(/^Tested /)).toBeVisible();
  } finally {
    await mock.stop();
  }
});

test('a test that takes long is stopped, and what came until then is kept', async ({ page, served }) => {
  const mock = new LLMock({ port: 0 });
  mock.onMessage('Reply with one word', { content: 'ready' });
  await mock.start();
  // Only the first request is answered.
  const server = createServer((request, response) => {
    void readText(request).then(async (body) => {
      if (body !== '' && !body.includes('Reply with one word')) return;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(mock.url + request.url!, { headers, method: request.method!, ...(body && { body }) });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await page.goto(`${served.address}/#/settings/endpoints`);
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('mock');
    await page.getByRole('textbox', { name: /address|URL/i }).fill(`http://127.0.0.1:${port}/v1`);
    await page.keyboard.press('Enter');
    const endpoint = page.getByRole('group', { name: 'mock', exact: true });
    await endpoint.getByRole('button', { name: 'Capabilities of mock' }).click();
    const panel = endpoint.getByRole('group', { name: 'Capabilities of mock' });
    await expect(panel.getByText(/The price of this model is unknown/)).toBeVisible();
    await panel.getByRole('button', { name: 'Test what this provider can do' }).click();
    await expect(panel.getByText('1 of 9 requests')).toBeVisible();
    await panel.getByRole('button', { name: 'Stop' }).click();
    await expect(panel.getByText(/^Stopped /)).toBeVisible();
    await expect(panel.getByRole('row', { name: /^Text/ })).toContainText('Yes');
  } finally {
    server.closeAllConnections();
    server.close();
    await mock.stop();
  }
});
