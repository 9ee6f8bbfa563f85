import type { Page } from '@playwright/test';
import type { ScriptedCall } from '../../support/scripted-provider.ts';
import { PlaygroundPage, expect, test } from './playground-window.ts';

test('eight windows of one host open side by side, and runs in six of them stream at once', async ({
  page,
  served,
  playground,
  nextRun,
}) => {
  test.slow();
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Say something.');
  const open = async (screen: string): Promise<Page> => {
    const window = await page.context().newPage();
    await window.goto(`${served.address}/#/${screen}`);
    return window;
  };
  await playground.written();
  const others = await Promise.all(Array.from({ length: 5 }, () => open('playground')));
  const playgrounds = [playground, ...others.map((other) => new PlaygroundPage(other))];

  const running: { screen: PlaygroundPage; run: ScriptedCall; index: number }[] = [];
  // An answer that stands still for half a minute is ended, and six windows take their time.
  const talk = setInterval(() => {
    for (const { run } of running) void run.chatDelta({ content: ' on' });
  }, 5_000);
  for (const [index, screen] of playgrounds.entries()) {
    await screen.page.bringToFront();
    await expect(screen.prompt).toContainText('Say something.');
    const call = nextRun();
    await screen.run();
    const run = await call;
    run.openEventStream();
    await run.chatDelta({ content: `Answer ${index} goes on` });
    running.push({ screen, run, index });
    await expect(screen.answer.getByText(`Answer ${index} goes on`)).toBeVisible();
  }

  // With all of them streaming the host is there for everything else: it loads more windows, and they hear of each other.
  const [knowledge, listener] = await Promise.all([open('knowledge'), open('knowledge')]);
  await expect(listener.getByRole('button', { name: 'Create dataspace' }).first()).toBeVisible();
  await knowledge.bringToFront();
  await knowledge.getByRole('button', { name: 'Create dataspace' }).first().click();
  await knowledge.keyboard.type('Made while six runs stream');
  await knowledge.keyboard.press('Enter');
  await expect(listener.getByRole('option', { name: /^Made while six runs stream/ })).toBeVisible();

  const stopped = running.shift()!;
  await stopped.screen.page.bringToFront();
  await stopped.screen.page.keyboard.press('Escape');
  await stopped.run.closed;
  await expect(stopped.screen.answer.getByText('Partial answer kept.')).toBeVisible();
  clearInterval(talk);
  for (const { screen, run, index } of running) {
    await run.chatDelta({ content: ' to its end.' });
    await run.chatEnd();
    await expect(screen.answer.getByText(new RegExp(`Answer ${index} goes on.* to its end\\.`))).toBeVisible();
    await expect(screen.answer.getByText(/^Complete/)).toBeVisible();
  }
});

test('a window keeps working after a restart of its host, with everything half typed', async ({ page, served }) => {
  await page.goto(`${served.address}/#/agents`);
  await page.getByRole('button', { name: 'Create agent' }).first().click();
  await page.getByLabel('Name').fill('Half typed');
  await served.stop();
  const notice = page.getByRole('alert');
  await expect(notice).toContainText('Disconnected from Touchstone.');
  await expect(page.getByRole('contentinfo')).toContainText('Disconnected');

  const windowUrl = await served.startAgain();
  await expect(notice).toContainText('Open the address from the terminal');
  // Files of the window are there for everybody, so that a screen opens; what it shows says why it is empty.
  const other = await page.context().newPage();
  await other.goto(windowUrl);
  await expect(other.getByRole('navigation', { name: 'Screens' })).toBeVisible();

  await page.bringToFront();
  await expect(notice).toBeHidden();
  await expect(page.getByLabel('Name')).toHaveValue('Half typed');
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Answers in one word.');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('Half typed').first()).toBeVisible();
  await expect(page.getByRole('form', { name: 'New agent' })).toBeHidden();
});

test('a screen whose files are missing says so, and opens once they are back', async ({ page, served }) => {
  await page.goto(`${served.address}/#/agents`);
  await expect(page.getByRole('button', { name: 'Create agent' }).first()).toBeVisible();
  const files = /\/assets\/moderation-screen/;
  await page.route(files, (route) => route.fulfill({ status: 404, json: {} }));
  await page.getByRole('link', { name: 'Moderation' }).click();
  await expect(page.getByText("Couldn't load Moderation")).toBeVisible();
  await page.unroute(files);
  await page.getByRole('button', { name: 'Reload this screen' }).click();
  await expect(page.getByText('Batch', { exact: true })).toBeVisible();
  // With its style sheet, too: without it the parts of the screen would stand below each other.
  const [texts, scores] = [page.getByText('Batch', { exact: true }), page.getByText('Scores and thresholds')];
  await expect.poll(async () => (await scores.boundingBox())!.x - (await texts.boundingBox())!.x).toBeGreaterThan(300);
});

test('two windows edit the same drafts without losing anything', async ({ page, served, playground }) => {
  const second = new PlaygroundPage(await page.context().newPage());
  await second.page.goto(`${served.address}/#/playground`);
  await second.prompt.waitFor();
  await playground.writePrompt('Written in the first window');
  await expect(second.prompt).toContainText('Written in the first window');
  await second.page.bringToFront();
  await second.page.getByRole('textbox', { name: 'temperature' }).fill('0.5');
  await expect(page.getByRole('textbox', { name: 'temperature' })).toHaveValue('0.5');
  const menu = (window: Page) => window.getByRole('toolbar', { name: 'Prompt' }).getByRole('button').first();
  await menu(second.page).click();
  await second.page.getByRole('menuitem', { name: 'New prompt' }).click();
  await second.writePrompt('A new one of the second window');
  await page.bringToFront();
  await expect(playground.prompt).toContainText('Written in the first window');
  await playground.writePrompt('Written on in the first window');
  await expect(second.prompt).toContainText('A new one of the second window');
  await page.reload();
  await menu(page).click();
  const names = page.getByRole('menuitem', { name: /^Untitled prompt/ });
  await expect(names).toHaveCount(2);
  await expect(names.filter({ hasText: 'Untitled prompt 2' })).toBeVisible();
});
