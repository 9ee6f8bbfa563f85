import { answerJourney, followRecorderJourney } from '../../support/recorder-journey.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../support/scripted-provider.ts';
import { test as served } from '../../support/served-window.ts';

const test = served.extend<{ provider: ScriptedProvider }>({
  provider: async ({}, use) => {
    await using provider = await startScriptedProvider(answerJourney);
    await use(provider);
  },
  hostOptions: async ({ provider }, use) => use(['--endpoint', `heronry=${provider.baseAddress}`]),
});

test("a program's call is found, rated, saved as a prompt and replayed on another model", async ({
  page,
  served: { address },
}) => {
  await page.goto(address);
  await followRecorderJourney(page, 'heronry');
});
