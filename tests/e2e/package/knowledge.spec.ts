import { join } from 'node:path';
import { expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { followKnowledgeJourney } from '../../support/knowledge-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';
import { startScriptedProvider, type ScriptedCall } from '../../support/scripted-provider.ts';

test('on the desktop a dropped PDF grounds an answer whose citation opens its page, also after a restart', async ({
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
  const start = { dataDirectory: join(folder, 'data'), parameters: ['--endpoint', `workshop=${provider.baseAddress}`] };
  const first = await launch(start);
  const playground = playgroundPage(first.page);
  const { writePrompt, chooseModel } = playground;
  await followKnowledgeJourney({ page: first.page, model: 'kestrel-large', writePrompt, chooseModel, nextRun });
  await first.quit();

  const { page } = await launch(start);
  const text = page.getByRole('document', { name: 'Text of the source' });
  await expect(text.locator('mark').filter({ hasText: 'one working day for each series' })).toBeVisible();
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(page.getByRole('region', { name: 'Answer text' })).toContainText('one working day');
});
