import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killWhileCopying } from '../tests/support/kills-while-copying.ts';
import { obstacleToPostgres, TestPostgres } from '../tests/support/postgres.ts';
import { printReport, row } from './support/report.ts';
import { createRandom } from './support/text-writer.ts';

/**
 * Kills two hosts that record and copy runs, and in most rounds PostgreSQL, too (`--rounds N`, 100 by default). Every answered run and
 * all feedback must be in the team database once, with correct counts. Exits with 1 after a failure. `--seed N` repeats the same times.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const obstacle = obstacleToPostgres();
if (obstacle !== null) throw new Error(obstacle);
const rounds = Number(values.rounds);
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'touchstone-team-kills-'));
const server = await TestPostgres.start({ isDurable: true });
try {
  const report = await killWhileCopying({
    server,
    address: await server.createDatabase(),
    directories: [join(folder, 'one'), join(folder, 'two')],
    rounds,
    killServerAfter: () => (random.next() < 0.7 ? 400 + 2000 * random.next() : null),
    runsBefore: () => 1 + Math.floor(400 * random.next()),
  });
  for (const problem of report.problems) console.log(problem);
  printReport('team-kills', [
    row('rounds in which both hosts were killed', rounds, '', { min: 100 }),
    row('rounds in which PostgreSQL was killed', report.serverKills, ''),
    row('runs that had been answered', report.answered, ''),
    row('of these in the team database before the last start', report.copiedBefore, ''),
    row('runs in the team database', report.copied, '', { min: report.answered }),
    row('lost, duplicated or wrong', report.problems.length, '', { max: 0 }),
  ]);
  if (report.problems.length > 0) process.exitCode = 1;
} finally {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}
