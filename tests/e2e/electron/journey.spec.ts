import { once } from 'node:events';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { RunDetail, RunSummary } from '../../../shared/contract/runs.ts';
import { callHost, expect, test } from '../../support/electron.ts';
import { playgroundPage, setProviderKey } from '../../support/playground-page.ts';
import { startScriptedProvider, type ScriptedCall, type ScriptedProvider } from '../../support/scripted-provider.ts';

const key = 'gsk_thisKeyIsInNoFileAtAll0123456789';
const model = 'scripted-model';
const prompt = 'Greet {{name}} in one line.';

let provider: ScriptedProvider;
let dataDirectory: string;
let start: { dataDirectory: string; parameters: string[] };
let runs: AsyncIterator<ScriptedCall>;

/** The calls for a completion; those for the list of models are answered on the way. */
async function* completionCalls(): AsyncGenerator<ScriptedCall> {
  for (;;) {
    const call = await provider.nextCall();
    if (call.method === 'GET') call.models([model]);
    else yield call;
  }
}

async function nextRun(): Promise<ScriptedCall> {
  return (await runs.next()).value as ScriptedCall;
}

test.beforeEach(async ({ folder }) => {
  provider = await startScriptedProvider();
  runs = completionCalls();
  dataDirectory = join(folder, 'data');
  start = { dataDirectory, parameters: ['--provider-base', `Groq=${provider.baseAddress}`] };
});

test.afterEach(() => provider.close());

/** The files below a folder that hold a text, in any of the ways in which programs write text. */
function filesWith(folder: string, text: string): string[] {
  const forms = [Buffer.from(text), Buffer.from(text, 'utf16le'), Buffer.from(Buffer.from(text).toString('base64'))];
  return globSync('**/*', { cwd: folder })
    .filter((file) => statSync(join(folder, file)).isFile())
    .filter((file) => forms.some((form) => readFileSync(join(folder, file)).includes(form)));
}

/** Everything that the window has put into its own storage, as text. */
function storedText(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const result = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error));
      });
    let text = '';
    for (const { name } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name!));
      for (const store of database.objectStoreNames) {
        text += JSON.stringify(await result(database.transaction(store).objectStore(store).getAll()));
      }
      database.close();
    }
    return text;
  });
}

test('a key is set, a run is stopped, and after a restart the draft, the history and the key are there', async ({
  launch,
}) => {
  const first = await launch(start);
  const nextCall = nextRun();
  await setProviderKey(first.page, 'Groq', key);
  const before = playgroundPage(first.page);
  await before.writePrompt(prompt);
  await before.variable('name').fill('Ada');
  await before.chooseModel(model);
  await before.run();
  const stopped = await nextCall;
  expect({
    key: stopped.headers.authorization,
    model: stopped.body['model'],
    messages: stopped.body['messages'],
  }).toEqual({
    key: `Bearer ${key}`,
    model,
    messages: [{ role: 'user', content: 'Greet Ada in one line.' }],
  });
  stopped.openEventStream();
  await stopped.chatDelta({ content: 'Hello, A' });
  await expect(before.answer).toContainText('Hello, A');
  await before.stop();
  await stopped.closed;
  await expect(before.answer).toContainText('Partial answer kept.');
  await expect(before.history.getByText('Stopped')).toBeVisible();

  const finished = nextRun();
  await before.run();
  await (await finished).chatStream(['Hello, ', '**Ada**!']);
  await expect(before.answer).toContainText('Hello, Ada!');
  await first.quit();
  expect(filesWith(dataDirectory, 'in one line.')).not.toEqual([]);
  expect(filesWith(dataDirectory, key)).toEqual([]);

  const second = await launch(start);
  const after = playgroundPage(second.page);
  await expect(after.prompt).toContainText(prompt);
  await expect(after.variable('name')).toHaveValue('Ada');
  await expect(after.history.getByText(model)).toHaveCount(2);
  const again = nextRun();
  await after.run();
  const call = await again;
  expect(call.headers.authorization).toBe(`Bearer ${key}`);
  await call.chatStream(['Hello again.']);
  await expect(after.answer).toContainText('Hello again.');
});

for (const way of ['by the menu', 'by SIGTERM'] as const) {
  test(`quitting ${way} in the middle of a stream ends it at the provider and keeps the run as Cancelled`, async ({
    launch,
  }) => {
    const desktop = await launch(start);
    const nextCall = nextRun();
    await setProviderKey(desktop.page, 'Groq', key);
    const playground = playgroundPage(desktop.page);
    await playground.writePrompt('Count.');
    await playground.chooseModel(model);
    await playground.run();
    const call = await nextCall;
    call.openEventStream();
    await call.chatDelta({ content: 'One, two' });
    await expect(playground.answer).toContainText('One, two');
    if (way === 'by SIGTERM') {
      const ended = once(desktop.app.process(), 'exit');
      desktop.app.process().kill('SIGTERM');
      await ended;
    } else await desktop.quit();
    await call.closed;

    const { page } = await launch(start);
    const { data } = (await callHost(page, 'GET', '/window/runs')) as { data: RunSummary[] };
    const [summary] = data;
    const run = (await callHost(page, 'GET', `/window/runs/${summary?.runId}`)) as RunDetail;
    expect({ runs: data.length, status: run.status, output: run.output, credits: run.credits }).toEqual({
      runs: 1,
      status: 'Cancelled',
      output: { content: 'One, two', reasoning: null, finishReason: 'Cancelled', error: null },
      credits: 1,
    });
  });
}

test('a window that crashes in the middle of a stream comes back with the draft and with what had come', async ({
  launch,
}) => {
  const { app, page } = await launch(start);
  await app.evaluate(({ dialog }) => {
    dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false });
  });
  const nextCall = nextRun();
  await setProviderKey(page, 'Groq', key);
  const playground = playgroundPage(page);
  await playground.writePrompt('Count to ten.');
  await playground.chooseModel(model);
  await expect.poll(() => storedText(page)).toContain('Count to ten.');
  await playground.run();
  const call = await nextCall;
  call.openEventStream();
  await call.chatDelta({ content: 'One, two' });
  await expect(playground.answer).toContainText('One, two');
  await app.evaluate(
    ({ BrowserWindow }) =>
      new Promise<void>((resolve) => {
        const { webContents } = BrowserWindow.getAllWindows()[0]!;
        webContents.once('did-finish-load', () => resolve());
        webContents.forcefullyCrashRenderer();
      }),
  );
  await call.closed;
  // Playwright does not come back to a page that has crashed.
  const shown = () =>
    app.evaluate(({ BrowserWindow }): Promise<string> => {
      const { webContents } = BrowserWindow.getAllWindows()[0]!;
      return webContents.executeJavaScript('document.body.innerText');
    });
  for (const text of ['Count to ten.', 'One, two', 'Partial answer kept.']) await expect.poll(shown).toContain(text);
});

test('a draft survives the end of the window and of the whole application', async ({ launch }) => {
  const first = await launch(start);
  await playgroundPage(first.page).writePrompt('Written before the crash.');
  await expect.poll(() => storedText(first.page)).toContain('Written before the crash.');
  const ended = first.app.waitForEvent('close');
  first.app.process().kill('SIGKILL');
  await ended;

  const second = await launch(start);
  await expect(playgroundPage(second.page).prompt).toContainText('Written before the crash.');
});
