import type { Page } from '@playwright/test';
import type { ScriptedCall } from '../../support/scripted-provider.ts';
import { PlaygroundPage, expect, test } from './playground-window.ts';

const places = ['knowledge', 'moderation', 'audit', 'prompts', 'agents', 'settings/on-device', 'playground'] as const;

test('eight windows of one host are shown side by side, and runs in seven of them stream at once', async ({
  page,
  served,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('Say something.');
  const windows: Page[] = [page];
  for (const place of places) {
    const window = await page.context().newPage();
    await window.goto(`${served.address}/#/${place}`);
    await expect(window.getByRole('main')).not.toBeEmpty();
    windows.push(window);
  }
  const [knowledge, ...others] = windows.toSpliced(0, 1) as [Page, ...Page[]];
  await expect(knowledge.getByRole('button', { name: 'New dataspace' }).first()).toBeVisible();

  const running: { place: PlaygroundPage; run: ScriptedCall; index: number }[] = [];
  // An answer that stands still for half a minute is ended, and seven windows take their time.
  const talk = setInterval(() => {
    for (const { run } of running) void run.chatDelta({ content: ' on' });
  }, 5_000);
  for (const [index, window] of [page, ...others].entries()) {
    const place = new PlaygroundPage(window);
    await window.bringToFront();
    await window.goto(`${served.address}/#/playground`);
    await place.prompt.waitFor();
    const call = nextRun();
    await place.run();
    const run = await call;
    run.openEventStream();
    await run.chatDelta({ content: `Answer ${index} goes on` });
    await expect(place.answer.getByText(`Answer ${index} goes on`)).toBeVisible();
    running.push({ place, run, index });
  }

  // With all of them streaming the host is there for everything else, and other windows hear of it.
  const listener = await page.context().newPage();
  await listener.goto(`${served.address}/#/knowledge`);
  await knowledge.bringToFront();
  await knowledge.getByRole('button', { name: 'New dataspace' }).first().click();
  await knowledge.keyboard.type('Made while seven runs stream');
  await knowledge.keyboard.press('Enter');
  await expect(listener.getByRole('option', { name: /^Made while seven runs stream/ })).toBeVisible();

  const stopped = running.shift()!;
  await stopped.place.page.bringToFront();
  await stopped.place.page.keyboard.press('Escape');
  await stopped.run.closed;
  await expect(stopped.place.answer.getByText('The text is kept.')).toBeVisible();
  clearInterval(talk);
  for (const { place, run, index } of running) {
    await run.chatDelta({ content: ' to its end.' });
    await run.chatEnd();
    await expect(place.answer.getByText(new RegExp(`Answer ${index} goes on.* to its end\\.`))).toBeVisible();
    await expect(place.answer.getByText('Finished')).toBeVisible();
  }
});
