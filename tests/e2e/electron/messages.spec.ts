import { test } from '../../support/electron.ts';
import { asWorkshop, startDesktopProvider } from '../../support/desktop-journey.ts';
import { followMessagesJourney } from '../../support/messages-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';

const model = 'kestrel-large';

test('on the desktop a few-shot prompt is imported, edited as messages and run', async ({ folder, launch }) => {
  const provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
  try {
    const { page } = await launch(provider.start);
    const { chooseModel } = playgroundPage(page);
    await followMessagesJourney({ page, folder, model, chooseModel, nextRun: provider.nextRun });
  } finally {
    await provider.close();
  }
});
