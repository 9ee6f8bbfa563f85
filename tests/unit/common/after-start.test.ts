import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { compilationFlags } from '../../../electron/common/after-start.ts';

test('the engine knows the flags that have requests compiled sooner', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const flag of compilationFlags) expect(known).toContain(`${flag.split('=')[0]} (`);
});
