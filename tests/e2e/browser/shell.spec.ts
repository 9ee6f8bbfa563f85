import { expect, test } from '../../support/served-window.ts';
import { typeInto } from './type-into.ts';

test('every object and every page has an address that opens it', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/local-server`);
  await expect(page.getByRole('heading', { name: 'Local server', level: 2 })).toBeVisible();
  await expect(page.getByText(served.address, { exact: true })).toBeVisible();
  await page.goto(`${served.address}/#/nowhere`);
  await expect(page.getByText('Page not found')).toBeVisible();
  await page.getByRole('button', { name: 'Open the playground' }).click();
  await expect(page).toHaveURL(/#\/playground/);
});

test('the window opens on its last screen', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/data`);
  await expect(page.getByRole('heading', { name: 'Data and backup', level: 2 })).toBeVisible();
  const second = await page.context().newPage();
  await second.goto(served.address);
  await expect(second.getByRole('heading', { name: 'Data and backup', level: 2 })).toBeVisible();
});

test('a panel that was sized with the keyboard keeps its size', async ({ page, served }) => {
  await page.goto(`${served.address}/#/playground`);
  const handle = page.getByRole('separator', { name: 'Width of the prompt' });
  const left = async () => (await handle.boundingBox())?.x ?? 0;
  let position = await left();
  await handle.focus();
  for (let step = 0; step < 3; step += 1) {
    const before = position;
    await page.keyboard.press('ArrowRight');
    await expect.poll(left).toBeGreaterThan(before + 6);
    position = await left();
  }
  await page.reload();
  await expect.poll(left).toBeCloseTo(position, 0);
});

test('shortcuts switch screens, and the list of shortcuts includes them', async ({ page, served }) => {
  await page.goto(`${served.address}/#/playground`);
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await page.keyboard.press('Control+,');
  await expect(page).toHaveURL(/#\/settings/);
  await page.getByRole('heading', { name: 'Providers and keys', level: 2 }).click();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(keys.getByText('Search or run a command')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(keys).toBeHidden();
  await page.keyboard.press('Control+1');
  await expect(page).toHaveURL(/#\/playground/);
});

test('the palette finds pages, models and commands by name, and restores the focus', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/providers`);
  const add = page.getByRole('group', { name: 'Groq' }).getByRole('button', { name: 'Add key' });
  await add.focus();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search or run a command' });
  await typeInto(palette.getByRole('combobox'), 'gpt-4o-mini openai');
  await expect(palette.getByRole('option', { name: /gpt-4o-mini/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(add).toBeFocused();
  await page.keyboard.press('Control+k');
  await typeInto(palette.getByRole('combobox'), 'backup');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Data and backup', level: 2 })).toBeVisible();
});

test('the selected theme applies before the window loads', async ({ page, served }) => {
  await page.goto(`${served.address}/#/settings/appearance`);
  await page.getByRole('radio', { name: 'Dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.route(/assets\/index-.*\.js$/, (route) => route.abort());
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(page.getByRole('navigation')).toHaveCount(0);
});

test('the window needs nothing that its content security policy blocks', async ({ page, served, pageProblems }) => {
  for (const position of ['playground', 'settings/service-models', 'settings/api-keys', 'settings/on-device']) {
    await page.goto(`${served.address}/#/${position}`);
    await expect(page.getByRole('main')).not.toBeEmpty();
  }
  await page.goto(`${served.address}/#/settings/service-models`);
  await page.getByRole('button', { name: /^Route of hl-gpt-4o-mini/ }).click();
  await expect(page.getByPlaceholder('Search models')).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(pageProblems).toEqual([]);
});

for (const { width, height } of [
  { width: 980, height: 700 },
  { width: 1680, height: 1000 },
]) {
  test(`at ${width} by ${height} panels scroll, but not the window`, async ({ page, served }) => {
    await page.setViewportSize({ width, height });
    for (const position of ['settings/providers', 'settings/api-keys', 'settings/on-device', 'settings/local-server']) {
      await page.goto(`${served.address}/#/${position}`);
      await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
      // The place before it may still be drawn: what is measured must be the page that was asked for.
      const excess = () =>
        page.locator('.settings__page').evaluate((content) => {
          const page_ = document.documentElement;
          return [
            page_.scrollWidth - innerWidth,
            page_.scrollHeight - innerHeight,
            content.scrollWidth - content.clientWidth,
          ];
        });
      await expect.poll(excess).toEqual([0, 0, 0]);
    }
  });
}

test("a browser that isn't signed in shows how to sign in", async ({ browser, served }) => {
  const stranger = await browser.newPage();
  await stranger.goto(served.address);
  await expect(stranger.locator('body')).toContainText(/address/i);
  await expect(stranger.getByRole('navigation', { name: 'Screens' })).toHaveCount(0);
  await stranger.close();
});

test('a computer without a network keeps the window working: the host is local', async ({ page, served }) => {
  await page.goto(`${served.address}/#/playground`);
  await page.evaluate(() => globalThis.dispatchEvent(new Event('offline')));
  await page.goto(`${served.address}/#/moderation`);
  await expect(page.getByText('Batch', { exact: true })).toBeVisible();
  await page.goto(`${served.address}/#/knowledge`);
  await page.getByRole('button', { name: 'Create dataspace' }).first().click();
  await typeInto(page.getByLabel('Dataspace name'), 'Written on a train');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('option', { name: /^Written on a train/ })).toBeVisible();
});
