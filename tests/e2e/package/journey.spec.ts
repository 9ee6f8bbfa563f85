import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunDetail, RunSummary } from '../../../shared/contract/runs.ts';
import { callHost, expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { type DesktopProvider, startDesktopProvider, storedText } from '../../support/desktop-journey.ts';
import { playgroundPage, setProviderKey } from '../../support/playground-page.ts';

const key = 'gsk_thisKeyIsInNoFileAtAll0123456789';
const model = 'scripted-model';
const prompt = 'Greet {{name}} in one line.';

let provider: DesktopProvider;

test.beforeEach(async ({ folder }) => {
  provider = await startDesktopProvider({ folder, model });
});

test.afterEach(() => provider.close());

/** The files below a folder that hold a text, in any of the ways in which programs write text. */
function filesWith(folder: string, text: string): string[] {
  const forms = [Buffer.from(text), Buffer.from(text, 'utf16le'), Buffer.from(Buffer.from(text).toString('base64'))];
  const contents = (file: string): Buffer => {
    try {
      return readFileSync(join(folder, file));
    } catch (error) {
      // A folder, or a file that a process of Chromium took away when it ended, a moment after the application.
      if (['EISDIR', 'ENOENT', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return Buffer.alloc(0);
      throw error;
    }
  };
  return globSync('**/*', { cwd: folder }).filter((file) => forms.some((form) => contents(file).includes(form)));
}

test('after a restart the key, the draft and the history with a stopped run are there', async ({ launch }) => {
  const first = await launch(provider.start);
  const nextCall = provider.nextRun();
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

  const finished = provider.nextRun();
  await before.run();
  await (await finished).chatStream(['Hello, ', '**Ada**!']);
  await expect(before.answer).toContainText('Hello, Ada!');
  await first.quit();
  expect(filesWith(provider.start.dataDirectory, 'in one line.')).not.toEqual([]);
  expect(filesWith(provider.start.dataDirectory, key)).toEqual([]);

  const second = await launch(provider.start);
  const after = playgroundPage(second.page);
  await expect(after.prompt).toContainText(prompt);
  await expect(after.variable('name')).toHaveValue('Ada');
  await expect(after.history.getByText(model)).toHaveCount(2);
  const again = provider.nextRun();
  await after.run();
  const call = await again;
  expect(call.headers.authorization).toBe(`Bearer ${key}`);
  await call.chatStream(['Hello again.']);
  await expect(after.answer).toContainText('Hello again.');
});

for (const way of ['by its window', 'by SIGTERM'] as const) {
  test(`quitting ${way} during a stream ends it at the provider and records the run as Cancelled`, async ({
    launch,
  }) => {
    const desktop = await launch(provider.start);
    const nextCall = provider.nextRun();
    await setProviderKey(desktop.page, 'Groq', key);
    const playground = playgroundPage(desktop.page);
    await playground.writePrompt('Count.');
    await playground.chooseModel(model);
    await playground.run();
    const call = await nextCall;
    call.openEventStream();
    await call.chatDelta({ content: 'One, two' });
    await expect(playground.answer).toContainText('One, two');
    if (way === 'by SIGTERM') await desktop.end('SIGTERM');
    else await desktop.quit();
    await call.closed;

    const { page } = await launch(provider.start);
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

test('a draft survives closing the window and quitting the application', async ({ launch }) => {
  const first = await launch(provider.start);
  await playgroundPage(first.page).writePrompt('Written before the crash.');
  await expect.poll(() => storedText(first.page)).toContain('Written before the crash.');
  await first.end('SIGKILL');

  const second = await launch(provider.start);
  await expect(playgroundPage(second.page).prompt).toContainText('Written before the crash.');
});
