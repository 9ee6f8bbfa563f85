import type { HostState } from '../../../shared/contract/settings.ts';
import { callHost, expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { followLibraryJourney } from '../../support/library-journey.ts';
import { asWorkshop, type DesktopProvider, startDesktopProvider } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';

const model = 'kestrel-large';

let provider: DesktopProvider;

test.beforeEach(async ({ folder }) => {
  provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
});

test.afterEach(() => provider.close());

test('on the desktop imports, edits, compares and labels a folder, runs it over HTTP, and finds the run by its version', async ({
  folder,
  launch,
}) => {
  const { page } = await launch(provider.start);
  await callHost(page, 'PATCH', '/window/settings', { localServer: { isEnabled: true, port: 0, isTls: false } });
  const { key } = (await callHost(page, 'POST', '/window/api-keys', { name: 'nightly' })) as { key: string };
  const address = async () => ((await callHost(page, 'GET', '/window/host')) as HostState).serverAddress;
  await expect.poll(address).toMatch(/^http:/);
  const playground = playgroundPage(page);
  await followLibraryJourney({
    page,
    folder,
    model,
    writePrompt: playground.writePrompt,
    chooseModel: playground.chooseModel,
    nextRun: provider.nextRun,
    runByHttp: async (body) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const answer = await fetch(`${await address()}/prompts/run`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { message: string; runId: string };
    },
  });
});
