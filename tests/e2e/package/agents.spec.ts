import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { callHost, expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

/** Answers with what the person said last, so that an answer tells which conversation it belongs to. */
async function startEcho() {
  const provider = await startScriptedProvider((call) => {
    if (call.method !== 'POST') return call.models(['kestrel-large']);
    const messages = call.body['messages'] as { content: string }[];
    return call.chatStream([`You said: `, messages.at(-1)!.content]);
  });
  return provider;
}

const requested = async (page: Page): Promise<string[]> =>
  page.getByRole('article').locator('.agent-turn__message p').allInnerTexts();

test('on the desktop creates an agent, talks to it, branches, and reads the turn in the audit', async ({
  folder,
  launch,
}) => {
  await using provider = await startEcho();
  const dataDirectory = join(folder, 'data');
  const parameters = ['--endpoint', `workshop=${provider.baseAddress}`];
  const desktop = await launch({ dataDirectory, parameters });
  const { page } = desktop;
  await callHost(page, 'POST', '/agents', {
    name: 'Desk',
    aiSystem: 'OpenAiCompatible',
    model: 'workshop/kestrel-large',
    prompt: 'Be brief.',
  });
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('option', { name: /Desk/ }).click();
  const message = page.getByRole('textbox', { name: 'Message to Desk' });
  for (const text of ['First question', 'Second question']) {
    await message.fill(text);
    await message.press('Enter');
    await expect(page.getByText(`You said: ${text}`)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeVisible();
  }
  const second = page.getByRole('article').nth(1);
  await second.getByRole('button', { name: 'Edit and branch' }).click();
  const edited = page.getByRole('textbox', { name: 'Message', exact: true });
  await edited.fill('Another question');
  await edited.press('Enter');
  await expect(page.getByText('You said: Another question')).toBeVisible();
  await expect(second.getByText('2 of 2')).toBeVisible();
  await expect.poll(() => requested(page)).toEqual(['First question', 'Another question']);
  await desktop.quit();

  const { page: again } = await launch({ dataDirectory, parameters });
  await expect(again.getByRole('article')).toHaveCount(2);
  await again.getByRole('article').nth(1).getByRole('button', { name: 'Previous branch' }).click();
  await expect(again.getByText('You said: Second question')).toBeVisible();
  await again.getByRole('article').nth(1).getByRole('link', { name: 'Open in audit' }).click();
  await expect(again).toHaveURL(/#\/audit\/all\//);
  await expect(again.getByText('You said: Second question').first()).toBeVisible();
});
