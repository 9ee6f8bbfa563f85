import { expect, type Page } from '@playwright/test';
import OpenAI from 'openai';
import type { ScriptedCall } from './scripted-provider.ts';

export const recordedModel = 'heron-large';
export const otherModel = 'heron-small';
const question = 'Which colour has the zinnober sky, in {{braces}}?';

/** Answers a program and a replay, and lists two models. */
export function answerJourney(call: ScriptedCall): unknown {
  if (call.method === 'GET') return call.models([recordedModel, otherModel]);
  if (call.body['stream'] !== true) return call.chatAnswer({ content: 'Nothing.' });
  return call.chatStream(call.body['model'] === recordedModel ? ['The sky ', 'is blue.'] : ['Sky ', 'blue.']);
}

async function createKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('claims-bot');
  await page.getByRole('button', { name: 'Create key' }).click();
  return ((await page.getByText(/^ts_/).first().textContent()) ?? '').trim();
}

/** Turns the local server on, on a free port; resolves with its address. A browser's host has one already. */
async function addressOfServer(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Recorder', exact: true }).click();
  const connect = page.getByRole('region', { name: 'Connect a program' });
  const address = connect.locator('.recorder__address');
  const enable = connect.getByRole('button', { name: 'Enable local server' });
  await expect(address.or(enable)).toBeVisible();
  if (await enable.isVisible()) {
    await connect.getByRole('link', { name: 'Local server settings' }).click();
    await page.getByLabel('Port').fill('0');
    await page.getByLabel('Port').blur();
    await page.getByRole('link', { name: 'Recorder', exact: true }).click();
    await enable.click();
  }
  await expect(connect.getByText('Waiting for a call')).toBeVisible();
  return (await address.textContent())!.trim();
}

/** Connects a program, calls, finds and rates the call, saves it as a prompt and replays it on another model. */
export async function followRecorderJourney(page: Page, endpoint: string): Promise<void> {
  const apiKey = await createKey(page);
  const address = await addressOfServer(page);
  const baseURL = `${address}/openai/${endpoint}/v1`;
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  await expect(new OpenAI({ baseURL, apiKey: 'sk-own', maxRetries: 0 }).models.list()).rejects.toThrow('401');
  await expect(page.getByText(/A call arrived and was rejected \(401\)/)).toBeVisible();
  // Which the search must leave out.
  await client.chat.completions.create({
    model: recordedModel,
    messages: [{ role: 'user', content: 'Something else' }],
  });
  const stream = await client.chat.completions.create({
    model: recordedModel,
    stream: true,
    messages: [{ role: 'user', content: question }],
  });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  expect(text).toBe('The sky is blue.');

  await expect(page.getByText(/Received a call from OpenAI/)).toBeVisible();
  const call = page.getByRole('region', { name: 'One call' });
  await expect(call).toContainText(question);
  await expect(call).toContainText('The sky is blue.');
  await expect(call.getByText(/^\d+ frames from/)).toBeVisible();
  await call.getByRole('radio', { name: 'Request' }).click();
  await expect(call.getByLabel('Provider request as text')).toContainText('"stream": true');
  await call.getByRole('radio', { name: 'Turns' }).click();
  await page.getByLabel('Find in calls').fill('zinnober');
  await expect(page.getByRole('status').getByText(/^1 program, 1 call since/)).toBeVisible();

  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  const row = page.getByRole('option', { name: new RegExp(recordedModel) });
  await expect(row).toHaveCount(2);
  await page.getByLabel('Search conversations').fill('zinnober');
  await expect(row).toHaveCount(1);
  await row.click();
  const feedback = page.getByRole('group', { name: /^Feedback on/ });
  await feedback.getByRole('radio', { name: '8', exact: true }).click();
  await expect(feedback.getByRole('status')).toHaveText('Saved');

  await page.getByRole('link', { name: 'Recorder', exact: true }).click();
  await call.getByRole('button', { name: 'Save as prompt' }).click();
  await page.getByRole('dialog', { name: 'Save as prompt' }).getByRole('button', { name: 'Save prompt' }).click();
  await expect(page).toHaveURL(/#\/prompts\/[\da-f-]{36}$/);
  await expect(page.getByRole('main')).toContainText(recordedModel);

  await page.getByRole('link', { name: 'Recorder', exact: true }).click();
  await call.getByRole('button', { name: 'Replay', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: /^Replay/ });
  await dialog.getByRole('button', { name: /^Model/ }).click();
  await page.getByPlaceholder('Search models').fill(otherModel);
  await page.getByRole('option', { name: otherModel }).click();
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page.getByText('1 of 1', { exact: true })).toBeVisible();
  await expect(page.getByRole('region', { name: 'After', exact: true })).toContainText('Sky blue.');
}
