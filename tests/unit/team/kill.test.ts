// @module-tag slow
import { expect, test } from 'vitest';
import { fewestCopied, killWhileCopying } from '../../support/kills-while-copying.ts';
import { describeWithPostgres } from '../../support/postgres.ts';
import { longTest } from '../../support/patience.ts';
import { temporaryDirectory } from '../storage/test-storage.ts';
import { createTeamDatabase, usePostgres } from './team-world.ts';

describeWithPostgres('kill -9', () => {
  const server = usePostgres({ isDurable: true });

  test('of hosts and of PostgreSQL loses no run in the team database and stores none twice', longTest, async () => {
    const report = await killWhileCopying({
      server: server(),
      // Otherwise the first rounds may end while the tables are created.
      address: await createTeamDatabase(server()),
      directories: [temporaryDirectory(), temporaryDirectory()],
      rounds: 3,
      killServerAfter: (round) => (round % 2 === 0 ? 1500 + 150 * round : null),
      runsBefore: (round) => 300 + 60 * round,
    });
    expect(report.problems).toEqual([]);
    expect(report.answered).toBeGreaterThanOrEqual(1800);
    expect(report.copiedBefore).toBeGreaterThan(fewestCopied);
    expect(report.copied).toBeGreaterThanOrEqual(report.answered);
  });
});
