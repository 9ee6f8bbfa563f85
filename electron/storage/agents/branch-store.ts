import type Database from 'better-sqlite3';
import { prepareQuery, valuesOf } from '../queries.ts';
import type { ConversationBranchRow } from '../schema.ts';

/** Where a conversation goes on from: what was said in another one before one of its runs. */
export interface BranchOrigin {
  readonly conversationId: string;
  readonly runId: string;
}

export interface Branch {
  readonly conversationId: string;
  readonly callerId: string;
  readonly origin: BranchOrigin;
}

/** Conversations that go on from a place within another one. Ids are in lower case. */
export interface BranchStore {
  add(branch: Branch): void;
  /** Null for a conversation that began by itself. */
  find(conversationId: string): Branch | null;
  /** Those with something said in them, oldest first. */
  from(origin: BranchOrigin): string[];
  /** The conversation of a run, and whether nothing was said in it before; null for an unknown run. */
  placeOf(runId: string): { conversationId: string; isFirst: boolean } | null;
}

export function createBranchStore(database: Database.Database): BranchStore {
  const insert = prepareQuery(database, (tables, input: ConversationBranchRow) =>
    tables
      .insertInto('conversation_branches')
      .values(valuesOf(input, ['conversation_id', 'caller_id', 'origin_id', 'origin_run_id', 'created_at'])),
  );
  const find = prepareQuery(database, (tables, input: { conversationId: string }) =>
    tables.selectFrom('conversation_branches').selectAll().where('conversation_id', '=', input.conversationId),
  );
  const from = prepareQuery(database, (tables, input: BranchOrigin) =>
    tables
      .selectFrom('conversation_branches')
      .innerJoin('conversations', 'conversations.id', 'conversation_branches.conversation_id')
      .select('conversation_branches.conversation_id as id')
      .where('origin_id', '=', input.conversationId)
      .where('origin_run_id', '=', input.runId)
      .orderBy('conversations.sequence'),
  );
  const placeOf = database.prepare<[string], { conversationId: string; isFirst: number }>(
    `SELECT conversations.id AS conversationId,
       NOT EXISTS (SELECT 1 FROM runs AS earlier
         WHERE earlier.conversation = runs.conversation AND earlier.sequence < runs.sequence) AS isFirst
     FROM runs JOIN conversations ON conversations.sequence = runs.conversation WHERE runs.id = ?`,
  );
  return {
    add({ conversationId, callerId, origin }) {
      insert.run({
        conversation_id: conversationId,
        caller_id: callerId,
        origin_id: origin.conversationId,
        origin_run_id: origin.runId,
        created_at: Date.now(),
      });
    },
    find(conversationId) {
      const row = find.first({ conversationId });
      if (!row) return null;
      const origin = { conversationId: row.origin_id, runId: row.origin_run_id };
      return { conversationId: row.conversation_id, callerId: row.caller_id, origin };
    },
    from: (origin) => from.all(origin).map(({ id }) => id),
    placeOf(runId) {
      const place = placeOf.get(runId);
      return place === undefined ? null : { conversationId: place.conversationId, isFirst: place.isFirst === 1 };
    },
  };
}
