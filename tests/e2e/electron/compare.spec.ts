import { test } from '../../support/electron.ts';
import { answerTicket, followCompareJourney } from '../../support/compare-journey.ts';
import { asWorkshop } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { join } from 'node:path';

const model = 'kestrel-large';

test('on the desktop sets a comparison up from a spreadsheet, runs it, and votes', async ({ folder, launch }) => {
  await using provider = await startScriptedProvider((call) => answerTicket(call, [model]));
  const { page } = await launch({
    dataDirectory: join(folder, 'data'),
    parameters: asWorkshop(provider.baseAddress),
  });
  const { chooseModel, writePrompt } = playgroundPage(page);
  await followCompareJourney({ page, folder, model, chooseModel, writePrompt });
});
