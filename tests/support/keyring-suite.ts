import { describe } from 'vitest';
import { obstacleToKeyring } from './keyring.ts';

/**
 * A suite that needs a real keyring. Without one it is skipped and says why in its name, so that the count of skipped tests
 * shows it; with TOUCHSTONE_REQUIRE_ALL_SUITES=1 that is a failure.
 */
export function describeWithKeyring(name: string, body: () => void): void {
  const obstacle = obstacleToKeyring();
  if (obstacle === null) {
    describe(name, body);
    return;
  }
  if (process.env['TOUCHSTONE_REQUIRE_ALL_SUITES'] === '1') throw new Error(`${name} cannot be tested: ${obstacle}`);
  process.stderr.write(`SKIPPED: ${name}. ${obstacle}\n`);
  describe.skip(`${name} (${obstacle})`, body);
}
