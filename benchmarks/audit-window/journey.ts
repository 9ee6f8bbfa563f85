import { expect, type Page } from '@playwright/test';
import { auditPage } from '../../tests/e2e/browser/audit-page.ts';
import { row, type Row } from '../support/report.ts';
import { recordFrames } from './frames.ts';

const viewName = 'The twelve that matter';

/** Filters the list by text and by a value. */
async function narrow(page: Page): Promise<void> {
  const audit = auditPage(page);
  await page.keyboard.press('/');
  await page.keyboard.type('customer formal');
  await expect(page).toHaveURL(/text=customer\+formal/);
  await page.keyboard.press('Enter');
  await audit.settled();
  await page.keyboard.press('f');
  await page.keyboard.type('status');
  await page.keyboard.press('Enter');
  await page.keyboard.type('completed');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Status' })).toContainText('Completed');
  await page.keyboard.press('Escape');
  await audit.settled();
}

async function readAndJudge(page: Page): Promise<void> {
  const audit = auditPage(page);
  await page.keyboard.press('j');
  await expect(audit.openRow).toHaveAttribute('aria-posinset', '2');
  await expect(audit.detail).toContainText(/2 of/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Text of the run' })).toBeFocused();
  await page.keyboard.press('-');
  await page.keyboard.press('7');
  await expect(audit.feedback.getByRole('radio', { checked: true })).toHaveAccessibleName('-7');
  await expect(audit.openRow).toContainText('−7');
  await page.keyboard.press('Escape');
}

/** Saves the filter as a view and deletes the view. */
async function keepView(page: Page): Promise<void> {
  const views = page.getByRole('navigation', { name: 'Saved views' });
  await page.keyboard.press('s');
  await page.keyboard.type(viewName);
  await page.keyboard.press('Enter');
  await expect(views.getByRole('button', { name: viewName, exact: true })).toHaveAttribute('aria-current', 'true');
  await views.getByRole('button', { name: `Actions for view ${viewName}` }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await expect(views.getByRole('button', { name: viewName, exact: true })).toHaveCount(0);
}

async function writePack(page: Page): Promise<void> {
  await auditPage(page).list.focus();
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Evidence pack' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Evidence pack' });
  await expect(dialog).toContainText('1 selected conversation');
  await expect(dialog.locator(':focus')).toHaveCount(1);
  const packs = await dialog.getByRole('button', { name: /^Delete / }).count();
  await dialog.getByRole('button', { name: 'Create pack' }).press('Enter');
  await expect(dialog.getByRole('button', { name: /^Delete / })).toHaveCount(packs + 1);
  const written = dialog.getByRole('region').filter({ has: page.getByRole('button', { name: /^Delete / }) });
  await expect(written.first().getByText('Complete', { exact: true })).toBeVisible();
  await written
    .first()
    .getByRole('button', { name: /^Delete / })
    .press('Enter');
  await expect(dialog.getByRole('button', { name: /^Delete / })).toHaveCount(packs);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
}

/** Replays the selected conversation's run on the scripted endpoint's model. */
async function replay(page: Page, model: string): Promise<void> {
  await auditPage(page).list.focus();
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: /^Replay/ });
  await dialog.getByRole('button', { name: /^Model/ }).press('Enter');
  await page.keyboard.type(model);
  await expect(page.getByRole('option', { name: `mill/${model}`, exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Replay', exact: true }).press('Enter');
  await expect(page).toHaveURL(/#\/audit\/replays\/[\da-f-]{36}$/);
  await expect(page.getByText('1 of 1', { exact: true }).first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'After', exact: true })).toContainText('free of charge');
  await page.getByRole('button', { name: / \(runs are kept\)$/ }).press('Enter');
  await page.getByRole('button', { name: 'Conversations', exact: true }).press('Enter');
  await auditPage(page).settled();
}

/** Removes the feedback, so that the next measurement starts without it. */
async function takeFeedbackBack(page: Page): Promise<void> {
  await auditPage(page).list.focus();
  await page.keyboard.press('0');
  await expect(auditPage(page).feedback.getByRole('radio', { checked: true })).toHaveAccessibleName('0');
}

/** Searches, reads, rates, saves, exports and replays, by keyboard alone. Every step checks its result. */
export async function goOnJourney(page: Page, prefix: string, model: string): Promise<Row[]> {
  const steps: Record<string, () => Promise<void>> = {
    'filter and full text': () => narrow(page),
    'read and judge': () => readAndJudge(page),
    'save a view and delete it': () => keepView(page),
    'take the judgement back': () => takeFeedbackBack(page),
    'write an evidence pack': () => writePack(page),
    'replay on another model': () => replay(page, model),
  };
  const rows: Row[] = [];
  for (const [what, step] of Object.entries(steps)) {
    const startedAt = performance.now();
    const { intervals } = await recordFrames(page, step);
    rows.push(
      row(`${prefix}, journey, ${what}: whole step`, performance.now() - startedAt, 'ms'),
      row(`${prefix}, journey, ${what}: slowest frame`, Math.max(...intervals), 'ms'),
    );
  }
  return rows;
}
