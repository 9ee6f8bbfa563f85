import { expect, test } from 'vitest';
import { fc } from '../../support/fast-check.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { listAll, openTestStorage } from './test-storage.ts';

async function record(storage: ReturnType<typeof openTestStorage>, runs: ReturnType<typeof sampleRun>[]) {
  for (const run of runs) storage.runs.begin(run);
  await Promise.all(runs.map((run) => storage.runs.finish(run.runId, sampleOutcome())));
}

test('pages of any size contain every run once, newest first', async () => {
  const storage = openTestStorage();
  const runs = Array.from({ length: 23 }, () => sampleRun());
  await record(storage, runs);
  const newestFirst = runs.map(({ runId }) => runId).toReversed();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), (pageSize) => {
      expect(listAll(storage, pageSize).map(({ runId }) => runId)).toEqual(newestFirst);
    }),
  );
});

test('runs that arrive between pages neither repeat nor skip one', async () => {
  const storage = openTestStorage();
  const runs = Array.from({ length: 6 }, () => sampleRun());
  await record(storage, runs);
  const first = storage.runs.list({ pageSize: 4, continuationToken: undefined, draftId: undefined });
  await record(storage, [sampleRun(), sampleRun()]);
  const second = storage.runs.list({ pageSize: 4, continuationToken: first.continuationToken!, draftId: undefined });
  expect([...first.data, ...second.data].map(({ runId }) => runId)).toEqual(
    runs.map(({ runId }) => runId).toReversed(),
  );
  expect(second.continuationToken).toBeNull();
});

test("a draft's list has only the window's runs of that draft", async () => {
  const storage = openTestStorage();
  const mine = { callerId: storage.windowCallerId };
  const [expected, other, foreign, last] = [
    sampleRun({ ...mine, metadata: { draftId: 'one' } }),
    sampleRun({ ...mine, metadata: { draftId: 'two' } }),
    sampleRun({ metadata: { draftId: 'one' } }),
    sampleRun({ ...mine, metadata: { draftId: 'one' } }),
  ];
  await record(storage, [expected, other, foreign, last]);
  expect(listAll(storage, 1, 'one').map(({ runId }) => runId)).toEqual([last.runId, expected.runId]);
  expect(storage.runs.read(foreign.runId)).toMatchObject({ draftId: null, metadata: { draftId: 'one' } });
});

test('rejects a token of another list and names the field', async () => {
  const storage = openTestStorage();
  await record(storage, [sampleRun(), sampleRun()]);
  const { continuationToken } = storage.runs.list({ pageSize: 1, continuationToken: undefined, draftId: undefined });
  const rejected = expect.objectContaining({
    code: 'invalid_request',
    details: [{ field: 'continuationToken', issue: 'does not belong to this query' }],
  });
  const list = (token: string, draftId?: string) => () =>
    storage.runs.list({ pageSize: 1, continuationToken: token, draftId });
  expect(list(continuationToken!, 'one')).toThrow(rejected);
  expect(list('')).toThrow(rejected);
});

test.each([
  ['  \n\n First line \nsecond', 'First line'],
  ['x'.repeat(119) + '\u{1F600}', 'x'.repeat(119)],
  [' ', ''],
])('the title of %j is %j', (renderedPrompt, title) => {
  const storage = openTestStorage();
  storage.runs.begin(sampleRun({ renderedPrompt }));
  expect(listAll(storage, 1)[0]?.title).toBe(title);
});
