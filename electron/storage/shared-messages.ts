import type Database from 'better-sqlite3';
import { continuedField } from '../../shared/continued-field.ts';
import type { Message } from '../../shared/contract/messages.ts';
import { toolCallsIn } from './stored-messages.ts';

/**
 * The messages of recorded calls. Programs send their whole conversation with every call, so a message is stored once, with a reference to
 * the one before it, and a run refers to its last one. Call the methods in the transaction that writes or removes the run.
 */
export interface SharedMessages {
  /**
   * Stores what no earlier call sent, and returns the last message. `keys` are those of `messageKeys`. `before` is the message that comes
   * before the first one; null for none.
   */
  store(messages: readonly Message[], keys: readonly string[], before?: number | null): number;
  /** Stores a run's answer after its messages, and returns it. Null if they aren't whole, or too long to be continued. */
  answerOf(runId: string): StoredAnswer | null;
  /** Removes the messages up to one, from the end, that no run needs any more. */
  release(last: number | null): void;
}

/** The last message of a run's conversation: its answer. */
export interface StoredAnswer {
  readonly run: number;
  readonly message: number;
  readonly systemMessage: string | null;
}

interface AnswerRow {
  readonly sequence: number;
  readonly last_message: number;
  readonly content: string;
  readonly tool_calls_json: string | null;
  readonly system_message: string | null;
  readonly origin_api: string;
  readonly configuration_json: string | null;
}

/** As much as one call records. A longer conversation takes too long to read for each of its calls. */
const maxChainMessages = 4096;
const maxChainBytes = 8 * 1_048_576;

/** The messages of a run as JSON, wherever they are stored; null for a single message. */
export const wholeMessages = `
  CASE WHEN run_texts.last_message IS NULL THEN run_texts.messages_json ELSE (
    WITH RECURSIVE chain (sequence, position) AS (
      SELECT run_texts.last_message, 0
      UNION ALL
      SELECT earlier, position + 1 FROM chain JOIN shared_messages USING (sequence) WHERE earlier IS NOT NULL
    )
    SELECT '[' || group_concat(json, ',' ORDER BY position DESC) || ']' FROM chain JOIN shared_messages USING (sequence)
  ) END`;

/** Bytes of the messages that go with a run: none while a later call has them, too. */
export const releasedBytes = `
  CASE WHEN run_texts.last_message IS NULL OR EXISTS (
    SELECT 1 FROM shared_messages AS later WHERE later.earlier = run_texts.last_message
  ) THEN 0 ELSE (
    WITH RECURSIVE chain (sequence) AS (
      SELECT run_texts.last_message
      UNION ALL
      SELECT earlier FROM chain JOIN shared_messages USING (sequence) WHERE earlier IS NOT NULL
    )
    SELECT sum(octet_length(json)) FROM chain JOIN shared_messages USING (sequence)
  ) END`;

/** The answer of a run as a message; null for an empty one. */
function answerIn({ content, tool_calls_json: json }: AnswerRow): Message | null {
  const text = content === '' ? [] : [{ type: 'text' as const, text: content }];
  const calls = json === null ? [] : toolCallsIn(json).map((call) => ({ type: 'toolCall' as const, ...call }));
  return text.length + calls.length === 0 ? null : { role: 'assistant', content: [...text, ...calls] };
}

function answerStatements(database: Database.Database) {
  const findAnswer = database.prepare<[string], AnswerRow>(
    `SELECT sequence, last_message, content, tool_calls_json, system_message, origin_api, configuration_json
     FROM runs JOIN run_texts ON run_texts.run = runs.sequence
     WHERE id = ? AND status = 'Completed' AND last_message IS NOT NULL`,
  );
  const isShort = database
    .prepare<[number], number>(
      `WITH RECURSIVE chain (earlier, bytes, position) AS (
         SELECT earlier, octet_length(json), 1 FROM shared_messages WHERE sequence = ?
         UNION ALL
         SELECT shared_messages.earlier, octet_length(json), position + 1 FROM chain
         JOIN shared_messages ON shared_messages.sequence = chain.earlier WHERE position <= ${maxChainMessages}
       )
       SELECT count(*) <= ${maxChainMessages} AND sum(bytes) <= ${maxChainBytes} FROM chain`,
    )
    .pluck();
  return { findAnswer, isShort };
}

export function createSharedMessages(database: Database.Database): SharedMessages {
  const find = database.prepare<[string], number>('SELECT sequence FROM shared_messages WHERE key = ?').pluck();
  const insert = database.prepare<[string, number | null, string]>(
    'INSERT INTO shared_messages (key, earlier, json) VALUES (?, ?, ?)',
  );
  const remove = database
    .prepare<[{ sequence: number }], number | null>(
      `DELETE FROM shared_messages WHERE sequence = @sequence
         AND NOT EXISTS (SELECT 1 FROM shared_messages AS later WHERE later.earlier = @sequence)
         AND NOT EXISTS (SELECT 1 FROM stored_texts WHERE last_message = @sequence)
       RETURNING earlier`,
    )
    .pluck();
  const { findAnswer, isShort } = answerStatements(database);

  function store(messages: readonly Message[], keys: readonly string[], before: number | null = null): number {
    let known = keys.length - 1;
    let last: number | null = null;
    for (; known >= 0; known -= 1) {
      last = find.get(keys[known]!) ?? null;
      if (last !== null) break;
    }
    last ??= before;
    for (let index = known + 1; index < keys.length; index += 1)
      last = Number(insert.run(keys[index]!, last, JSON.stringify(messages[index])).lastInsertRowid);
    return last!;
  }

  return {
    store,
    answerOf(runId) {
      const row = findAnswer.get(runId);
      if (!row) return null;
      const { sequence, last_message: last, system_message: systemMessage, origin_api: api } = row;
      const configuration = row.configuration_json === null ? null : (JSON.parse(row.configuration_json) as object);
      if (continuedField(api, configuration) !== null || isShort.get(last) !== 1) return null;
      const answer = answerIn(row);
      const message = answer === null ? last : store([answer], [`${runId} answer`], last);
      return { run: sequence, message, systemMessage };
    },
    release(last) {
      for (let sequence = last; sequence !== null;) sequence = remove.get({ sequence }) ?? null;
    },
  };
}
