import { startListingProvider } from '../../support/listing-provider.ts';
import { expect, test } from '../../support/served-window.ts';
import { wordsInFiles } from '../../support/words-in-files.ts';
import { typeInto } from './type-into.ts';

test('sets, tests, replaces and removes a key, which is in no response and in no file', async ({ page, served }) => {
  await using provider = await startListingProvider('sk-good-one', ['gpt-4o', 'gpt-4o-mini']);
  const answers: Promise<string>[] = [];
  page.on('response', (response) => {
    const isEndless = response.url().endsWith('/events');
    if (response.url().includes('/window/') && !isEndless) answers.push(response.text().catch(() => ''));
  });
  await page.goto(`${served.address}/#/settings/providers`);
  const openAi = page.getByRole('group', { name: 'OpenAI' });
  await openAi.getByRole('button', { name: 'Base URL of OpenAI' }).click();
  await openAi.getByRole('textbox').fill(provider.baseAddress);
  await page.keyboard.press('Enter');
  await expect(openAi.getByRole('textbox')).toBeHidden();
  const key = page.getByLabel('API key of OpenAI');
  await openAi.getByRole('button', { name: 'Add key' }).click();
  await typeInto(key, 'sk-bad-one');
  await page.keyboard.press('Enter');
  await expect(openAi.getByText('Rejected', { exact: true })).toBeVisible();
  await openAi.getByRole('button', { name: 'Replace' }).click();
  await typeInto(key, 'sk-good-one');
  await page.keyboard.press('Enter');
  await expect(openAi.getByText('Key set', { exact: true })).toBeVisible();
  await expect(openAi.getByText(/2 models/)).toBeVisible();
  // The state comes with an event, perhaps before the response that closes the form.
  await expect(openAi.getByRole('button', { name: 'Save and test' })).toBeHidden();
  expect(await page.content()).not.toMatch(/sk-(good|bad)-one/);
  expect((await Promise.all(answers)).join('')).not.toMatch(/sk-(good|bad)-one/);
  expect(await wordsInFiles(served.dataDirectory, ['sk-good-one', 'sk-bad-one'])).toEqual([]);
  await openAi.getByRole('button', { name: 'Remove API key of OpenAI' }).click();
  await page.getByRole('button', { name: 'Remove key' }).click();
  await expect(openAi.getByText('No key', { exact: true })).toBeVisible();
});

test('a created key gives access to the API until it is revoked', async ({ page, served, request }) => {
  const statusWith = async (key: string) =>
    (
      await request.post(`${served.address}/api/completions/sync`, {
        headers: { authorization: `Bearer ${key}` },
        data: {},
      })
    ).status();
  await page.goto(`${served.address}/#/settings/api-keys`);
  await page.getByRole('button', { name: 'Create API key' }).click();
  await typeInto(page.getByRole('main').getByRole('textbox', { name: 'Name', exact: true }), 'nightly-report');
  await page.keyboard.press('Enter');
  const key = (await page.getByText(/^ts_/).textContent()) ?? '';
  expect(await statusWith(key)).toBe(400);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke nightly-report' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('Show 1 revoked')).toBeVisible();
  expect(await statusWith(key)).toBe(401);
});

test('a changed setting survives a reload of the window', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/providers`);
  const limit = page.getByLabel('Seconds until the first byte');
  await limit.fill('75');
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.keyboard.press('Enter');
  await saved;
  await page.reload();
  await expect(limit).toHaveValue('75');
});

test('creates a backup and schedules it for the next start', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/data`);
  await page.getByRole('button', { name: 'Back up now' }).click();
  await page.getByRole('button', { name: /^Restore / }).click();
  await page.getByRole('button', { name: 'Restore at next start' }).click();
  await expect(page.getByText(/will be restored at the next start/)).toBeVisible();
});

test('Tab reaches everything on the providers page in reading order', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/providers`);
  const groq = page.getByRole('group', { name: 'Groq' });
  await groq.getByRole('button', { name: 'Add key' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('API key of Groq')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(groq.getByRole('button', { name: 'Add key' })).toBeFocused();
  await page.getByRole('group', { name: 'OpenAI' }).getByRole('button', { name: 'Add key' }).focus();
  const seen: string[] = [];
  for (let stop = 0; stop < 4; stop += 1) {
    await page.keyboard.press('Tab');
    seen.push(
      await page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
      ),
    );
  }
  expect(seen).toEqual(['Base URL of OpenAI', 'Add key', 'Base URL of Anthropic', 'Add key']);
});

test('a change in one window appears in another automatically', async ({ page, served }) => {
  const second = await page.context().newPage();
  await second.goto(`${served.address}/#/settings/on-device`);
  await expect(second.getByRole('group', { name: /TinyLlama/ })).toBeVisible();
  await page.goto(`${served.address}/#/settings/on-device`);
  await page.getByLabel('GGUF file path or hf: address').fill('hf:nordwind/kestrel-1b-gguf:Q4_K_M');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Added to the list above')).toBeVisible();
  await expect(second.getByRole('group', { name: /kestrel/ })).toBeVisible();
});
