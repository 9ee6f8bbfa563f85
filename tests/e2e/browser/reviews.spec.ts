import { readFileSync } from 'node:fs';
import { accessibilityFindings } from '../../support/accessibility.ts';
import { followReviewJourney } from '../../support/review-journey.ts';
import { callInPage, expect, test } from '../../support/served-window.ts';

test('two people review a queue with keys alone, and their disagreements are decided', async ({
  page,
  pageProblems,
}) => {
  await followReviewJourney({
    page,
    call: (...request) => callInPage(page, ...request),
    checkScreen: async () => expect(await accessibilityFindings(page)).toEqual([]),
    readDownload: async (action) => {
      const download = page.waitForEvent('download');
      await action();
      return readFileSync(await (await download).path(), 'utf8');
    },
  });
  expect(pageProblems).toEqual([]);
});

test('answers that are not sent outlive their tab, for the same reviewer only', async ({ page, context, served }) => {
  const call = (method: string, path: string, body?: unknown) => callInPage(page, method, path, body);
  await call('POST', '/window/audit/samples');
  const items = [{ kind: 'yesNo', question: 'Does every promise match the terms?' }];
  const rubric = (await call('POST', '/rubrics', { name: 'Refund policy', items })) as { id: string };
  const plan = { kind: 'random', count: 2 };
  const input = { name: 'Refunds', filter: {}, itemType: 'run', plan, rubricId: rubric.id, reviewersPerItem: 2 };
  const queue = (await call('POST', '/review-queues', input)) as { id: string };
  const openQueue = async (tab: typeof page) => {
    await tab.goto(`${served.address}/#/audit/reviews/${queue.id}`);
    return tab.getByRole('region', { name: 'Rubric' });
  };
  const rubricPanel = await openQueue(page);
  await rubricPanel.getByLabel('Note on the whole').fill('The fee stays');
  await page.keyboard.press('Escape');
  await page.keyboard.press('y');
  await expect(rubricPanel).toContainText('1 of 1 answered');
  await page.close();

  const next = await context.newPage();
  const again = await openQueue(next);
  await expect(again).toContainText('1 of 1 answered');
  await expect(again.getByLabel('Note on the whole')).toHaveValue('The fee stays');

  // In a narrow window the queue takes the place of the text until an item is opened.
  await next.setViewportSize({ width: 900, height: 700 });
  const side = next.getByRole('navigation', { name: 'Queue' });
  await expect(side).toBeHidden();
  await next.getByRole('button', { name: 'Show queue' }).click();
  await expect(next.getByRole('region', { name: 'Text to review' })).toBeHidden();
  await side.getByRole('button', { name: /Yours/ }).click();
  await expect(side).toBeHidden();
  await next.getByRole('region', { name: 'Text to review' }).waitFor();
  await next.setViewportSize({ width: 1280, height: 800 });
  await expect(side).toBeVisible();

  await next.getByRole('button', { name: /^Reviewer: / }).click();
  await next.getByRole('menuitem', { name: 'Add a reviewer' }).click();
  await next.getByRole('dialog').getByLabel('Name').fill('heron');
  await next.keyboard.press('Enter');
  await next.getByRole('button', { name: 'Reviewer: heron' }).waitFor();
  await expect(again).toContainText('0 of 1 answered');
  await expect(again.getByLabel('Note on the whole')).toHaveValue('');
});
