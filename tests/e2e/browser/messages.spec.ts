import { accessibilityFindings } from '../../support/accessibility.ts';
import { followMessagesJourney } from '../../support/messages-journey.ts';
import { expect, test } from './playground-window.ts';

test('imports a few-shot prompt, edits it as messages and runs it, and the audit has its messages', async ({
  page,
  playground,
  nextRun,
  pageProblems,
}, testInfo) => {
  await followMessagesJourney({
    page,
    folder: testInfo.outputPath(),
    model: 'kestrel-large',
    chooseModel: (words) => playground.chooseModel(words),
    nextRun,
  });
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(page.getByRole('list', { name: 'Messages' })).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('radio', { name: 'Rendered', exact: true }).click();
  expect(await accessibilityFindings(page, '.play__edit')).toEqual([]);
  expect(pageProblems).toEqual([]);
});

test('Tab visits the parts of a message in order, and a message is dragged by its grip', async ({
  page,
  playground,
}) => {
  await playground.writePrompt('{{role "system"}}Be kind.\n{{role "user"}}Hello');
  await page.getByRole('radio', { name: 'Messages', exact: true }).click();
  await page.getByRole('button', { name: 'Move Message 1, System', exact: true }).focus();
  const names = ['Text of Message 1, System', 'Message 1, System: role and actions', 'Remove Message 1, System'];
  for (const name of names) {
    await page.keyboard.press('Tab');
    await expect(page.getByRole('button', { name, exact: true })).toBeFocused();
  }
  await page.keyboard.press('Tab');
  await expect(page.getByRole('textbox', { name: 'Message 1, System' })).toBeFocused();
  await page
    .getByRole('button', { name: 'Move Message 2, User', exact: true })
    .dragTo(page.getByRole('listitem').filter({ has: page.getByRole('textbox', { name: 'Message 1, System' }) }), {
      targetPosition: { x: 40, y: 4 },
    });
  await expect(page.getByRole('textbox', { name: 'Message 1, User' })).toHaveText('Hello');
  await expect(page.getByRole('textbox', { name: 'Message 2, System' })).toContainText('Be kind.');
});
