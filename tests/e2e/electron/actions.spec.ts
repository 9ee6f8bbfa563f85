import { join } from 'node:path';
import { callHost, expect, test as base } from '../../support/electron.ts';
import { walkEverywhere, walkTimeout } from '../../support/random-walk.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { answerEverything, withoutNetwork } from '../../support/window-tour.ts';

const test = base.extend({
  environment: async ({ environment }, use) => use({ ...environment, ...withoutNetwork }),
});

// Playwright starts the files by name. This one takes as long as all others together, so it comes first.
// A recording of every action would take longer than the actions.
test.use({ trace: 'off' });
test.setTimeout(walkTimeout);

test('on the desktop random actions on every screen end without a crash or an error', async ({ folder, launch }) => {
  await using provider = await startScriptedProvider(answerEverything);
  const parameters = ['--endpoint', `workshop=${provider.baseAddress}`];
  const { app, page, output } = await launch({ dataDirectory: join(folder, 'data'), parameters });
  // Dialogs and menus of the system take no part in a walk and would stay open.
  await app.evaluate(({ dialog, Menu, session }) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: true, filePaths: [] });
    Menu.prototype.popup = () => {};
    session.defaultSession.on('will-download', (event) => event.preventDefault());
  });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await walkEverywhere(page, (...request) => callHost(page, ...request), 8)).toEqual({});
  expect(output()).not.toMatch(/unhandled|uncaught/i);
});
