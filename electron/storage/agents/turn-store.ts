import { type Message, textOfMessage } from '../../../shared/contract/messages.ts';
import { prepareQuery, valuesOf } from '../queries.ts';
import { wholeMessages } from '../shared-messages.ts';
import { stepsIn } from '../stored-messages.ts';
import type { ConversationBranchRow } from '../schema.ts';
import type Database from 'better-sqlite3';

/** The origin of a branch: the turns of another conversation before one of its runs. */
export interface BranchOrigin {
  readonly conversationId: string;
  readonly runId: string;
}

export interface Branch {
  readonly conversationId: string;
  readonly callerId: string;
  readonly origin: BranchOrigin;
}

/** Conversations that branch off from a run of another one. Ids are in lower case. */
export interface BranchStore {
  add(branch: Branch): void;
  /** Null for a conversation that isn't a branch. */
  find(conversationId: string): Branch | null;
  /** Branches with at least one run, oldest first. */
  from(origin: BranchOrigin): string[];
  /** The conversation of a run, and whether it is the first run there; null for an unknown run. */
  positionOf(runId: string): { conversationId: string; isFirst: boolean } | null;
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
  const positionOf = database.prepare<[string], { conversationId: string; isFirst: number }>(
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
    positionOf(runId) {
      const position = positionOf.get(runId);
      return position === undefined
        ? null
        : { conversationId: position.conversationId, isFirst: position.isFirst === 1 };
    },
  };
}

/** One completed exchange of a conversation. */
export interface Turn {
  /** The sent message and the model's answer. Neither is empty. */
  readonly question: string;
  readonly answer: string;
  /** The calls of tools and their results between the two, with what is stored for the model that made them. */
  readonly steps?: () => Message[];
  /** The model that answered, as the `servedBy` of its run. */
  readonly servedBy?: string;
}

/** The history of an agent's conversation. A branch starts with the turns of its origin. */
export interface TurnStore {
  readonly branches: BranchStore;
  /** Stores the agent of a run, so that the audit finds the run by its agent. */
  noteAgent(runId: string, agentId: string): void;
  /** The caller id of a conversation; null for an unknown id. */
  callerOf(conversationId: string): string | null;
  /** The number of completed turns with text. Anonymised runs have no text. */
  count(conversationId: string): number;
  /**
   * These turns, newest first, read one at a time; break out of the loop when you have enough. Don't use the database inside it. A turn
   * whose messages have more bytes than `maxStepBytes` comes without its calls and results. With `beforeRunId` only turns before that run.
   */
  newestFirst(conversationId: string, maxStepBytes: number, beforeRunId?: string): IterableIterator<Turn>;
  /** The id of the newest completed run; null if there is none. */
  newestRun(conversationId: string): string | null;
}

/** All completed runs of a conversation if `@runId` is null, none if that run no longer exists. */
const completedRows = `
  FROM conversations
    JOIN runs ON runs.conversation = conversations.sequence
    JOIN run_texts ON run_texts.run = runs.sequence
  WHERE conversations.id = @conversationId AND runs.status = 'Completed'
    AND (@runId IS NULL OR runs.sequence < (SELECT sequence FROM runs WHERE id = @runId))
`;

/** Without the runs that called tools: the run that continues one contains its messages, and a turn without results has no answer. */
const historyRows = `${completedRows}
  AND run_texts.content <> '' AND run_texts.rendered_prompt <> '' AND runs.finish_reason IS NOT 'ToolCalls'
`;

const isAgentRun = 'EXISTS (SELECT 1 FROM agent_runs WHERE agent_runs.run_id = runs.id)';

/**
 * The prompt text of an agent's run is the user's message. Its rendered prompt may also contain the passages of a dataspace, which
 * are searched again for each turn.
 */
const questionColumn = `CASE WHEN ${isAgentRun} THEN run_texts.prompt_text ELSE run_texts.rendered_prompt END`;

/** Of an agent's turn, only messages with calls are needed. */
const messagesColumn = `
  CASE WHEN ${isAgentRun} AND
    (octet_length(run_texts.messages_json) > @maxStepBytes OR instr(run_texts.messages_json, '"toolCall"') = 0)
    THEN NULL ELSE ${wholeMessages} END
`;

interface Stretch {
  readonly conversationId: string;
  /** Its end; null for the whole conversation. */
  readonly runId: string | null;
}

/** The conversations that form a conversation, the newest part first. */
export function* stretchesOf(
  branches: BranchStore,
  conversationId: string,
  beforeRunId: string | null = null,
): Generator<Stretch> {
  let stretch: Stretch | BranchOrigin | null = { conversationId: conversationId.toLowerCase(), runId: beforeRunId };
  while (stretch !== null) {
    yield stretch;
    stretch = branches.find(stretch.conversationId)?.origin ?? null;
  }
}

interface TurnRow {
  readonly question: string;
  readonly answer: string;
  readonly messages: string | null;
  readonly isAgentRun: 0 | 1;
  readonly servedBy: string;
}

/** In a run with several messages that is no turn of an agent, the user's last one is the question. */
function turnOf({ question, answer, messages: json, isAgentRun: isTurn, servedBy }: TurnRow): Turn {
  if (json === null) return { question, answer };
  const messages = () => JSON.parse(json) as Message[];
  const last = isTurn ? undefined : messages().findLast(({ role }) => role === 'user');
  return {
    question: last ? textOfMessage(last) || question : question,
    answer,
    steps: () => stepsIn(messages()),
    servedBy,
  };
}

/** `flush` writes queued runs, so that the last turn is included. */
export function createTurnStore(database: Database.Database, flush: () => void): TurnStore {
  const branches = createBranchStore(database);
  const callerOf = database.prepare<[string], string>('SELECT caller_id FROM conversations WHERE id = ?').pluck();
  const count = database.prepare<[Stretch], number>(`SELECT count(*) ${historyRows}`).pluck();
  const newestFirst = database.prepare<[Stretch & { readonly maxStepBytes: number }], TurnRow>(
    `SELECT ${questionColumn} AS question, ${messagesColumn} AS messages, ${isAgentRun} AS isAgentRun,
       run_texts.content AS answer, runs.served_by AS servedBy
     ${historyRows} ORDER BY runs.sequence DESC`,
  );
  const newestRun = database
    .prepare<[Stretch], string>(`SELECT runs.id ${completedRows} ORDER BY runs.sequence DESC LIMIT 1`)
    .pluck();
  const noteAgent = database.prepare<[string, string]>('INSERT INTO agent_runs (run_id, agent_id) VALUES (?, ?)');
  return {
    branches,
    noteAgent: (runId, agentId) => void noteAgent.run(runId, agentId),
    callerOf(conversationId) {
      flush();
      const id = conversationId.toLowerCase();
      return callerOf.get(id) ?? branches.find(id)?.callerId ?? null;
    },
    count(conversationId) {
      flush();
      return [...stretchesOf(branches, conversationId)].reduce((sum, stretch) => sum + count.get(stretch)!, 0);
    },
    *newestFirst(conversationId, maxStepBytes, beforeRunId) {
      flush();
      for (const stretch of [...stretchesOf(branches, conversationId, beforeRunId)]) {
        for (const row of newestFirst.iterate({ ...stretch, maxStepBytes })) yield turnOf(row);
      }
    },
    newestRun(conversationId) {
      flush();
      for (const stretch of stretchesOf(branches, conversationId)) {
        const id = newestRun.get(stretch);
        if (id !== undefined) return id;
      }
      return null;
    },
  };
}
