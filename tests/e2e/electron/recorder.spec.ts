import { join } from 'node:path';
import { test } from '../../support/electron.ts';
import { answerJourney, followRecorderJourney } from '../../support/recorder-journey.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

test("on the desktop a program's call is found, rated, saved as a prompt and replayed", async ({ folder, launch }) => {
  await using provider = await startScriptedProvider(answerJourney);
  const parameters = ['--endpoint', `heronry=${provider.baseAddress}`];
  const { page } = await launch({ dataDirectory: join(folder, 'data'), parameters });
  await followRecorderJourney(page, 'heronry');
});
