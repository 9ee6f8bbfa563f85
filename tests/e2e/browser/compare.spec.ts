import { accessibilityFindings } from '../../support/accessibility.ts';
import {
  answerTicket,
  followCompareJourney,
  followLabelJourney,
  type CompareJourney,
} from '../../support/compare-journey.ts';
import { callInPage } from '../../support/served-window.ts';
import { addModel } from '../../support/window-tour.ts';
import { expect, test } from './playground-window.ts';

test('runs a prompt on several models at once, each in a column and as a separate run', async ({
  page,
  playground,
  provider,
  nextRun,
}) => {
  await playground.writePrompt('Name a bird.');
  await playground.chooseModel('kestrel-large');
  await addModel(page, 'kestrel-small');
  await addModel(page, 'kestrel-large');
  await addModel(page, 'kestrel-small');
  await expect(playground.answer.getByRole('button', { name: 'Add model' })).toBeDisabled();
  // All four fit side by side, below the prompt.
  const columns = playground.answer.getByRole('group', { name: 'Compared answers' });
  await expect.poll(() => columns.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  const column = (number: number) => playground.answer.getByRole('region', { name: new RegExp(`^Answer ${number}, `) });
  await expect(column(4)).toContainText('Not run yet');

  // Not before the models are there: from here on the test answers every call.
  provider.answerWith(null);
  await playground.run();
  const calls = [await nextRun(), await nextRun(), await nextRun(), await nextRun()];
  expect(calls.map(({ body }) => body['model']).toSorted()).toEqual([
    'kestrel-large',
    'kestrel-large',
    'kestrel-small',
    'kestrel-small',
  ]);
  const [first, second, third, fourth] = calls;
  await Promise.all(calls.map((call, index) => call.openEventStream().chatDelta({ content: `Bird ${index}. ` })));
  for (const number of [1, 2, 3, 4]) await expect(column(number)).toContainText('Bird');
  await column(4).getByRole('button', { name: 'Stop answer 4' }).click();
  await expect(column(4)).toContainText('Stopped');
  await expect(column(1)).toContainText('Streaming');
  await first!.chatEnd();
  await second!.chatDelta({ content: 'word '.repeat(1200) });
  await second!.chatEnd();
  await page.keyboard.press('Escape');
  await expect(column(1).or(column(3)).filter({ hasText: 'Streaming' })).toHaveCount(0);
  third!.end();
  fourth!.end();
  await expect(playground.history.getByRole('option')).toHaveCount(4);

  await page.reload();
  for (const number of [1, 2, 3, 4]) await expect(column(number)).toContainText('Bird');
  await playground.answer.getByRole('button', { name: 'Close comparison' }).click();
  await expect(column(2)).toBeHidden();
});

test('sets a comparison up from a prompt and a spreadsheet, runs it, votes, and moves a label', async ({
  page,
  playground,
  provider,
  pageProblems,
}, testInfo) => {
  const models = ['kestrel-large', 'kestrel-small'];
  provider.answerWith((call) => answerTicket(call, models));
  const journey: CompareJourney = {
    page,
    folder: testInfo.outputPath(),
    model: 'kestrel-large',
    chooseModel: (words) => playground.chooseModel(words),
    writePrompt: (text) => playground.writePrompt(text),
    create: async (path, body) =>
      (await callInPage(page, 'POST', path, body)) as { id: string; latestVersionId: string },
    checkSetup: async () => expect(await accessibilityFindings(page)).toEqual([]),
  };
  await followCompareJourney(journey);
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await expect(page.getByRole('main')).toContainText('Warmer or colder');
  expect(await accessibilityFindings(page)).toEqual([]);
  await followLabelJourney(journey);
  expect(pageProblems).toEqual([]);
});
