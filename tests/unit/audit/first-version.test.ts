import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { databaseFile } from '../../../electron/storage/database.ts';
import { firstTables } from '../../../electron/storage/migrations/from-0001.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';

const uuid = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;

/** A database as the first version left it, with one run. */
function leaveFirstVersion(directory: string): void {
  const database = new Database(databaseFile(directory));
  database.exec(firstTables);
  database.exec(`
    INSERT INTO conversations VALUES (1, '${uuid(1)}', 'An old one', '${uuid(2)}', NULL, 1, 1000, 1000);
    INSERT INTO runs (sequence, id, conversation, message_id, caller_id, ai_system, model, served_by, status, created_at,
      credits, title) VALUES (1, '${uuid(3)}', 1, '${uuid(4)}', '${uuid(2)}', 'OpenAi', 'gpt-4o', 'OpenAi/gpt-4o',
      'Completed', 1000, 1, 'An old one');
    INSERT INTO run_texts (run, prompt_text, rendered_prompt, content) VALUES (1, 'An old one', 'An old one', 'Kept well');
  `);
  database.pragma('user_version = 1');
  database.close();
}

test('finds runs of the first version by values and words, and accepts feedback on them', async () => {
  const directory = temporaryDirectory();
  leaveFirstVersion(directory);
  const { audit } = openTestStorage({ directory });
  audit.giveFeedback({ conversationId: uuid(1), runId: uuid(3) }, { score: 4 }, { reviewerId: 'reviewer' });
  const filter = { callerId: uuid(2), text: 'kept', feedback: { score: 4 } };
  const report = await audit.report(
    { filter, pageSize: 20, continuationToken: null, hasFeedback: true },
    { signal: new AbortController().signal },
  );
  expect(report).toMatchObject({
    conversations: [
      {
        id: uuid(1),
        runs: [
          {
            conversationRunId: uuid(3),
            matched: true,
            origin: { api: 'completions', client: null },
            feedback: { score: 4 },
          },
        ],
      },
    ],
    continuationToken: null,
  });
});

test('runs of the first version are completions, beside recorded ones', async () => {
  const directory = temporaryDirectory();
  leaveFirstVersion(directory);
  const { audit, runs } = openTestStorage({ directory });
  const recorded = sampleRun({ origin: { api: 'openai-chat', client: 'curl' } });
  runs.begin(recorded);
  await runs.finish(recorded.runId, sampleOutcome({ httpStatus: 429 }));
  const { signal } = new AbortController();
  expect(await audit.facets({ signal })).toMatchObject({
    origins: [
      { api: 'completions', runs: 1 },
      { api: 'openai-chat', runs: 1 },
    ],
    clients: [{ client: 'curl', runs: 1 }],
  });
  expect(runs.read(recorded.runId)).toMatchObject({ origin: recorded.origin, httpStatus: 429 });
  expect(runs.read(uuid(3))).toMatchObject({ origin: { api: 'completions', client: null }, httpStatus: null });
});
