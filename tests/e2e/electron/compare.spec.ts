import { test } from '../../support/electron.ts';
import { followCompareJourney } from '../../support/compare-journey.ts';
import { asWorkshop } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { join } from 'node:path';

const model = 'kestrel-large';

test('on the desktop sets a comparison up from a spreadsheet, and runs it', async ({ folder, launch }) => {
  await using provider = await startScriptedProvider((call) =>
    call.path.endsWith('/chat/completions')
      ? void call.chatStream(['Dear customer, the parcel.'])
      : call.models([model]),
  );
  const { page } = await launch({
    dataDirectory: join(folder, 'data'),
    parameters: asWorkshop(provider.baseAddress),
  });
  const { chooseModel, writePrompt } = playgroundPage(page);
  await followCompareJourney({ page, folder, model, chooseModel, writePrompt });
});
