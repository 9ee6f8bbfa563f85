import { expect, type Page } from '@playwright/test';

export interface DatasetJourney {
  readonly page: Page;
  /** Calls an endpoint as another window or program does. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

const table = '\uFEFFticket;expected\r\n"late;\r\nvery late";sorry\r\nbroken;replace it\r\n';

/** Imports a file of a spreadsheet after its preview. */
export async function importSpreadsheet(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Import file' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import dataset' });
  const file = { name: 'Tickets.csv', mimeType: 'text/csv', buffer: Buffer.from(table) };
  await dialog.getByLabel('Dataset files').setInputFiles(file);
  await expect(dialog.getByText('2 rows, 2 columns')).toBeVisible();
  await dialog.getByLabel('Name of ticket').fill('message');
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  const opened = page.getByRole('button', { name: 'Open dataset' });
  await expect(page.getByRole('grid').or(opened)).toBeVisible();
  if (await opened.isVisible()) await opened.click();
}

/** Puts text on the clipboard of the grid, as a spreadsheet does. */
export async function pasteText(page: Page, text: string): Promise<void> {
  await page.getByRole('grid').evaluate((grid, content) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', content);
    grid.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

const cell = (page: Page, text: string) => page.getByRole('gridcell', { name: text, exact: true });

/** Types, pastes, undoes, reloads and saves with the keyboard alone. */
async function editByKeyboard({ page }: DatasetJourney): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Rows of Tickets' });
  await expect(cell(page, 'late; ↵ very late')).toBeVisible();
  await grid.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('replace');
  await page.keyboard.press('Alt+Enter');
  await page.keyboard.type('now');
  await page.keyboard.press('Enter');
  await expect(cell(page, 'replace ↵ now')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(cell(page, 'replace it')).toBeVisible();
  await page.keyboard.press('Control+y');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await pasteText(page, '"first\nline"\tok\nsecond\tok\tmore');
  await expect(cell(page, 'first ↵ line')).toBeVisible();
  await expect(grid.getByRole('columnheader', { name: /^Column/ })).toBeVisible();
  await page.reload();
  await expect(cell(page, 'second')).toBeVisible();
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved version 2.', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Version 2', exact: true }).click();
  await expect(page.getByText('3 rows: 1 row changed, 1 row added, 1 column added')).toBeVisible();
  await page.keyboard.press('Escape');
}

/** A version that is saved elsewhere is neither lost nor overwritten without a choice. */
async function resolveConflict({ page, call }: DatasetJourney): Promise<void> {
  const id = new URL(page.url()).hash.split('/')[3];
  await call('POST', `/datasets/${id}/versions`, { changes: { added: [{ message: 'from elsewhere' }] } });
  await cell(page, 'second').click();
  await page.keyboard.type('mine');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+s');
  const choice = page.getByRole('alertdialog', { name: 'Version 3 was saved elsewhere' });
  await choice.getByRole('button', { name: 'Save mine as version 4' }).click();
  await expect(page.getByText('Saved version 4.', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Version 4', exact: true }).click();
  await page.getByRole('button', { name: /^Version 3/ }).click();
  await expect(cell(page, 'from elsewhere')).toBeVisible();
  await expect(page.getByText('Version 3 is read-only. Version 4 is the latest.')).toBeVisible();
  await page.getByRole('button', { name: 'Restore version 3' }).click();
  await expect(page.getByText('Restored version 3 as version 5.', { exact: true })).toBeVisible();
  await expect(cell(page, 'from elsewhere')).toBeVisible();
}

/** From the file of a spreadsheet to a version that survives another window. */
export async function followDatasetJourney(journey: DatasetJourney): Promise<void> {
  await importSpreadsheet(journey.page);
  await editByKeyboard(journey);
  await resolveConflict(journey);
}

/** Pastes many rows and scrolls through them. */
export async function pasteManyRows(page: Page, count: number): Promise<void> {
  const grid = page.getByRole('grid');
  await grid.focus();
  await page.keyboard.press('Control+Home');
  const lines = Array.from({ length: count }, (_, index) => `row ${index}\t"text ${index}\nmore"\tlast ${index}`);
  await pasteText(page, lines.join('\n'));
  await expect(grid).toHaveAttribute('aria-rowcount', `${count + 1}`);
  for (const part of [0.1, 0.5, 0.9, 0.3]) {
    await grid.evaluate((element, share) => element.scrollTo(0, element.scrollHeight * share), part);
    const inView = new RegExp(`^row ${String(count * part)[0]}\\d{${String(count * part).length - 1}}$`);
    await expect(grid.getByRole('gridcell', { name: inView }).first()).toBeVisible();
  }
  await page.keyboard.press('Control+End');
  await expect(cell(page, `last ${count - 1}`)).toBeVisible();
}
