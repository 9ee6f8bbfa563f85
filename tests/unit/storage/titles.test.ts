import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { registerRenderedTitle, renderedTitles } from '../../../electron/storage/migrations/from-0018.ts';
import type { NewRun, RunOutcome } from '../../../electron/storage/run-rows.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { listAll, openTestStorage } from './test-storage.ts';

async function record(storage: Storage, change: Partial<NewRun>, outcome: Partial<RunOutcome> = {}) {
  const run = sampleRun(change);
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome(outcome));
  return run;
}

function titles(storage: Storage, run: NewRun): [title: string | undefined, name: string | undefined] {
  const title = listAll(storage, 100).find(({ runId }) => runId === run.runId)?.title;
  return [title, storage.audit.readConversation(run.conversationId, { hasFeedback: false })?.name];
}

const createPrompt = (storage: Storage) =>
  storage.prompts.create(
    { name: 'Translator', folder: null, tags: [], description: null },
    {
      promptText: 'Translate {{text}}',
      systemMessage: null,
      aiSystem: null,
      model: null,
      configuration: null,
      variables: [],
      note: null,
    },
  );

test('a run and its conversation are named by the first words of the rendered prompt, never by the template', async () => {
  const storage = openTestStorage();
  const run = await record(storage, {});
  expect(titles(storage, run)).toEqual(['Translate good morning', 'Translate good morning']);
  const grounded = await record(storage, {}, { sentPrompt: 'Answer from these passages:\n[1] …' });
  expect(titles(storage, grounded)).toEqual(['Translate good morning', 'Translate good morning']);
});

test.each([
  ['<system-reminder>\nToday is Monday.\n</system-reminder>\n\n<env id="1">Linux</env>\nFix the test', 'Fix the test'],
  ['<session>\nFix the test\n</session>', '<session>'],
  ['<b>Fix', '<b>Fix'],
  ['a < b', 'a < b'],
  ['<a>'.repeat(100_000), '<a>'.repeat(40)],
])('the title of a message leaves out the elements before its text: %#', async (text, title) => {
  const storage = openTestStorage();
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
  const run = await record(storage, { messages });
  expect(titles(storage, run)).toEqual([title, title]);
});

test("a conversation that starts with a stored prompt has the prompt's name", async () => {
  const storage = openTestStorage();
  const { id, latestVersionId } = createPrompt(storage);
  const run = await record(storage, { promptId: id, promptVersionId: latestVersionId });
  expect(titles(storage, run)).toEqual(['Translate good morning', 'Translator']);
});

test('a migrated database gets the same names, and anonymised rows stay without any', async () => {
  const storage = openTestStorage();
  const { id, latestVersionId } = createPrompt(storage);
  const plain = await record(storage, {});
  const grounded = await record(
    storage,
    { dataspaceIds: ['22222222-2222-4222-8222-222222222222'], replacements: { text: 'good night' } },
    { sentPrompt: 'Answer from these passages:' },
  );
  const broken = await record(storage, { promptText: '{{#if a}}', renderedPrompt: 'As it was sent' });
  const stored = await record(storage, { promptId: id, promptVersionId: latestVersionId });
  const anonymous = await record(storage, {});
  const named = await record(storage, { promptText: 'No variables', renderedPrompt: 'No variables' });
  await storage.close();
  const database = new Database(storage.databaseFile);
  database.exec(`
    UPDATE runs SET title = 'Translate {{text}}' WHERE title <> 'No variables';
    UPDATE conversations SET name = 'Translate {{text}}' WHERE name <> 'No variables';
  `);
  database.prepare("UPDATE runs SET title = 'Anonymised', is_anonymous = 1 WHERE id = ?").run(anonymous.runId);
  database.prepare("UPDATE conversations SET name = 'Anonymised' WHERE id = ?").run(anonymous.conversationId);
  registerRenderedTitle(database);
  database.exec(renderedTitles);
  database.close();
  const again = openTestStorage({ directory: storage.directory });
  expect([plain, grounded, broken, stored, anonymous, named].map((run) => titles(again, run))).toEqual([
    ['Translate good morning', 'Translate good morning'],
    ['Translate good night', 'Translate good night'],
    ['As it was sent', 'As it was sent'],
    ['Translate good morning', 'Translator'],
    ['Anonymised', 'Anonymised'],
    ['No variables', 'No variables'],
  ]);
});
