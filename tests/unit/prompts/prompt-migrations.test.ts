import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { auditTables, firstTables, promptTables } from '../../../electron/storage/migrations/from-0001.ts';
import { promptLibraryTables, promptUsageTables } from '../../../electron/storage/migrations/from-0010.ts';

const versionsApart = 2 ** 24;

/** A row of a table with what the test says and something in every other column that must have it. */
function insert(database: Database.Database, table: string, row: Record<string, unknown>): void {
  const columns = database.pragma(`table_info(${table})`) as {
    name: string;
    type: string;
    notnull: number;
    pk: number;
  }[];
  const needed = columns.filter(({ name, notnull, pk }) => notnull === 1 && pk === 0 && !(name in row));
  const whole = { ...Object.fromEntries(needed.map(({ name, type }) => [name, type === 'TEXT' ? name : 0])), ...row };
  const names = Object.keys(whole);
  const positions = names.map((name) => `@${name}`).join(', ');
  database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${positions})`).run(whole);
}

test('finds prompts from before the search by all of their texts', () => {
  const database = new Database(':memory:');
  database.exec(promptTables);
  const prompt = {
    name: 'Reply',
    folder: 'support',
    tags_json: '["kind", "short"]',
    description: null,
    latest_version_id: 'b',
  };
  insert(database, 'prompts', { ...prompt, sequence: 3, id: 'kept' });
  insert(database, 'prompts', { ...prompt, sequence: 4, id: 'gone', deleted_at: 1 });
  const variables_json = JSON.stringify([
    { name: 'customer', description: 'Who asks', defaultValue: null, sampleValue: 'Ada' },
  ]);
  const version = { prompt_text: 'About {{customer}}', model: 'gpt-4o', note: 'First', variables_json };
  insert(database, 'prompt_versions', { ...version, id: 'a', prompt: 3, number: 1 });
  insert(database, 'prompt_versions', { ...version, id: 'b', prompt: 3, number: 2, prompt_text: 'zz' });
  insert(database, 'prompt_versions', { ...version, id: 'c', prompt: 4, number: 1 });
  database.exec(promptLibraryTables);
  const find = database
    .prepare<[string], number>('SELECT rowid FROM prompt_search WHERE prompt_search MATCH ?')
    .pluck();
  const own = 3 * versionsApart;
  expect(
    Object.fromEntries(
      ['"reply"', '"kind"', '"about"', '"who asks"', '"ada"', '"gpt-4"', '"description"'].map((word) => [
        word,
        find.all(word),
      ]),
    ),
  ).toEqual({
    '"reply"': [own],
    '"kind"': [own],
    '"about"': [own + 1],
    '"who asks"': [own + 1, own + 2],
    '"ada"': [own + 1, own + 2],
    '"gpt-4"': [own + 1, own + 2],
    '"description"': [],
  });
  const short = database.prepare<[], string>(
    "SELECT term FROM prompt_search_terms WHERE term >= 'zz' AND term < 'zzz'",
  );
  expect(short.pluck().all()).toEqual(['zz\n']);
});

test('counts runs from before the statistics', () => {
  const database = new Database(':memory:');
  database.exec(firstTables);
  database.exec(auditTables);
  const run = { conversation: 1, prompt_version_id: 'a', status: 'Completed' };
  insert(database, 'conversations', { sequence: 1, id: 'c' });
  insert(database, 'runs', { ...run, sequence: 1, id: '1', message_id: '1', created_at: 5, total_ms: 10, cost: 2 });
  insert(database, 'runs', {
    ...run,
    sequence: 2,
    id: '2',
    message_id: '2',
    created_at: 7,
    total_ms: null,
    cost: null,
  });
  insert(database, 'runs', { ...run, sequence: 3, id: '3', message_id: '3', created_at: 9, prompt_version_id: null });
  insert(database, 'feedback', { run: 1, score: -4 });
  database.exec(promptUsageTables);
  expect(database.prepare('SELECT * FROM prompt_version_usage').all()).toEqual([
    {
      version_id: 'a',
      runs: 2,
      last_run_at: 7,
      timed_runs: 1,
      total_ms: 10,
      priced_runs: 1,
      cost: 2,
      scored_runs: 1,
      score: -4,
    },
  ]);
});
