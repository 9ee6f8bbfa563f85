import { startScriptedProvider, type ScriptedCall, type ScriptedProvider } from '../../support/scripted-provider.ts';
import { expect, fetchInPage, test as served } from '../../support/served-window.ts';
import { auditPage } from './audit-page.ts';
import { typeInto } from './type-into.ts';

const model = 'replayer';
const answer = 'It is mended free of charge.';

const test = served.extend<{ provider: ScriptedProvider }>({
  provider: async ({}, use) => {
    await using provider = await startScriptedProvider((call: ScriptedCall) => {
      if (call.method === 'GET') return call.models([model]);
      return call.body['stream'] === true ? call.chatStream([answer]) : call.chatAnswer({ content: answer });
    });
    await use(provider);
  },
  hostOptions: async ({ provider }, use) => use(['--endpoint', `mill=${provider.baseAddress}`]),
});

test('replays selected runs on another model, and shows before and after side by side', async ({
  page,
  served: { address },
}) => {
  const audit = auditPage(page);
  // The endpoint's own list of models comes a moment after the host has started.
  await expect.poll(async () => (await fetchInPage(page, 'GET', '/window/models')).text).toContain(model);
  await page.goto(`${address}/#/audit`);
  await page.reload();
  await page.getByRole('button', { name: 'Load sample data' }).click();
  await audit.settled();
  await audit.list.focus();
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(audit.count).toHaveText('2 selected');
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: 'Replay 2 selected runs' });
  await dialog.getByRole('button', { name: /^Model/ }).click();
  await typeInto(page.getByPlaceholder('Search models'), model);
  await page.getByRole('option', { name: model }).click();
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page).toHaveURL(/#\/audit\/replays\/[\da-f-]{36}$/);
  await expect(page.getByText('2 of 2', { exact: true })).toBeVisible();
  const after = page.getByRole('region', { name: 'After', exact: true });
  await expect(after).toContainText(answer);
  await expect(after.locator('ins').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Before', exact: true }).locator('del').first()).toBeVisible();
  await page.getByRole('listbox', { name: 'Replayed runs' }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(after).toContainText(answer);
  await page.getByRole('switch', { name: 'Highlight changes' }).click();
  await expect(after.locator('ins')).toHaveCount(0);
  await page.getByRole('button', { name: 'Conversations' }).click();
  await expect(audit.list).toBeVisible();
});
