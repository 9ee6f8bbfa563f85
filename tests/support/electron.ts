import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { _electron, test as base, type ElectronApplication, type Page } from '@playwright/test';
import { electronForTests } from '../../scripts/electron-runtime.mjs';
import { keyringCommand } from './keyring.ts';
import { makePatient } from './patient-page.ts';

const root = join(import.meta.dirname, '../..');
const holdStart = join(import.meta.dirname, 'hold-start.cjs');
const recordConnections = join(import.meta.dirname, 'record-connections.cjs');

export interface Desktop {
  readonly app: ElectronApplication;
  readonly page: Page;
  /** What it has written to its terminal so far. */
  readonly output: () => string;
  /** Quits as the menu does and resolves when the process has ended. */
  quit(): Promise<void>;
}

export interface LaunchOptions {
  readonly dataDirectory: string;
  readonly parameters?: readonly string[];
}

/** Fixtures that every kind of desktop test has. */
interface SessionFixtures {
  /** The environment with a display, and with a home and an unlocked keyring of this test alone. */
  readonly environment: Record<string, string>;
  /** A folder of this test alone, for data folders and the like. */
  readonly folder: string;
  /** The addresses that were given to the system's browser, oldest first. */
  readonly openedOutside: () => string[];
}

interface DisplayFixtures {
  /** An X display of this worker's own. */
  readonly display: string;
}

/** Rejects when the program ends instead: whoever waits for a line of it would wait for ever. */
async function firstLine(child: ChildProcess, descriptor: number): Promise<string> {
  const written = once(child.stdio[descriptor] as NodeJS.ReadableStream, 'data').then(([line]) => String(line).trim());
  const ended = once(child, 'exit').then(([status]): never => {
    throw new Error(`${child.spawnfile} ended with status ${String(status)} before it said anything.`);
  });
  ended.catch(() => {});
  return Promise.race([written, ended]);
}

/** The programs of a session and of Chromium end a moment after the one that started them, and may write until then. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}

/** Stands in for the system's way to open an address, which would start a browser. */
function writeRecordingOpener(folder: string): void {
  const program = join(folder, 'bin/xdg-open');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$1" >> '${join(folder, 'opened')}'\n`);
  chmodSync(program, 0o755);
}

/** Playwright's own 30 seconds pass on a machine that is busy with other things, such as creating the package. In milliseconds. */
const startTimeout = 120_000;

/**
 * Evaluates once more what V8 collected the result's promise of, before Playwright had it: its inspector holds that promise only weakly
 * (microsoft/playwright#33737). What tests evaluate in the main process may happen twice.
 */
function evaluateAgainIfCollected(app: ElectronApplication): void {
  const evaluate = app.evaluate.bind(app) as (...given: readonly unknown[]) => Promise<unknown>;
  const retried = async (...given: readonly unknown[]): Promise<unknown> => {
    try {
      return await evaluate(...given);
    } catch (error) {
      if (!String(error).includes('promise was garbage collected')) throw error;
      return evaluate(...given);
    }
  };
  app.evaluate = retried as ElectronApplication['evaluate'];
}

/** Chromium does not start its sandbox as root, which is what a container runs as. */
const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

/** The command line of Touchstone, without the program and without the folder that a development build is loaded from. */
export function packageParameters({ dataDirectory, parameters = [] }: LaunchOptions): string[] {
  return [...sandbox, '--data-dir', dataDirectory, ...parameters];
}

/** The command line of a development build, for Playwright and for a process of its own alike. */
export function desktopParameters(options: LaunchOptions): string[] {
  return [root, ...packageParameters(options)];
}

export const sessionTest = base.extend<SessionFixtures, DisplayFixtures>({
  display: [
    async ({}, use) => {
      // Without `-noreset` it starts anew when its last program ends, and rejects one that starts in that moment.
      const options = ['-screen', '0', '1600x1000x24', '-nolisten', 'tcp', '-noreset'];
      const xvfb = spawn('Xvfb', ['-displayfd', '3', ...options], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
      await use(`:${await firstLine(xvfb, 3)}`);
      xvfb.kill();
      await once(xvfb, 'exit');
    },
    { scope: 'worker' },
  ],

  environment: async ({ display }, use) => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-session-'));
    const session = ['sh', '-c', 'echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat'];
    const [program, ...parameters] = keyringCommand(session, { keyring: 'unlocked', keyringDirectory: home });
    const keyring = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'ignore'] });
    const { ELECTRON_RUN_AS_NODE: _, NODE_OPTIONS: _options, ...inherited } = process.env as Record<string, string>;
    await use({
      ...inherited,
      DISPLAY: display,
      DBUS_SESSION_BUS_ADDRESS: await firstLine(keyring, 1),
      HOME: home,
      XDG_RUNTIME_DIR: join(home, 'runtime'),
    });
    // The session ends with the program in it, and that with its input.
    keyring.stdin.end();
    await once(keyring, 'exit');
    removeFolder(home);
  },

  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-desktop-'));
    writeRecordingOpener(folder);
    await use(folder);
    removeFolder(folder);
  },

  openedOutside: async ({ folder }, use) => {
    const file = join(folder, 'opened');
    await use(() => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []));
  },
});

interface DesktopFixtures {
  /** Starts Touchstone; whatever is still running at the end of the test is ended. */
  readonly launch: (options: LaunchOptions) => Promise<Desktop>;
}

export const test = sessionTest.extend<DesktopFixtures, { readonly electronProgram: string }>({
  electronProgram: [
    async ({}, use) => {
      await use(join(await electronForTests(), 'electron'));
    },
    { scope: 'worker', timeout: 180_000 },
  ],

  launch: async ({ electronProgram, environment, folder }, use) => {
    const running = new Set<ElectronApplication>();
    await use(async (options) => {
      const env = { ...environment, PATH: `${join(folder, 'bin')}:${environment['PATH']}` };
      const app = await _electron.launch({
        executablePath: electronProgram,
        args: ['-r', recordConnections, '-r', holdStart, ...desktopParameters(options)],
        env,
        // Playwright would otherwise tell the window that the system is light.
        colorScheme: null,
        timeout: startTimeout,
      });
      evaluateAgainIfCollected(app);
      running.add(app);
      let output = '';
      app.process().stderr?.on('data', (text: Buffer) => (output += text.toString()));
      await app.evaluate(() => (globalThis as unknown as { startTouchstone(): void }).startTouchstone());
      const page = await app.firstWindow({ timeout: startTimeout }).catch(async (error: Error) => {
        const windows = await app.evaluate(({ BrowserWindow }) =>
          BrowserWindow.getAllWindows().map(({ webContents }) => [webContents.getURL(), webContents.isLoading()]),
        );
        throw new Error(`${error.message} Its windows: ${JSON.stringify(windows)} It said: ${output}`, {
          cause: error,
        });
      });
      // From here on the window has its own port: one that a test asks for cannot be taken for it. What the file of the page shows until
      // then is hidden from assistive technology.
      await page.locator('#window > :not([aria-hidden])').first().waitFor({ state: 'attached' });
      await makePatient(page);
      return {
        app,
        page,
        output: () => output,
        async quit() {
          running.delete(app);
          await app.close();
        },
      };
    });
    for (const app of running) await app.close();
  },
});

/**
 * Asks the host on a port of its own, beside the window's: tells what the host knows, whatever the screens show. Resolves with
 * the JSON of the answer, and with null for an empty one.
 */
export function callHost(
  page: Page,
  method: 'GET' | 'PATCH' | 'POST' | 'PUT',
  path: string,
  body: unknown = null,
  more: Record<string, string> = {},
): Promise<unknown> {
  return page.evaluate(
    async ([verb, target, text, added]) => {
      const port = await new Promise<MessagePort>((resolve) => {
        const take = (event: MessageEvent): void => {
          if (event.data.name !== 'touchstone:port') return;
          window.removeEventListener('message', take);
          // Calls at the same time each get a port of their own.
          event.stopImmediatePropagation();
          resolve(event.ports[0]!);
        };
        window.addEventListener('message', take);
        (window as unknown as { touchstone: { requestPort(): void } }).touchstone.requestPort();
      });
      const decoder = new TextDecoder();
      let answer = '';
      await new Promise<void>((resolve) => {
        port.addEventListener('message', ({ data }) => {
          for (const { bytes } of data.type === 'chunks' ? data.chunks : [])
            answer += decoder.decode(bytes, { stream: true });
          if (data.type === 'end') resolve();
        });
        port.start();
        const headers = [['content-type', 'application/json'], ...Object.entries(added)];
        port.postMessage({ type: 'request', id: 1, method: verb, path: target, headers, body: text });
      });
      port.close();
      return answer === '' ? null : (JSON.parse(answer) as unknown);
    },
    [method, path, body === null ? null : JSON.stringify(body), more] as const,
  );
}

export { expect } from '@playwright/test';
