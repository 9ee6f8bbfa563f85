import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { test as base, type Page } from '@playwright/test';
import { sessionHeader, sessionStorageKey } from '../../shared/window-socket.ts';
import { hostEnvironment } from './host-environment.ts';
import { makePatient } from './patient-page.ts';

const entry = join(import.meta.dirname, '../../out/host/serve.js');

export interface ServedWindow {
  /** Of the API: `http://127.0.0.1:40123`. */
  readonly address: string;
  /** Signs one browser in, once. */
  readonly windowUrl: string;
  readonly dataDirectory: string;
  /** Ends the host; what it kept and its port stay for the next one. */
  stop(): Promise<void>;
  /** Starts it again, and resolves with the address that lets a browser in. */
  startAgain(): Promise<string>;
}

/** Without the keychain of the person who runs the tests. */
const environment = { ...hostEnvironment, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`The host ended with status ${String(status)} before it listened.`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => {});
  return line;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Starts the headless host on a free port; it serves the built window. */
async function serve(
  dataDirectory: string,
  options: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<ServedWindow> {
  let child: ChildProcess;
  async function start(port: string): Promise<Pick<ServedWindow, 'address' | 'windowUrl'>> {
    const parameters = [entry, '--json', '--port', port, '--data-dir', dataDirectory, ...options];
    child = spawn(process.execPath, parameters, {
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(await firstLine(child)) as Pick<ServedWindow, 'address' | 'windowUrl'>;
  }
  const first = await start('0');
  return {
    ...first,
    dataDirectory,
    stop: () => end(child),
    async startAgain() {
      const { port } = new URL(first.address);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const again = await start(port).catch(() => null);
        if (again) return again.windowUrl;
        // The system has given the port to somebody else for a moment, maybe to a connection of this browser.
        await delay(500);
      }
      throw new Error(`Port ${port} stays in use.`);
    },
  };
}

interface ServedFixtures {
  /** Further parameters of the host's command line. */
  hostOptions: readonly string[];
  /** Further variables of the host's environment. */
  hostVariables: Readonly<Record<string, string>>;
  /** A headless host of this test's own. */
  served: ServedWindow;
  /** What the page reported: errors that nobody caught, and everything that the content security policy refused. */
  pageProblems: string[];
}

/** Tests of the window in a browser, each on a host of its own, with the page let in already. */
export const test = base.extend<ServedFixtures>({
  hostOptions: [[], { option: true }],
  hostVariables: [{}, { option: true }],
  served: async ({ hostOptions, hostVariables }, use) => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-e2e-'));
    const served = await serve(dataDirectory, hostOptions, hostVariables);
    await use(served);
    await served.stop();
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
  },
  pageProblems: async ({ browserName: _browserName }, use) => {
    await use([]);
  },
  page: async ({ page, served, pageProblems }, use) => {
    page.on('pageerror', (error) => pageProblems.push(String(error)));
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) pageProblems.push(message.text());
    });
    await makePatient(page);
    await page.goto(served.windowUrl);
    // The page that signs in opens the window in its own place, which then adds the address of its screen. Another address before
    // that would be replaced by it.
    await page.waitForURL(({ search, hash }) => search === '' && hash !== '');
    await use(page);
  },
});

/** What the window adds to the cookie, for requests beside it. */
export async function sessionHeaders(page: Page): Promise<Record<string, string>> {
  const secret = await page.evaluate((key) => localStorage.getItem(key), sessionStorageKey);
  return { [sessionHeader]: secret ?? '' };
}

/** A request from inside the page, as the window sends it. */
export async function fetchInPage(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', ...(await sessionHeaders(page)), ...more };
  return page.evaluate(
    async ([where, init]) => {
      const response = await fetch(where, init);
      return { status: response.status, text: await response.text() };
    },
    [path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }] as const,
  );
}

/** The parsed body of a successful request from inside the page; null for an empty one. Throws for every other status. */
export async function callInPage(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<unknown> {
  const { status, text } = await fetchInPage(page, method, path, body, headers);
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
  return text === '' ? null : (JSON.parse(text) as unknown);
}

export { expect } from '@playwright/test';
