// @module-tag slow
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/http-clients.ts';
import { killWhileIndexing } from '../support/kills-while-indexing.ts';
import { longTest } from '../support/patience.ts';

test(
  'however often the host is killed, every file is ready or failed with a reason, without duplicates',
  longTest,
  async () => {
    const options = { directory: await temporaryFolder(), files: 18, kills: 3 };
    const report = await killWhileIndexing({ ...options, lifetime: () => 100 + Math.random() * 1500 });
    expect(report.problems).toEqual([]);
    expect(report.answered).toBeGreaterThan(0);
    expect(report.ready + report.failed).toBeGreaterThanOrEqual(report.answered);
  },
);
