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

const columnNames = Object.keys(columnTypes).map((name) => `"${name}"`);
export const runColumns = sql.raw(columnNames.join(', '));
const recordTypes = sql.raw(
  Object.entries(columnTypes)
    .map((column) => column.join(' '))
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

/** The columns of runs without their texts, as the table `input` of a statement. */
export function columnInput(runs: readonly CopiedRun[]): RawBuilder<unknown> {
  const columns = runs.map(({ row: _row, contents: _contents, words: _words, ...rest }) => rest);
  return sql`json_to_recordset(${JSON.stringify(columns)}) AS input (${recordTypes})`;
}

/**
 * The texts of runs, as the table `input` of a statement. A function in FROM, or a table of WITH, would be copied as a whole before the
 * first row is used.
 */
export function textInput(runs: readonly CopiedRun[]): RawBuilder<unknown> {
  const texts = (type: number, each: (run: CopiedRun) => string | Buffer) =>
    binaryArray(
      type,
      runs.map((run) => Buffer.from(each(run))),
    );
  return sql`(
    SELECT unnest(${runs.map(({ sequence }) => sequence)}::bigint[]) AS sequence,
      unnest(${runs.map((run) => run.created_at)}::bigint[]) AS created_at,
      unnest(${runs.map((run) => run.conversation_id)}::uuid[]) AS conversation_id,
      unnest(${runs.map((run) => run.workspace_id)}::uuid[]) AS workspace_id,
      unnest(${texts(textTypes.row, ({ row }) => row)}::json[]) AS "row",
      unnest(${texts(textTypes.contents, ({ contents }) => contents)}::json[]) AS contents,
      unnest(${texts(textTypes.words, ({ words }) => words)}::tsvector[]) AS words
  ) AS input`;
}
