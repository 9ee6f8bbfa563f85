import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test as base, type Page } from '@playwright/test';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { sessionHeaders } from '../../support/served-window.ts';
import { startHeadlessHost, type HeadlessHost } from './playground-host.ts';
import { typeInto } from './type-into.ts';

/** A registry that sends each package a byte at a time: the download stays under way for as long as the test looks. */
class WaitingRegistry {
  readonly ranges: (string | undefined)[] = [];
  readonly #open = new Set<ServerResponse>();
  /** One that sends nothing is given up after a while. */
  readonly #pulse = setInterval(() => this.#open.forEach((response) => response.write('.')), 1_000);
  status = 200;
  #server = createServer((request, response) => {
    this.ranges.push(request.headers.range);
    if (this.status !== 200) return void response.writeHead(this.status).end();
    const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const bytes = 160_000_000;
    const range = { 'content-range': `bytes ${start}-${bytes - 1}/${bytes}` };
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': bytes - start, ...(start > 0 && range) });
    response.write(Buffer.alloc(1_000_000));
    this.#open.add(response);
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    clearInterval(this.#pulse);
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const test = base.extend<{ registry: WaitingRegistry; host: HeadlessHost; window: Page }>({
  registry: async ({}, use) => {
    const registry = new WaitingRegistry();
    await use(registry);
    registry.close();
  },
  host: async ({ registry }, use) => {
    const address = await registry.listen();
    await using host = await startHeadlessHost({ environment: { npm_config_registry: address } });
    await use(host);
  },
  window: async ({ page, host }, use) => {
    await page.goto(host.windowUrl);
    await page.getByRole('textbox', { name: 'Prompt, Handlebars' }).waitFor();
    await use(page);
  },
});

test('a first start opens a filled-in example and offers the on-device model with its size', async ({ window }) => {
  await expect(window.getByRole('textbox', { name: 'Prompt, Handlebars' })).toContainText('{{passage}}');
  await expect(window.getByLabel('passage', { exact: true })).toHaveValue(/The workshop is open/);
  await expect(window.getByText('2 of 2 filled')).toBeVisible();
  await expect(window.getByText('322.6 MB').first()).toBeVisible();
  await expect(window.getByText('9ee11adf…2b61add0')).toBeVisible();
  await expect(window.getByRole('button', { name: /Download and run/ })).toBeVisible();
  for (const way of ['Add a key', 'Connect an endpoint', 'Use a GGUF file']) {
    await expect(window.getByRole('button', { name: way })).toBeVisible();
  }
});

test('the download shows its progress, pauses, resumes and stops', async ({ window, registry }) => {
  const card = window.getByRole('group', { name: /^Download of/ });
  await card.getByRole('button', { name: 'Download' }).click();
  await expect(window.getByText('Downloading the on-device model')).toBeVisible();
  await expect(card.getByRole('progressbar')).toBeVisible();
  await expect(card.getByText(/MB of 322\.6 MB/)).toBeVisible();
  await card.getByRole('button', { name: 'Pause' }).click();
  await expect(card.getByText('Paused')).toBeVisible();
  await card.getByRole('button', { name: 'Resume' }).click();
  await expect(card.getByRole('button', { name: 'Pause' })).toBeVisible();
  // The screen resumes before the host asks again.
  await expect.poll(() => registry.ranges.length).toBeGreaterThan(1);
  await card.getByRole('button', { name: 'Stop' }).click();
  await expect(card.getByRole('button', { name: 'Download' })).toBeVisible();
});

test('a failed download shows the reason and can be retried', async ({ window, registry }) => {
  registry.status = 404;
  const card = window.getByRole('group', { name: /^Download of/ });
  await card.getByRole('button', { name: 'Download' }).click();
  await expect(window.getByRole('heading', { name: "Couldn't download the on-device model" })).toBeVisible();
  await expect(card.getByRole('alert')).toContainText('404');
  registry.status = 200;
  await card.getByRole('button', { name: 'Retry' }).click();
  await expect(window.getByText('Downloading the on-device model')).toBeVisible();
});

test('a run that waits for the model downloads it, can be cancelled, and starts when a model is ready', async ({
  window,
  host,
}) => {
  await using provider = await startScriptedProvider((call) =>
    call.path.endsWith('/chat/completions') ? call.chatStream(['From Tuesday to Saturday.']) : call.models(['kestrel']),
  );
  const headers = { origin: host.address, ...(await sessionHeaders(window)) };
  const data = { name: 'workshop', baseAddress: provider.baseAddress };
  await window.request.post(`${host.address}/window/endpoints`, { headers, data });
  await window.request.post(`${host.address}/window/endpoints/workshop/test`, { headers });
  await window.reload();

  await window.getByRole('button', { name: /Download and run/ }).click();
  await expect(window.getByText('Queued until the model is ready')).toBeVisible();
  await expect(window.getByText('Downloading the on-device model')).toBeVisible();
  await window.keyboard.press('Escape');
  await expect(window.getByRole('button', { name: /Download and run/ })).toBeVisible();
  await window.keyboard.press('Control+Enter');
  await expect(window.getByText('Queued until the model is ready')).toBeVisible();

  await window.evaluate(() => (location.hash = '#/settings/service-models'));
  await window.getByRole('button', { name: 'Route of hl-gpt-4.1-mini' }).click();
  await typeInto(window.getByPlaceholder('Search models'), 'kestrel');
  await expect(window.getByRole('option', { name: /kestrel/ })).toBeVisible();
  await window.keyboard.press('Enter');
  await window.evaluate(() => (location.hash = '#/playground'));
  // The list of runs and the variable's text have these words too.
  await expect(window.getByTestId('answer').getByText('From Tuesday to Saturday.')).toBeVisible();
});

test('the alternatives lead to the settings', async ({ window }) => {
  for (const [way, address] of [
    ['Add a key', /settings\/providers/],
    ['Connect an endpoint', /settings\/endpoints/],
    ['Use a GGUF file', /settings\/on-device/],
  ] as const) {
    await window.getByRole('button', { name: way }).click();
    await expect(window).toHaveURL(address);
    // Playwright's own may ask Chromium before that has the new address, and then goes nowhere.
    await window.evaluate(() => history.back());
  }
});
