import { expect, test } from '../../support/electron.ts';
import { type DesktopProvider, startDesktopProvider, storedText } from '../../support/desktop-journey.ts';
import { playgroundPage, setProviderKey } from '../../support/playground-page.ts';

const key = 'gsk_thisKeyIsInNoFileAtAll0123456789';
const model = 'scripted-model';

let provider: DesktopProvider;

test.beforeEach(async ({ folder }) => {
  provider = await startDesktopProvider({ folder, model });
});

test.afterEach(() => provider.close());

test('a window that crashes during a stream reloads with the draft and the partial answer', async ({ launch }) => {
  const { app, page } = await launch(provider.start);
  await app.evaluate(({ dialog }) => {
    dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false });
  });
  const nextCall = provider.nextRun();
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
