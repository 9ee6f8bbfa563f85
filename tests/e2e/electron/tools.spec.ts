import { test } from '../../support/electron.ts';
import { asWorkshop, startDesktopProvider } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { followToolsJourney } from '../../support/tools-journey.ts';

const model = 'kestrel-large';

test('on the desktop tool calls are answered by hand and by mocks', async ({ folder, launch }) => {
  const provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
  try {
    const { page } = await launch(provider.start);
    const { chooseModel, writePrompt } = playgroundPage(page);
    await followToolsJourney({ page, model, chooseModel, writePrompt, nextRun: provider.nextRun });
  } finally {
    await provider.close();
  }
});
