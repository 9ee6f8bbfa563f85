import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Page } from '@playwright/test';
import { windowHeaders } from '../../../electron/server/window-content.ts';
import type { HostState } from '../../../shared/contract/settings.ts';
import { callHost, desktopParameters, expect, test, type Desktop } from '../../support/electron.ts';

let desktop: Desktop;
let dataDirectory: string;

test.beforeEach(async ({ launch, folder }) => {
  dataDirectory = join(folder, 'data');
  desktop = await launch({ dataDirectory });
});

/** Runs a text as a script of the page itself: what Playwright evaluates is exempt from the page's policy. */
async function addScript(page: Page, text: string): Promise<void> {
  await page.evaluate((code) => {
    const script = document.createElement('script');
    script.textContent = code;
    document.head.append(script);
  }, text);
}

/** Collects what the page's policy refuses from now on. */
async function watchRejections(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const rejected: string[] = [];
    Object.assign(window, { rejected });
    document.addEventListener('securitypolicyviolation', (event) =>
      rejected.push(`${event.effectiveDirective} ${event.blockedURI}`),
    );
  });
  return () => page.evaluate(() => (window as unknown as { rejected: string[] }).rejected);
}

test('the window can access only its own files and the host', async ({ openedOutside }) => {
  await test.step('has nothing of Node or Electron', async () => {
    const found = await desktop.page.evaluate(() => ({
      names: ['require', 'process', 'module', 'Buffer', 'global', '__dirname', 'electron', 'ipcRenderer'].filter(
        (name) => name in window,
      ),
      bridge: Object.keys((window as unknown as { touchstone: object }).touchstone),
      isIsolated: window.location.origin,
    }));
    expect(found).toEqual({ names: [], bridge: ['requestPort'], isIsolated: 'app://touchstone' });
    const preferences = await desktop.app.evaluate(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]!.webContents as unknown as {
        getLastWebPreferences(): {
          sandbox: boolean;
          contextIsolation: boolean;
          nodeIntegration: boolean;
          webviewTag: boolean;
        };
      };
      const { sandbox, contextIsolation, nodeIntegration, webviewTag } = contents.getLastWebPreferences();
      return { sandbox, contextIsolation, nodeIntegration, webviewTag };
    });
    expect(preferences).toEqual({ sandbox: true, contextIsolation: true, nodeIntegration: false, webviewTag: false });
  });

  await test.step('blocks foreign scripts, frames, and every other address by its policy', async () => {
    const { page } = desktop;
    const rejections = await watchRejections(page);
    await addScript(page, 'window.inlineRan = true');
    await page.evaluate(() => {
      // A text is what `eval` is; it runs outside of Playwright's exemption.
      setTimeout('window.textRan = true' as unknown as () => void);
      for (const [tag, attributes] of [
        ['script', { src: 'https://127.0.0.1:9/x.js' }],
        ['img', { src: 'https://127.0.0.1:9/x.png' }],
        ['iframe', { src: 'https://127.0.0.1:9/' }],
        ['object', { data: 'https://127.0.0.1:9/x.swf' }],
      ] as const) {
        document.body.append(Object.assign(document.createElement(tag), attributes));
      }
    });
    const fetched = await page.evaluate(() =>
      fetch('https://127.0.0.1:9/').then(
        () => 'answered',
        () => 'refused',
      ),
    );
    await expect
      .poll(async () => (await rejections()).map((line) => line.split(' ')[0]).toSorted())
      .toEqual([
        'connect-src',
        'frame-src',
        'img-src',
        'object-src',
        'script-src',
        'script-src-elem',
        'script-src-elem',
      ]);
    const ran = await page.evaluate(() => Object.keys(window).filter((name) => name.endsWith('Ran')));
    expect({ fetched, ran }).toEqual({ fetched: 'refused', ran: [] });
  });

  await test.step("can't be navigated away; web addresses open in the browser", async () => {
    const { page, app } = desktop;
    const opened = await page.evaluate(() =>
      [
        'https://example.com/a',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'app://touchstone/',
        'data:text/html,x',
      ].map((address) => window.open(address) === null),
    );
    expect(opened).toEqual([true, true, true, true, true]);
    for (const address of ['https://example.com/b?c=d', 'file:///etc/passwd', 'data:text/html,x']) {
      await page.evaluate((target) => void (window.location.href = target), address);
    }
    // Each address starts a program of the system, and these end in any order.
    await expect.poll(() => openedOutside().toSorted()).toEqual(['https://example.com/a', 'https://example.com/b?c=d']);
    expect(
      await app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows().map((window) => window.webContents.getURL()),
      ),
    ).toEqual([expect.stringMatching(/^app:\/\/touchstone\//)]);
  });

  await test.step('denies permissions without a prompt, except for the clipboard', async () => {
    const states = await desktop.page.evaluate(async () => {
      const names = [
        'geolocation',
        'camera',
        'microphone',
        'notifications',
        'clipboard-read',
        'clipboard-write',
      ] as PermissionName[];
      return Promise.all(names.map(async (name) => [name, (await navigator.permissions.query({ name })).state]));
    });
    expect(states).toEqual([
      ['geolocation', 'denied'],
      ['camera', 'denied'],
      ['microphone', 'denied'],
      ['notifications', 'denied'],
      ['clipboard-read', 'granted'],
      ['clipboard-write', 'granted'],
    ]);
  });

  await test.step("doesn't serve files outside the built window", async () => {
    const statuses = await desktop.page.evaluate(async () =>
      Promise.all(
        ['/', '/../host/main.js', '/%2e%2e/host/main.js', '/assets/..%2f..%2fhost%2fmain.js', '/package.json'].map(
          async (path) => [path, (await fetch(path)).status],
        ),
      ),
    );
    expect(statuses).toEqual([
      ['/', 200],
      ['/../host/main.js', 404],
      ['/%2e%2e/host/main.js', 404],
      ['/assets/..%2f..%2fhost%2fmain.js', 404],
      ['/package.json', 404],
    ]);
  });

  await test.step('sends the headers of the headless host, without the one that would start a second process', async () => {
    const { 'cross-origin-opener-policy': _, ...sent } = windowHeaders;
    const headers = await desktop.page.evaluate(async () => Object.fromEntries((await fetch('/')).headers));
    expect(headers).toEqual({
      ...sent,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
    });
    expect(await desktop.page.evaluate(() => document.characterSet)).toBe('UTF-8');
  });
});

test('a start that is not the first, or that fails, shows the reason', async ({
  electronProgram,
  environment,
  folder,
}) => {
  await test.step('a second start on the same data folder shows the first window instead', async () => {
    await desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.minimize());
    const second = spawn(electronProgram, desktopParameters({ dataDirectory }), {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [reported, exit] = await Promise.all([readText(second.stderr), once(second, 'exit')]);
    expect({ reported, exit }).toEqual({
      reported: expect.stringContaining('already open with this data folder'),
      exit: [0, null],
    });
    const windows = () =>
      desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.isMinimized()));
    await expect.poll(windows).toEqual([false]);
  });

  await test.step('an invalid option ends the start and lists the valid ones', async () => {
    const parameters = desktopParameters({ dataDirectory, parameters: ['--endpoint', 'local'] });
    const other = spawn(electronProgram, parameters, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
    const [reported, exit] = await Promise.all([readText(other.stderr), once(other, 'exit')]);
    expect({ reported, exit }).toEqual({
      reported: expect.stringContaining('--endpoint must be NAME=URL'),
      exit: [2, null],
    });
  });

  await test.step('reports an unusable data folder with the fix', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const parameters = desktopParameters({ dataDirectory: join(file, 'data') });
    const other = spawn(electronProgram, parameters, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
    let reported = '';
    other.stderr.on('data', (text: Buffer) => (reported += text.toString()));
    await expect.poll(() => reported).toContain('Choose another one with --data-dir.');
    // A box of the system waits for somebody to read it.
    const exit = once(other, 'exit');
    other.kill('SIGKILL');
    await exit;
  });
});

test("restores the window's position and the selected theme", async ({ launch }) => {
  await callHost(desktop.page, 'PATCH', '/window/settings', { appearance: { theme: 'dark' } });
  const bounds = { x: 120, y: 90, width: 1100, height: 750 };
  await desktop.app.evaluate(
    ({ BrowserWindow }, expected) => BrowserWindow.getAllWindows()[0]!.setBounds(expected),
    bounds,
  );
  const stateOf = ({ app }: Desktop) =>
    app.evaluate(({ BrowserWindow, nativeTheme }) => ({
      bounds: BrowserWindow.getAllWindows()[0]!.getBounds(),
      theme: nativeTheme.themeSource,
    }));
  // The display moves a window in its own time.
  await expect.poll(() => stateOf(desktop)).toEqual({ bounds, theme: 'dark' });
  await desktop.quit();
  const again = await launch({ dataDirectory });
  await expect.poll(() => stateOf(again)).toEqual({ bounds, theme: 'dark' });
  await expect.poll(() => again.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
});

test('reloads a window whose process ends', async () => {
  const { app, page } = desktop;
  const seen = await app.evaluateHandle(async ({ BrowserWindow, dialog }) => {
    const events: string[] = [];
    const contents = BrowserWindow.getAllWindows()[0]!.webContents;
    // What is drawn already may still be loading, whose end would be taken for the second one.
    if (contents.isLoading()) await new Promise<void>((resolve) => contents.once('did-stop-loading', resolve));
    dialog.showMessageBox = ((_window: unknown, { message }: { message: string }) => {
      events.push(message);
      return Promise.resolve({ response: 0, checkboxChecked: false });
    }) as typeof dialog.showMessageBox;
    contents.on('did-finish-load', () => events.push('loaded'));
    return events;
  });
  const crashed = page.waitForEvent('crash');
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.webContents.forcefullyCrashRenderer());
  await crashed;
  await expect.poll(() => seen.jsonValue()).toEqual(['The window crashed and was reloaded.', 'loaded']);
});

test("the local server and the system's dialogs open only on request", async () => {
  await test.step('the local server is off until it is enabled, and never serves window endpoints', async () => {
    const { page } = desktop;
    const address = async () => ((await callHost(page, 'GET', '/window/host')) as HostState).serverAddress;
    expect(await address()).toBeNull();
    await callHost(page, 'PATCH', '/window/settings', { localServer: { isEnabled: true, port: 0, isTls: false } });
    await expect.poll(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const base = await address();
    const statuses = await Promise.all(
      ['/openapi.json', '/conversations', '/window/host', '/window/settings', '/'].map(
        async (path) => (await fetch(base + path)).status,
      ),
    );
    expect(statuses).toEqual([200, expect.any(Number), 404, 404, 404]);
    await callHost(page, 'PATCH', '/window/settings', { localServer: { isEnabled: false, port: 0, isTls: false } });
    await expect.poll(address).toBeNull();
    await expect(fetch(`${base}/openapi.json`)).rejects.toThrow();
  });

  await test.step("uses the system's own dialogs for a model file and the data folder", async () => {
    const { app, page } = desktop;
    const requested = await app.evaluateHandle(({ dialog, shell }) => {
      const calls: string[] = [];
      const answers = [['/models/a.gguf'], []];
      dialog.showOpenDialog = (() => {
        calls.push('dialog');
        return Promise.resolve({ canceled: false, filePaths: answers.shift() ?? [] });
      }) as typeof dialog.showOpenDialog;
      shell.openPath = (path) => {
        calls.push(path);
        return Promise.resolve('');
      };
      return calls;
    });
    const chosen = [
      await callHost(page, 'POST', '/window/desktop/model-file'),
      await callHost(page, 'POST', '/window/desktop/model-file'),
      await callHost(page, 'POST', '/window/desktop/data-folder'),
    ];
    expect(chosen).toEqual([{ path: '/models/a.gguf' }, { path: null }, null]);
    expect(await requested.jsonValue()).toEqual(['dialog', 'dialog', dataDirectory]);
  });
});
