import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../electron/storage/database.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import { parseTeamAddress } from '../../shared/team-address.ts';
import { openTeamConnection } from '../../electron/team/connection.ts';
import { Copier } from '../../electron/team/copier.ts';
import { createLocalRuns } from '../../electron/team/local-runs.ts';
import { sampleOutcome, sampleRun } from '../unit/storage/sample-run.ts';
import { auditPage } from '../e2e/browser/audit-page.ts';
import type { TestPostgres } from './postgres.ts';

/** Copies the runs of another host to a team database, which is then not running any more. Returns the address. */
export async function fillTeam(server: TestPostgres): Promise<string> {
  const address = await server.createDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-other-host-'));
  const storage = openStorage({ directory });
  for (const bird of ['kingfisher', 'heron', 'osprey']) {
    const run = sampleRun({
      promptText: `Where does the ${bird} nest?`,
      renderedPrompt: `Where does the ${bird} nest?`,
    });
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, sampleOutcome({ content: `The ${bird} nests near the water.` }));
  }
  const { database, close } = await openTeamConnection(parseTeamAddress(address), null);
  const local = new Database(databaseFile(directory), { readonly: true });
  const copier = new Copier(database, createLocalRuns(local));
  for (let progress = await copier.step(); progress.copied > 0;) progress = await copier.step();
  local.close();
  await close();
  await storage.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  return address;
}

/** A person finds another host's run in the audit of the team by its text, reads it, rates it, exports it as evidence, and begins a queue of it. */
export async function followTeamJourney(page: Page, server: TestPostgres, address: string): Promise<void> {
  const audit = auditPage(page);
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await page.getByRole('radio', { name: 'Team' }).click();
  await audit.settled();
  await page.getByLabel('Search conversations').fill('kingfisher');
  await expect(audit.count).toHaveText('1 conversation');
  await audit.list.getByRole('option').first().click();
  await expect(audit.detail).toContainText('The kingfisher nests near the water.');

  await audit.feedback.getByRole('radio', { name: '7', exact: true }).click();
  await expect(audit.feedback.getByRole('radio', { checked: true })).toHaveAccessibleName('7');
  const scores = () => server.query(address, 'SELECT score FROM touchstone.runs WHERE score IS NOT NULL');
  await expect.poll(scores).toEqual([{ score: 7 }]);

  await page.getByRole('button', { name: 'Evidence pack' }).click();
  const dialog = page.getByRole('dialog', { name: 'Evidence pack' });
  await expect(dialog).toContainText('All 1 matching conversation');
  await dialog.getByRole('button', { name: 'Create pack' }).click();
  await expect(dialog.getByText('Complete')).toBeVisible();

  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More audit actions' }).click();
  await page.getByRole('menuitem', { name: 'New review queue' }).click();
  const form = page.getByRole('form', { name: 'New review queue' });
  await expect(form).toContainText('From the runs of all hosts of the team');
  await expect(form).toContainText('of 1 that match.');
}
