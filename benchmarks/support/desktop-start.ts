import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { electronForTests } from '../../scripts/electron-runtime.mjs';
import { root } from '../../scripts/project-node.mjs';
import { endTree, freePort, megabytesOf, treeOf } from './processes.ts';

/** An X display without a screen. */
export async function startDisplay(): Promise<AsyncDisposable & { readonly name: string }> {
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp', '-noreset'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [line] = (await once(xvfb.stdio[3] as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { name: `:${line.toString().trim()}`, [Symbol.asyncDispose]: () => endTree(xvfb) };
}

const emptyMain = `const { app, BrowserWindow } = require('electron');
app.setPath('userData', __dirname + '/data');
app.whenReady().then(() => new BrowserWindow({ width: 1280, height: 800, webPreferences: { sandbox: true } })
  .loadURL('data:text/html,<title>Empty</title><textarea id="usable"></textarea>'));`;

/** What a person can type into, by kind of window. */
const usable = { empty: '#usable', touchstone: '[role="textbox"][aria-label="Prompt, Handlebars"]' } as const;

function parametersOf(kind: keyof typeof usable, folder: string): string[] {
  if (kind === 'touchstone') return [root, '--data-dir', join(folder, 'desktop')];
  const empty = join(folder, 'empty');
  if (!existsSync(empty)) {
    mkdirSync(empty);
    writeFileSync(join(empty, 'package.json'), '{"name":"empty","main":"main.js"}');
    writeFileSync(join(empty, 'main.js'), emptyMain);
  }
  return [empty];
}

async function pageOf(port: number): Promise<string> {
  for (;;) {
    const targets = await fetch(`http://127.0.0.1:${port}/json/list`).then(
      (response) => response.json() as Promise<{ type: string; webSocketDebuggerUrl: string }[]>,
      () => [],
    );
    const page = targets.find(({ type }) => type === 'page');
    if (page) return page.webSocketDebuggerUrl;
    await delay(10);
  }
}

/** Milliseconds since 1970 of the first frame in which the element exists, by the page's clock, and of the end of a key that is pressed then. */
async function frameWith(selector: string, address: string): Promise<{ shown: number; keyTaken: number }> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let id = 0;
  async function send(method: string, params: object): Promise<{ result?: { value?: number } } | undefined> {
    id += 1;
    socket.send(JSON.stringify({ id, method, params }));
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent<string>];
    return (JSON.parse(data) as { result?: { result?: { value?: number } } }).result;
  }
  const expression = `new Promise((resolve) => {
    const check = () => document.querySelector(${JSON.stringify(selector)})
      ? resolve(performance.timeOrigin + performance.now()) : requestAnimationFrame(check);
    check();
  })`;
  for (;;) {
    const evaluated = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    const shown = evaluated?.result?.value;
    // The first document of a window is replaced by its page, which ends what was evaluated in it.
    if (shown !== undefined) {
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Shift', code: 'ShiftLeft' });
      socket.close();
      return { shown, keyTaken: performance.timeOrigin + performance.now() };
    }
    await delay(5);
  }
}

/** A desktop program that a person can use. Disposing of it ends it. */
export interface DesktopStart extends AsyncDisposable {
  readonly usableAfterMs: number;
  /** When the page has taken a key that is pressed as soon as it is usable. */
  readonly keyAfterMs: number;
  /** Of all its processes in MiB; memory that they share counts once. */
  megabytes(): number;
}

/** Starts Touchstone or an empty sandboxed window, both on the same Electron. Chromium has no sandbox as root. */
export async function startDesktop(
  kind: 'empty' | 'touchstone',
  folder: string,
  display: string,
): Promise<DesktopStart> {
  const port = await freePort();
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const { ELECTRON_RUN_AS_NODE: _, NODE_OPTIONS: _options, ...environment } = process.env;
  const program = join(await electronForTests(), 'electron');
  const startedAt = performance.timeOrigin + performance.now();
  const child = spawn(program, [...sandbox, `--remote-debugging-port=${port}`, ...parametersOf(kind, folder)], {
    env: { ...environment, DISPLAY: display },
    stdio: 'ignore',
  });
  const { shown, keyTaken } = await frameWith(usable[kind], await pageOf(port));
  return {
    usableAfterMs: shown - startedAt,
    keyAfterMs: keyTaken - startedAt,
    megabytes: () => treeOf(child.pid!).reduce((sum, { pid }) => sum + megabytesOf(pid, 'Pss'), 0),
    [Symbol.asyncDispose]: () => endTree(child),
  };
}
