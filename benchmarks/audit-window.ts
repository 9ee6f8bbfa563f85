import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runToEnd } from '../scripts/project-node.mjs';
import { obstacleTo } from '../scripts/suite-needs.ts';
import { readAhead } from '../electron/audit/index/read-ahead.ts';
import { completeAuditIndex, prepareAuditFolder } from './support/audit-folder.ts';
import { printReport, type Row } from './support/report.ts';

/**
 * Repeats an auditor's session in the window, by keyboard, in Chromium and on the desktop, and measures frames while the list
 * scrolls and the time from a key to the rows. A million runs unless `--runs N`; `--directory DIR` (or
 * `TOUCHSTONE_AUDIT_DIRECTORY`) uses an existing data folder, such as that of `npm run benchmark -- audit`. `--project browser` or
 * `electron` for one of the two. Every round starts with the pages and files in memory. The session removes everything that it
 * creates, except for one replayed run.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    directory: { type: 'string' },
    project: { type: 'string', multiple: true, default: ['browser', 'electron'] },
  },
});
const given = values.directory ?? process.env['TOUCHSTONE_AUDIT_DIRECTORY'];
const folder = mkdtempSync(join(tmpdir(), 'touchstone-audit-window-'));
const directory = given ?? join(folder, 'data');
const config = join(import.meta.dirname, 'audit-window/playwright.config.ts');
const rows: Row[] = [];

prepareAuditFolder(directory, Number(values.runs));
completeAuditIndex(directory);
for (const project of values.project as ('browser' | 'electron')[]) {
  const obstacle = await obstacleTo(project);
  if (obstacle) {
    console.log(`NOT RUN in ${project}: ${obstacle}`);
    process.exitCode = 1;
    continue;
  }
  for (const _ of readAhead(directory));
  const figures = join(folder, `${project}.json`);
  const env = { ...process.env, TOUCHSTONE_AUDIT_DIRECTORY: directory, TOUCHSTONE_AUDIT_FIGURES: figures };
  const parameters = ['node_modules/@playwright/test/cli.js', 'test', '-c', config, `--project=${project}`];
  if ((await runToEnd(process.execPath, parameters, { env })) === 0) {
    rows.push(...(JSON.parse(readFileSync(figures, 'utf8')) as Row[]));
  } else process.exitCode = 1;
}
rmSync(folder, { recursive: true, force: true });
printReport('audit-window', rows);
