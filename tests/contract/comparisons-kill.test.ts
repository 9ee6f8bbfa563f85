// @module-tag slow
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/http-clients.ts';
import { killWhileComparing } from '../support/kills-while-comparing.ts';
import { longTest } from '../support/patience.ts';

test('however often the host is killed, the provider gets no cell twice', longTest, async () => {
  const report = await killWhileComparing({
    directory: await temporaryFolder(),
    rows: 150,
    kills: 3,
    lifetime: () => 100 + Math.random() * 400,
    answerMs: () => Math.random() * 30,
  });
  expect(report.problems).toEqual([]);
  expect(report.completed + report.interrupted).toBe(300);
  expect(report.completed).toBeGreaterThan(250);
});
