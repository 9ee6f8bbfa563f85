import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { followKnowledgeJourney } from '../../support/knowledge-journey.ts';
import { expect, test } from './playground-window.ts';

const model = 'kestrel-large';

test('a dropped PDF grounds an answer whose citation opens its page', async ({ page, playground, nextRun }) => {
  await followKnowledgeJourney({
    page,
    model,
    writePrompt: (text) => playground.writePrompt(text),
    chooseModel: (words) => playground.chooseModel(words),
    nextRun,
  });
  await page.reload();
  await expect(page.getByRole('document', { name: 'Text of the source' }).locator('mark').first()).toBeVisible();
});

test('opens matching passages one after another, with J and the mouse, and leaves the screen', async ({
  page,
  served,
  pageProblems,
}) => {
  await page.goto(`${served.address}/#/knowledge`);
  await page.getByLabel('Files to add').setInputFiles(join(import.meta.dirname, '../../fixtures/knowledge/report.pdf'));
  await expect(page.getByRole('option', { name: /^report\.pdf PDF .* 3 pages \d+ passages$/ })).toBeVisible();
  await page.getByLabel('Search Default').fill('How long does cupellation take?');
  await page.keyboard.press('Enter');
  const found = page.getByRole('list', { name: 'Passages, most relevant first' }).getByRole('button');
  await found.first().click();
  const passage = page.getByRole('region', { name: 'report.pdf' }).getByRole('heading', { level: 3 });
  await expect(passage).toHaveText(/^Passage \d+ of \d+$/);
  await found.nth(1).click();
  await expect(found.nth(1)).toHaveAttribute('aria-current', 'true');
  await expect(page.locator('.knowledge__text mark').first()).toBeVisible();
  const [, last] = /of (\d+)/.exec((await passage.textContent()) ?? '') ?? [];
  for (const key of ['k', 'k', 'k', 'k', 'j', 'j']) {
    await page.keyboard.press(key);
    await expect(page.locator('.knowledge__text mark').first()).toBeVisible();
  }
  await expect(passage).toHaveText(new RegExp(`^Passage \\d of ${last}$`));
  await page.getByRole('link', { name: 'Audit' }).click();
  await expect(page.getByRole('heading', { name: 'Audit', level: 1 })).toBeVisible();
  await page.getByRole('link', { name: 'Knowledge' }).click();
  await expect(page.getByRole('option', { name: /^report\.pdf/ })).toBeVisible();
  expect(pageProblems).toEqual([]);
});

/** What the operating system does with things that are held over the window; a page cannot make folders itself. */
async function dropPaths(page: Page, target: Locator, files: readonly string[]): Promise<void> {
  const box = await target.boundingBox();
  const session = await page.context().newCDPSession(page);
  const position = { x: box!.x + box!.width / 2, y: box!.y + box!.height / 2 };
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...position, data });
  }
  await session.detach();
}

test('adds a dropped folder with all its files, under names that distinguish them', async ({
  page,
  served,
}, testInfo) => {
  const folder = testInfo.outputPath('Handbook');
  for (const [name, text] of [
    ['note.md', 'The torque of the rotor bolts is forty-two.'],
    ['inner/note.md', 'The doors of the hangar open at six.'],
    ['inner/.hidden.md', 'Nobody wants this.'],
    ['empty.md', ''],
    ['void.md', ''],
  ] as const) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const bare = testInfo.outputPath('Bare');
  mkdirSync(bare);
  await page.goto(`${served.address}/#/knowledge`);
  await page.getByRole('button', { name: 'Create dataspace' }).first().click();
  await page.getByLabel('Dataspace name').fill('Handbooks');
  await page.keyboard.press('Enter');
  const sources = page.getByRole('region', { name: 'Sources' });
  await expect(sources.getByText('No sources yet')).toBeVisible();
  await dropPaths(page, sources, [bare]);
  await expect(page.getByText('Nothing added. The folder has no files.', { exact: true })).toBeVisible();
  await dropPaths(page, sources, [folder]);
  const rows = sources.getByRole('option');
  await expect(rows).toHaveCount(2);
  for (const name of ['Handbook/note\\.md', 'Handbook/inner/note\\.md']) {
    await expect(sources.getByRole('option', { name: new RegExp(`^${name} .*1 passage`) })).toBeVisible();
  }
  await expect(sources.getByText('2 files rejected')).toBeVisible();
  await sources.getByRole('button', { name: 'Dismiss all' }).click();
  await expect(sources.getByText('The file is empty.')).toHaveCount(0);
});

test('runs a prompt with and without its passages side by side, and pins and excludes passages', async ({
  page,
  playground,
  provider,
}) => {
  provider.answerWith((call) => {
    if (!call.path.endsWith('/chat/completions')) return call.models([model]);
    const isGrounded = call.bodyText.includes('<passage');
    return call.chatStream([isGrounded ? 'It is forty-two [1].' : 'I do not know.']);
  });
  await page.getByRole('link', { name: 'Knowledge' }).click();
  await page.getByRole('button', { name: 'Create dataspace' }).first().click();
  await page.getByLabel('Dataspace name').fill('Handbooks');
  await page.keyboard.press('Enter');
  // Before it is there, files would go to a new dataspace.
  await expect(page.getByText('No sources yet')).toBeVisible();
  await page.getByLabel('Files to add').setInputFiles([
    { name: 'rotor.md', mimeType: 'text/markdown', buffer: Buffer.from('The torque of the rotor bolts is forty-two.') },
    { name: 'doors.md', mimeType: 'text/markdown', buffer: Buffer.from('The doors of the hangar open at six.') },
  ]);
  for (const name of ['rotor.md', 'doors.md']) {
    await expect(page.getByRole('option', { name: new RegExp(`^${name} .*1 passage`) })).toBeVisible();
  }
  await page.getByRole('link', { name: 'Playground' }).click();
  await playground.chooseModel(model);
  await playground.writePrompt('What is the torque of the rotor bolts?');
  await page.getByRole('button', { name: 'Choose dataspaces' }).click();
  await page.getByRole('checkbox', { name: 'Handbooks' }).click();
  await page.keyboard.press('Escape');
  const passages = page.getByRole('region', { name: 'Grounding', exact: true }).getByRole('listitem');
  await expect(passages.first()).toContainText('[1]');
  await expect(passages.first()).toContainText('rotor.md');

  await page.getByRole('button', { name: 'Run side by side' }).click();
  await page.getByRole('menuitem', { name: 'Run with and without grounding' }).click();
  await expect(playground.answer.getByRole('region', { name: 'Answer 1, With grounding', exact: true })).toContainText(
    'It is forty-two [1].',
  );
  await expect(
    playground.answer.getByRole('region', { name: 'Answer 2, Without grounding', exact: true }),
  ).toContainText('I do not know.');

  await passages
    .filter({ hasText: 'rotor.md' })
    .getByRole('button', { name: /^Exclude/ })
    .click();
  await passages.filter({ hasText: 'doors.md' }).getByRole('button', { name: /^Pin/ }).click();
  await expect(passages.first()).toContainText('doors.md');
  await expect(passages.filter({ hasText: 'rotor.md' })).toContainText('excluded');
  await playground.run();
  await expect(playground.answer.getByRole('region', { name: 'Passages used' }).first()).toContainText('doors.md');
  await page.reload();
  await expect(passages.filter({ hasText: 'rotor.md' })).toContainText('excluded');
});
