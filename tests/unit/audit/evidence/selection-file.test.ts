import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSelection, writeSelection } from '../../../../electron/audit/evidence/pack-selection.ts';
import { fc } from '../../../support/fast-check.ts';
import { temporaryDirectory } from '../../storage/test-storage.ts';

const runs = fc.oneof(
  { weight: 9, arbitrary: fc.array(fc.nat(), { maxLength: 9 }) },
  // Longer than what is read at once.
  {
    weight: 1,
    arbitrary: fc.integer({ min: 16_000, max: 40_000 }).map((length) => Array.from({ length }, (_, at) => at)),
  },
);

test('a selection can be read from any conversation on', async () => {
  const file = join(temporaryDirectory(), 'selection.bin');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ conversation: fc.nat(), runs }), { maxLength: 12 }),
      fc.nat({ max: 12 }),
      async (selected, skipped) => {
        const numbers = Int32Array.from(selected.flatMap((one) => [one.conversation, one.runs.length, ...one.runs]));
        expect(await writeSelection(file, numbers)).toBe(selected.length);
        const all = await Array.fromAsync(readSelection(file, { offset: 0 }));
        expect(all.map(({ conversation, runs: found }) => ({ conversation, runs: found }))).toEqual(selected);
        const offset = skipped === 0 ? 0 : (all[Math.min(skipped, all.length) - 1]?.offset ?? 0);
        const rest = await Array.fromAsync(readSelection(file, { offset }));
        expect(rest).toEqual(all.slice(Math.min(skipped, all.length)));
      },
    ),
    { numRuns: 60 },
  );
});
