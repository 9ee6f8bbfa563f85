/**
 * Kills the headless host (`kill -9`) at random times while it receives and indexes files, then lets it finish and checks every
 * file: none may be missing, duplicated or incomplete. `npm run benchmark -- indexing-kills [FILES KILLS]`, 200 and 25 by default.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killWhileIndexing } from '../tests/support/kills-while-indexing.ts';

const [files = 200, kills = 25] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'touchstone-kills-'));
try {
  const startedAt = performance.now();
  const lifetime = () => 100 + Math.random() * 4000;
  const { problems, ...counts } = await killWhileIndexing({ directory, files, kills, lifetime });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(JSON.stringify({ files, kills, ...counts, seconds, problems: problems.length }));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
