import type Database from 'better-sqlite3';
import type { Message } from '../../shared/contract/messages.ts';

/**
 * The messages of recorded calls. Programs send their whole conversation with every call, so a message is stored once, with a reference to
 * the one before it, and a run refers to its last one. Call the methods in the transaction that writes or removes the run.
 */
export interface SharedMessages {
  /** Stores what no earlier call sent, and returns the last message. `keys` are those of `messageKeys`. */
  store(messages: readonly Message[], keys: readonly string[]): number;
  /** Removes the messages up to one, from the end, that no run needs any more. */
  release(last: number | null): void;
}

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
  return {
    store(messages, keys) {
      let known = keys.length - 1;
      let last: number | null = null;
      for (; known >= 0; known -= 1) {
        last = find.get(keys[known]!) ?? null;
        if (last !== null) break;
      }
      for (let index = known + 1; index < keys.length; index += 1)
        last = Number(insert.run(keys[index]!, last, JSON.stringify(messages[index])).lastInsertRowid);
      return last!;
    },
    release(last) {
      for (let sequence = last; sequence !== null;) sequence = remove.get({ sequence }) ?? null;
    },
  };
}
