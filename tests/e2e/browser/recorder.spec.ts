import { expect, test } from '@playwright/test';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { startHeadlessHost } from './playground-host.ts';

test('connects a program, and shows its call as it arrives', async ({ page }) => {
  await using provider = {
    ...(await startScriptedProvider((call) => call.chatStream(['The sky ', 'is blue.']))),
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
  await using host = await startHeadlessHost({ endpoints: [`scripted=${provider.baseAddress}`] });
  await page.goto(host.windowUrl);
  await page.goto(`${host.address}/#/settings/api-keys`);
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('claims-bot');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByText(/^ts_/).first().textContent()) ?? '';

  await page.goto(`${host.address}/#/recorder`);
  await expect(page.getByText('Waiting for the first call')).toBeVisible();
  const response = await fetch(`${host.address}/openai/scripted/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.trim()}`,
      'content-type': 'application/json',
      'user-agent': 'claims-bot/1.0',
    },
    body: JSON.stringify({
      model: 'scripted',
      stream: true,
      messages: [{ role: 'user', content: 'Which colour has the sky, in {{braces}}?' }],
    }),
  });
  await response.text();

  await expect(page.getByText(/Received a call from claims-bot/)).toBeVisible();
  const detail = page.getByRole('region', { name: 'One call' });
  await expect(detail).toContainText('Which colour has the sky, in {{braces}}?');
  await expect(detail).toContainText('The sky is blue.');

  await detail.getByRole('button', { name: 'Save as prompt' }).click();
  await expect(page.getByRole('dialog', { name: 'Save as prompt' })).toBeVisible();
});
