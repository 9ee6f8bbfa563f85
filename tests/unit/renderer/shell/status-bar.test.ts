import { expect, test } from 'vitest';
import { databaseSummary } from '../../../../renderer/shell/status-bar.tsx';

test.each([
  [0, 0, 'No runs yet'],
  [0, 1, '1 run, 2 KB'],
  [3, 1, '3 runs, 2 KB'],
])('with %i stored and %i streaming runs the status bar says "%s"', (runs, streaming, text) => {
  expect(databaseSummary({ runs, databaseBytes: 2000 }, streaming)).toBe(text);
});
