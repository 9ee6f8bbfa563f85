import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDatabase, generateRuns } from '../../../benchmarks/support/audit-generator.ts';
import { test as served } from '../../support/served-window.ts';

interface AuditOptions {
  /** How many generated runs the host begins with. */
  runs: number;
}

/** Tests of the audit on a host that has runs already; `TOUCHSTONE_AUDIT_RUNS=1000000` makes them a million. */
export const test = served.extend<AuditOptions>({
  runs: [Number(process.env['TOUCHSTONE_AUDIT_RUNS'] ?? 3_000), { option: true }],
  hostOptions: async ({ runs }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
    fillDatabase(folder, generateRuns(runs));
    // The last folder that is given is the one that counts.
    await use(['--data-dir', folder]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  },
});

export { expect } from '../../support/served-window.ts';
