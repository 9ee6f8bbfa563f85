import type Database from 'better-sqlite3';

/** One completed exchange of a conversation. */
export interface Turn {
  /** What was sent to the model, and what it answered; neither is empty. */
  readonly question: string;
  readonly answer: string;
}

/** What a conversation said so far, as an agent remembers it. */
export interface TurnStore {
  /** Whose conversation it is; null for an unknown id. */
  callerOf(conversationId: string): string | null;
  /** How many turns there are to remember: completed and with text, which anonymous runs have lost. */
  count(conversationId: string): number;
  /** These turns, newest first, one at a time: whoever has enough ends the loop. Nothing else may use the database within it. */
  newestFirst(conversationId: string): IterableIterator<Turn>;
}

const remembered = `
  FROM conversations
    JOIN runs ON runs.conversation = conversations.sequence
    JOIN run_texts ON run_texts.run = runs.sequence
  WHERE conversations.id = ? AND runs.status = 'Completed'
    AND run_texts.content <> '' AND run_texts.rendered_prompt <> ''
`;

/** `flush` writes what is queued, so that the turn just answered is among them. */
export function createTurnStore(database: Database.Database, flush: () => void): TurnStore {
  const callerOf = database.prepare<[string], string>('SELECT caller_id FROM conversations WHERE id = ?').pluck();
  const count = database.prepare<[string], number>(`SELECT count(*) ${remembered}`).pluck();
  const newestFirst = database.prepare<[string], Turn>(
    `SELECT run_texts.rendered_prompt AS question, run_texts.content AS answer ${remembered} ORDER BY runs.sequence DESC`,
  );
  return {
    callerOf(conversationId) {
      flush();
      return callerOf.get(conversationId.toLowerCase()) ?? null;
    },
    count(conversationId) {
      flush();
      return count.get(conversationId.toLowerCase())!;
    },
    newestFirst(conversationId) {
      flush();
      return newestFirst.iterate(conversationId.toLowerCase());
    },
  };
}
