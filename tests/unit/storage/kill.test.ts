// @module-tag slow
import { expect, test } from 'vitest';
import { killWhileRecording } from '../../support/kills-while-recording.ts';
import { temporaryDirectory } from './test-storage.ts';
import { longTest } from '../../support/patience.ts';

const kills = 8;

test('no answered run is missing after repeated kill -9, and the database is intact', longTest, async () => {
  const directory = temporaryDirectory();
  const report = await killWhileRecording({ directory, kills, runsBefore: (kill) => 20 + 97 * kill });
  expect(report.problems).toEqual([]);
  expect(report.answered).toBeGreaterThanOrEqual(kills * 20);
});
