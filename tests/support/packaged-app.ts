import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, type Browser, type Page } from '@playwright/test';
import { packageParameters, sessionTest, type LaunchOptions } from './electron.ts';
import { makePatient } from './patient-page.ts';

/** The directory build that `npm run package -- --for-tests` makes. */
export const packageDirectory = join(import.meta.dirname, '../../release/for-tests/linux-unpacked');
export const packagedProgram = join(packageDirectory, 'touchstone');

export interface PackagedApp {
  readonly process: ChildProcess;
  readonly page: Page;
  /** Closes the window, with which the application ends, and resolves when it has. */
  quit(): Promise<void>;
  /** Sends a signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A window takes connections at an address that Chromium writes to the terminal. `failed` rejects when the start fails after that. */
async function debuggerAddress(child: ChildProcess): Promise<{ address: string; failed: Promise<never> }> {
  const lines: string[] = [];
  const reader = createInterface({ input: child.stderr! });
  const failed = new Promise<never>((_resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (line.startsWith("Touchstone couldn't start.")) reject(new Error(line));
    });
    reader.on('close', () => reject(new Error(`The packaged application ended. It wrote:\n${lines.join('\n')}`)));
  });
  failed.catch(() => {});
  const address = new Promise<string>((resolve) => {
    reader.on('line', (line) => {
      const found = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { address: await Promise.race([address, failed]), failed };
}

/**
 * Resolves when the window shows its own page. Playwright waits forever for a page that it finds before its first navigation, which
 * gives it another process. Chromium lists the new address as soon as that navigation starts, and the title only once it has ended.
 */
async function untilPageIsOpen(address: string): Promise<void> {
  const list = new URL('/json/list', address.replace(/^ws:/, 'http:'));
  for (;;) {
    const targets = (await (await fetch(list)).json()) as { type: string; title: string }[];
    if (targets.some(({ type, title }) => type === 'page' && title.endsWith('Touchstone'))) return;
    await delay(50);
  }
}

/** A page that changes its process while Playwright attaches to it can keep it waiting: a later attempt finds the page at rest. */
async function connect(address: string): Promise<Browser> {
  for (const timeout of [10_000, 20_000, 40_000]) {
    const browser = await chromium.connectOverCDP(address, { timeout }).catch(() => null);
    if (browser) return browser;
  }
  return chromium.connectOverCDP(address, { timeout: 80_000 });
}

async function firstPage(browser: Browser): Promise<Page> {
  const [context] = browser.contexts();
  const page = context!.pages()[0] ?? (await context!.waitForEvent('page'));
  // Until then the window has no port of its own, and one that a test asks for could be taken for it.
  await page.locator('#window > :not([aria-hidden])').first().waitFor({ state: 'attached' });
  await makePatient(page);
  return page;
}

/** Until Playwright knows that the application is gone, it fails a test that ends by a trace that it can't write any more. */
async function untilDisconnected(browser: Browser): Promise<void> {
  if (browser.isConnected()) await new Promise((resolve) => browser.once('disconnected', resolve));
}

interface PackageFixtures {
  /** Starts the packaged application; whatever is still running at the end of the test is ended. */
  readonly launch: (options: LaunchOptions & { readonly program?: string }) => Promise<PackagedApp>;
}

/**
 * Tests of the packaged application. Its fuses keep Playwright out of the main process, so the tests reach the window alone, through
 * Chromium's own debugging port. What needs the main process is tested on the development build.
 */
export const test = sessionTest.extend<PackageFixtures>({
  launch: async ({ environment, folder }, use) => {
    const running = new Map<ChildProcess, Promise<void>>();
    await use(async (options) => {
      const child = spawn(
        options.program ?? packagedProgram,
        ['--remote-debugging-port=0', ...packageParameters(options)],
        {
          env: { ...environment, PATH: `${join(folder, 'bin')}:${environment['PATH']}` },
          stdio: ['ignore', 'ignore', 'pipe'],
        },
      );
      const exited = once(child, 'exit');
      running.set(
        child,
        exited.then(() => {}),
      );
      const { address, failed } = await debuggerAddress(child);
      await Promise.race([untilPageIsOpen(address), failed]);
      const browser = await Promise.race([connect(address), failed]);
      const ended = exited.then(() => untilDisconnected(browser));
      running.set(child, ended);
      const page = await firstPage(browser);
      return {
        process: child,
        page,
        async quit() {
          await page.evaluate(() => window.close()).catch(() => {});
          await ended;
        },
        async end(signal) {
          child.kill(signal);
          await ended;
        },
      };
    });
    for (const [child, ended] of running) {
      child.kill('SIGKILL');
      await ended;
    }
  },
});
