import { expect, test } from 'vitest';
import { beginStreamingRun, useActivity } from '../../../../renderer/stores/activity.ts';

test('a run counts as streaming until it ends, and ends once', () => {
  const endFirst = beginStreamingRun();
  const endSecond = beginStreamingRun();
  expect(useActivity.getState().streamingRuns).toBe(2);
  endFirst();
  endFirst();
  expect(useActivity.getState().streamingRuns).toBe(1);
  endSecond();
  expect(useActivity.getState().streamingRuns).toBe(0);
});
