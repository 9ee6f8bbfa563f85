import { test } from '../../support/electron.ts';
import { asWorkshop, startDesktopProvider } from '../../support/desktop-journey.ts';
import { followFilesJourney } from '../../support/files-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';

const model = 'kestrel-large';

test('on the desktop a photo is dropped and described', async ({ folder, launch }) => {
  const provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
  try {
    const { page } = await launch(provider.start);
    await followFilesJourney({ page, model, ...playgroundPage(page), nextRun: provider.nextRun });
  } finally {
    await provider.close();
  }
});
