import { expect, test } from 'vitest';
import { createReplays } from '../../../../electron/audit/replay/create-replays.ts';
import { openTestStorage } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';

test("the rest of a killed host's replay waits for a person; answered runs don't run again", async () => {
  const storage = openTestStorage();
  const answered = sampleRun();
  const interrupted = sampleRun();
  for (const run of [answered, interrupted]) storage.runs.begin(run);
  await storage.runs.finish(answered.runId, sampleOutcome());
  await storage.runs.finish(interrupted.runId, sampleOutcome({ status: 'Failed' }));
  const original = '11111111-1111-4111-8111-111111111111';
  const stored = storage.replays.create(
    { id: original, name: 'Replay', state: 'running', target: {}, parallel: 2, createdAt: 1000 },
    [original, original, original, original],
  );
  const left = [
    { position: 0, state: 'running', replayed: answered.runId, failure: null },
    { position: 1, state: 'running', replayed: interrupted.runId, failure: null },
    { position: 2, state: 'running', replayed: null, failure: null },
    { position: 3, state: 'failed', replayed: null, failure: 'It failed.' },
  ] as const;
  for (const run of left) storage.replays.setRun(stored.sequence, run);

  const unused = (): never => {
    throw new Error('Nothing is run by itself.');
  };
  const open = () =>
    createReplays({
      store: storage.replays,
      runs: storage.runs,
      audit: storage.audit,
      runIds: storage.exportRows.runIds,
      completions: { start: unused },
      providers: { resolve: unused },
      windowCallerId: storage.windowCallerId,
      log: unused,
    });
  const expected = { state: 'stopped', total: 4, waiting: 2, running: 0, completed: 1, failed: 1 };
  const replays = open();
  expect(replays.list()).toMatchObject([expected]);
  const { data } = await replays.results(original, { offset: 0, limit: 10 });
  expect(data.map(({ state }) => state)).toEqual(['completed', 'waiting', 'waiting', 'failed']);
  await replays.close();
  // It is kept, not only shown.
  expect(open().list()).toMatchObject([expected]);
});
