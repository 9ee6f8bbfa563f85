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
