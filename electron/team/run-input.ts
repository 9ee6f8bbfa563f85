import { type RawBuilder, sql } from 'kysely';
import type { CopiedRun } from './copied-run.ts';

const columnTypes = {
  sequence: 'bigint',
  previous_sequence: 'bigint',
  next_sequence: 'bigint',
  id: 'uuid',
  position: 'bigint',
  conversation_id: 'uuid',
  workspace_id: 'uuid',
  created_at: 'bigint',
  status: 'text',
  served_model: 'text',
  first_token_ms: 'float8',
  total_ms: 'float8',
  prompt_tokens: 'float8',
  completion_tokens: 'float8',
  total_tokens: 'float8',
  cost: 'float8',
  score: 'integer',
  score_text: 'text',
  score_tags: 'text',
  score_search: 'text',
  feedback_at: 'bigint',
  terms: 'text[]',
} as const satisfies { [Name in Exclude<keyof CopiedRun, keyof typeof textTypes>]: string };

/** With the numbers of the types in PostgreSQL, which never change. */
const textTypes = { row: 114, contents: 114, words: 3614 } as const;

const namesOf = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
const columnNames = Object.keys(columnTypes);
export const runColumns = sql.raw(namesOf(columnNames));
const inputColumns = sql.raw(namesOf([...columnNames, ...Object.keys(textTypes)]));
const recordTypes = sql.raw(
  Object.entries(columnTypes)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', '),
);

/** An array without nulls in PostgreSQL's binary format: texts needn't be escaped, and the server needn't look for the escapes. */
function binaryArray(type: number, values: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  const numbers = (...given: readonly number[]) => {
    const buffer = Buffer.allocUnsafe(4 * given.length);
    for (const [index, each] of given.entries()) buffer.writeInt32BE(each, 4 * index);
    parts.push(buffer);
  };
  // One dimension, no nulls, the type of the elements, their number, and the index of the first one.
  numbers(1, 0, type, values.length, 1);
  for (const value of values) {
    numbers(value.length);
    parts.push(value);
  }
  return Buffer.concat(parts);
}

/** Runs as the table `input` of a statement: `WITH ${runInput(runs)} SELECT … FROM input`. There must be at least one. */
export function runInput(runs: readonly CopiedRun[]): RawBuilder<unknown> {
  const columns = runs.map(({ row: _row, contents: _contents, words: _words, ...rest }) => rest);
  const row = binaryArray(
    textTypes.row,
    runs.map((run) => Buffer.from(run.row)),
  );
  const contents = binaryArray(
    textTypes.contents,
    runs.map((run) => Buffer.from(run.contents)),
  );
  const words = binaryArray(
    textTypes.words,
    runs.map((run) => run.words),
  );
  return sql`input AS MATERIALIZED (
    SELECT * FROM ROWS FROM (
      json_to_recordset(${JSON.stringify(columns)}) AS (${recordTypes}),
      unnest(${row}::json[], ${contents}::json[], ${words}::tsvector[])
    ) AS input (${inputColumns}))`;
}
