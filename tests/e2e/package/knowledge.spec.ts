import { expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import { followKnowledgeJourney } from '../../support/knowledge-journey.ts';
import { asWorkshop, type DesktopProvider, startDesktopProvider } from '../../support/desktop-journey.ts';
import { playgroundPage } from '../../support/playground-page.ts';

const model = 'kestrel-large';

let provider: DesktopProvider;

test.beforeEach(async ({ folder }) => {
  provider = await startDesktopProvider({ folder, model, parameters: asWorkshop });
});

test.afterEach(() => provider.close());

test('on the desktop a dropped PDF grounds an answer whose citation opens its page, also after a restart', async ({
  launch,
}) => {
  const first = await launch(provider.start);
  const playground = playgroundPage(first.page);
  const { writePrompt, chooseModel } = playground;
  await followKnowledgeJourney({ page: first.page, model, writePrompt, chooseModel, nextRun: provider.nextRun });
  await first.quit();

  const { page } = await launch(provider.start);
  const text = page.getByRole('document', { name: 'Text of the source' });
  await expect(text.locator('mark').filter({ hasText: 'one working day for each series' })).toBeVisible();
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(page.getByRole('region', { name: 'Answer text' })).toContainText('one working day');
});
