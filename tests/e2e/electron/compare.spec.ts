import { callHost, expect, test } from '../../support/electron.ts';
import {
  answerTicket,
  followCompareJourney,
  followLabelJourney,
  type CompareJourney,
} from '../../support/compare-journey.ts';
import { asWorkshop } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { join } from 'node:path';

const model = 'kestrel-large';

test('on the desktop sets a comparison up from a spreadsheet, runs it, votes, and moves a label', async ({
  folder,
  launch,
}) => {
  await using provider = await startScriptedProvider((call) => answerTicket(call, [model]));
  const { page } = await launch({
    dataDirectory: join(folder, 'data'),
    parameters: asWorkshop(provider.baseAddress),
  });
  const { chooseModel, writePrompt } = playgroundPage(page);
  const create: CompareJourney['create'] = async (path, body) => {
    const created = await callHost(page, 'POST', path, body);
    expect(created).toHaveProperty('id');
    return created as { id: string; latestVersionId: string };
  };
  const journey: CompareJourney = { page, folder, model, chooseModel, writePrompt, create };
  await followCompareJourney(journey);
  await followLabelJourney(journey);
});
