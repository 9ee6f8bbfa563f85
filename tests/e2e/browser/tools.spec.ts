import { accessibilityFindings } from '../../support/accessibility.ts';
import { followToolsJourney } from '../../support/tools-journey.ts';
import { expect, test } from './playground-window.ts';

test('tool calls are answered by hand, in another way and by mocks, and the audit has them', async ({
  page,
  playground,
  nextRun,
  pageProblems,
}) => {
  await followToolsJourney({
    page,
    model: 'kestrel-large',
    chooseModel: (words) => playground.chooseModel(words),
    writePrompt: (text) => playground.writePrompt(text),
    nextRun,
  });
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'Playground' }).click();
  await playground.answer
    .getByRole('button', { name: /^weather/ })
    .first()
    .click();
  expect(await accessibilityFindings(page, '.play__answer')).toEqual([]);
  expect(pageProblems).toEqual([]);
});
