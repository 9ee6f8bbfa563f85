import { join } from 'node:path';
import type { HostState } from '../../../shared/contract/settings.ts';
import { callHost, expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { followLibraryJourney } from '../../support/library-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { startScriptedProvider, type ScriptedCall } from '../../support/scripted-provider.ts';

test('on the desktop a folder is imported, edited, compared and labelled, run over HTTP, and the run is found by its version', async ({
  folder,
  launch,
}) => {
  await using provider = await startScriptedProvider((call) => call.models(['kestrel-large']));
  const nextRun = async (): Promise<ScriptedCall> => {
    for (;;) {
      const call = await provider.nextCall();
      if (call.method === 'POST') return call;
      call.models(['kestrel-large']);
    }
  };
  const parameters = ['--endpoint', `workshop=${provider.baseAddress}`];
  const { page } = await launch({ dataDirectory: join(folder, 'data'), parameters });
  await callHost(page, 'PATCH', '/window/settings', { localServer: { isEnabled: true, port: 0, isTls: false } });
  const { key } = (await callHost(page, 'POST', '/window/api-keys', { name: 'nightly' })) as { key: string };
  const address = async () => ((await callHost(page, 'GET', '/window/host')) as HostState).serverAddress;
  await expect.poll(address).toMatch(/^http:/);
  const playground = playgroundPage(page);
  await followLibraryJourney({
    page,
    folder,
    model: 'kestrel-large',
    writePrompt: playground.writePrompt,
    chooseModel: playground.chooseModel,
    nextRun,
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
