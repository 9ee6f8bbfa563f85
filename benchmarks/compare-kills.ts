/**
 * Kills the headless host (`kill -9`) at random moments while it runs a comparison, then lets it finish: the provider may not get a
 * cell twice, and every cell must have completed or say that it was interrupted. `npm run benchmark -- compare-kills [ROWS KILLS]`,
 * 1,500 and 50 by default.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killWhileComparing } from '../tests/support/kills-while-comparing.ts';
import { printReport, row } from './support/report.ts';

const [rows = 1500, kills = 50] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'touchstone-kills-'));
try {
  const lifetime = () => Math.random() * 600;
  const answerMs = () => Math.random() * 40;
  const { problems, ...counts } = await killWhileComparing({ directory, rows, kills, lifetime, answerMs });
  for (const problem of problems.slice(0, 50)) console.log(problem);
  printReport('compare-kills', [
    row('kills', kills, ''),
    row('calls to the provider', counts.calls, ''),
    row('completed cells', counts.completed, ''),
    row('interrupted cells, which nobody repeats', counts.interrupted, ''),
    row('problems', problems.length, '', { max: 0 }),
  ]);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
