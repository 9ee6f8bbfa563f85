import { expect, type Page } from '@playwright/test';
import type { CallHost } from './call-host.ts';

export interface ReviewJourney {
  readonly page: Page;
  readonly call: CallHost;
  /** Called on the screen of a reviewer and on the one of agreement. */
  checkScreen?(): Promise<void>;
  /** The text of the file that the window saves during the action. */
  readDownload?(action: () => Promise<void>): Promise<string>;
}

const open = (page: Page, address: string) => page.evaluate((hash) => void (location.hash = hash), address);
const items = 20;

async function createRubric(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New rubric' }).click();
  const form = page.getByRole('form', { name: 'New rubric' });
  await form.getByLabel('Name').fill('Refund policy');
  await form.getByLabel('Question').fill('Does every promise match the terms?');
  await form.getByRole('button', { name: 'Add item' }).click();
  const second = form.getByRole('group', { name: 'Item 2' });
  await second.getByLabel('Question').fill('What went wrong?');
  await second.getByLabel('Answer', { exact: true }).selectOption('Category');
  await second.getByPlaceholder('Category 1').fill('Wrong policy');
  await second.getByPlaceholder('Category 2').fill('Made up');
  await form.getByRole('button', { name: 'Create rubric' }).click();
  await form.waitFor({ state: 'hidden' });
}

async function createQueue(page: Page): Promise<void> {
  await open(page, '/audit/rated=no');
  await page.getByRole('button', { name: 'More audit actions' }).click();
  await page.getByRole('menuitem', { name: 'New review queue' }).click();
  const form = page.getByRole('form', { name: 'New review queue' });
  await form.getByLabel('Name').fill('Refund promises');
  await createRubric(page);
  await form.getByLabel('Plan').selectOption('Random sample');
  await form.getByLabel('Size as').selectOption('Number');
  await form.getByLabel('Size', { exact: true }).fill(String(items));
  await form.getByLabel('Seed').fill('4711');
  await expect(form).toContainText(`${items} conversations of`);
  await form.getByRole('button', { name: 'Create review queue' }).click();
}

async function reviewAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Reviewer: / }).click();
  await page.getByRole('menuitem', { name: 'Add a reviewer' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a reviewer' });
  await dialog.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: `Reviewer: ${name}` })).toBeVisible();
}

/** Reviews every item with keys alone. */
async function reviewAll(page: Page, keysOf: (index: number) => readonly string[]): Promise<void> {
  const rubric = page.getByRole('region', { name: 'Rubric' });
  for (let index = 0; index < items; index += 1) {
    await expect(rubric).toContainText('0 of 2 answered');
    for (const key of keysOf(index)) await page.keyboard.press(key);
    await expect(rubric).toContainText('2 of 2 answered');
    await page.keyboard.press('Control+Enter');
  }
}

/** Creates a queue, has two people review it with keys alone, and decides what they disagree about. */
export async function followReviewJourney({ page, call, checkScreen, readDownload }: ReviewJourney): Promise<void> {
  await call('POST', '/window/audit/samples');
  await createQueue(page);
  await reviewAs(page, 'wren');
  await reviewAll(page, (index) => ['n', index % 2 === 0 ? '1' : '2']);
  await expect(page.getByText('Nothing left for you')).toBeVisible();

  await reviewAs(page, 'heron');
  await checkScreen?.();
  // Two of them differ.
  await reviewAll(page, (index) => ['n', index % 2 === 0 && index > 3 ? '1' : '2']);
  await page.getByRole('button', { name: 'Show agreement' }).click();

  const middle = page.getByRole('region', { name: 'Disagreements' });
  await page.getByRole('button', { name: /What went wrong/ }).click();
  await expect(
    page.getByRole('status').filter({ hasText: 'Ratings agree in 90% of pairs, over 20 items.' }),
  ).toBeVisible();
  await middle.getByRole('button', { name: /Made up, .*Wrong policy: 2$|Wrong policy, .*Made up: 2$/ }).click();
  await expect(middle.getByRole('button', { name: /Undecided/ })).toHaveCount(2);
  await checkScreen?.();
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await expect(middle.getByRole('button', { name: /Undecided/ })).toHaveCount(1);
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await expect(middle.getByRole('button', { name: /Undecided/ })).toHaveCount(0);

  const table = await readDownload?.(async () => {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV, a column per reviewer' }).click();
  });
  if (table !== undefined) expect(table.split('\n')[0]).toMatch(/wren.*heron|heron.*wren/);
}
