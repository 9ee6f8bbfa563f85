import { test } from '../../support/electron.ts';
import { asWorkshop, startDesktopProvider } from '../../support/desktop-journey.ts';
import { followMessagesJourney } from '../../support/messages-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';

const model = 'kestrel-large';

test('on the desktop imports a few-shot prompt, edits it as messages and runs it', async ({ folder, launch }) => {
  const provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
  try {
    const { page } = await launch(provider.start);
    const { chooseModel } = playgroundPage(page);
    await followMessagesJourney({ page, folder, model, chooseModel, nextRun: provider.nextRun });
  } finally {
    await provider.close();
  }
});
