import { sql } from 'kysely';
import type { AuditFilter, AuditPage } from '../../shared/contract/audit.ts';
import type { Conversation, ConversationRun, FeedbackEntry } from '../../shared/contract/conversations.ts';
import { maxFeedbackEntries } from '../../shared/contract/conversations.ts';
import { auditRunOf, conversationRunOf, type ListRow, type WholeRow } from '../audit/query/conversation-rows.ts';
import { entriesOf, type HistoryContent } from '../audit/query/feedback-store.ts';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';
import type { Entry } from './team-lists.ts';
import { idIn, isAt, type RunLocation } from './team-runs.ts';

interface ConversationRow {
  readonly id: string;
  readonly name: string;
  readonly caller_id: string;
  readonly workspace_id: string | null;
  readonly created_at: number;
  readonly earliest_at: number;
  readonly latest_at: number;
  readonly turns_before: number;
}

interface FeedbackRow {
  readonly score: number | null;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly feedback_at: number | null;
}

const feedbackColumnsOf = ({ score, score_text, score_tags, feedback_at }: FeedbackRow) => ({
  score,
  score_text,
  score_tags,
  updated_at: feedback_at,
});

export interface TeamRun {
  readonly sequence: number;
  readonly conversation: string;
  readonly createdAt: number;
  readonly callerId: string | null;
  readonly run: ConversationRun;
}

/** Conversations whose runs up to `last` are read. Their runs are of these times (milliseconds since 1970). */
export interface RequestedRuns {
  readonly ids: readonly string[];
  readonly last: number;
  /** Runs up to this one are left out. */
  readonly after?: number;
  readonly from: number;
  readonly until: number;
}

/** With the times the server reads the partitions of these months only. Without, 50 conversations took 36 ms instead of 2. */
const isRequested = ({ ids, last, after = 0, from, until }: RequestedRuns) => sql`
  n.conversation_id = ANY(${ids}::uuid[]) AND n.sequence > ${after} AND n.sequence <= ${last} AND n.created_at BETWEEN ${from}::bigint AND ${until}::bigint`;

const joinTexts = ({ from, until }: RequestedRuns) => sql`
  JOIN touchstone.run_texts AS t ON t.sequence = n.sequence AND t.created_at = n.created_at
    AND t.created_at BETWEEN ${from}::bigint AND ${until}::bigint`;

function requestedRuns(conversations: ReadonlyMap<string, ConversationRow>, last: number): RequestedRuns {
  const rows = [...conversations.values()];
  return {
    ids: rows.map(({ id }) => id),
    last,
    from: rows.reduce((from, { earliest_at: time }) => Math.min(from, time), Number.MAX_SAFE_INTEGER),
    until: rows.reduce((until, { latest_at: time }) => Math.max(until, time), 0),
  };
}

/** Runs whose texts are measured at once. */
const maxPartRuns = 200;

const isoTime = (time: number): string => new Date(time).toISOString();

/** Conversations and runs of the team database, in the contract's format. */
export class TeamRows {
  readonly #database: TeamDatabase;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  async #conversationRows(ids: readonly string[]): Promise<Map<string, ConversationRow>> {
    const { rows } = await sql<ConversationRow>`
      SELECT id, name, caller_id, workspace_id, created_at, earliest_at, latest_at, turns_before FROM touchstone.conversations
      WHERE id = ANY(${ids}::uuid[])`.execute(this.#database);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Conversations by ID. `newestAt` is the time of their newest run. */
  async conversations(entries: readonly { readonly id: string; readonly newestAt: number }[]): Promise<Conversation[]> {
    const rows = await this.#conversationRows(entries.map(({ id }) => id));
    return entries.flatMap(({ id, newestAt }) => {
      const row = rows.get(id);
      if (row === undefined) return [];
      return [
        {
          id,
          name: row.name,
          createdAt: isoTime(row.created_at),
          updatedAt: isoTime(newestAt),
          workspaceId: row.workspace_id,
          callerId: row.caller_id,
        },
      ];
    });
  }

  /** The runs up to `last` of the conversations with these IDs, for `runs` and `textBytes`. */
  async requested(ids: readonly string[], last: number): Promise<RequestedRuns> {
    return requestedRuns(await this.#conversationRows(ids), last);
  }

  /** Oldest first. */
  async runs(requested: RequestedRuns, hasFeedback: boolean): Promise<TeamRun[]> {
    const { rows } = await sql<
      FeedbackRow & {
        sequence: number;
        conversation_id: string;
        created_at: number;
        row: object;
        contents: object;
        terms: readonly string[];
      }
    >`
      SELECT n.sequence, n.conversation_id, n.created_at, "row", contents, terms, score, score_text, score_tags, feedback_at
      FROM touchstone.runs AS n ${joinTexts(requested)} WHERE ${isRequested(requested)} ORDER BY n.sequence`.execute(
      this.#database,
    );
    return rows.map((found) => ({
      sequence: found.sequence,
      conversation: found.conversation_id,
      createdAt: found.created_at,
      callerId: idIn(found.terms, 'caller'),
      run: conversationRunOf(
        {
          ...found.row,
          ...found.contents,
          ...feedbackColumnsOf(found),
          agent_id: idIn(found.terms, 'agent'),
        } as unknown as WholeRow,
        hasFeedback,
      ),
    }));
  }

  /** Bytes of the texts of each conversation. */
  async textBytes(requested: RequestedRuns): Promise<Map<string, number>> {
    const { rows } = await sql<{ conversation_id: string; bytes: number }>`
      SELECT n.conversation_id, sum(octet_length(contents::text))::bigint AS bytes
      FROM touchstone.runs AS n ${joinTexts(requested)} WHERE ${isRequested(requested)} GROUP BY n.conversation_id`.execute(
      this.#database,
    );
    return new Map(rows.map((row) => [row.conversation_id, row.bytes]));
  }

  /** Where the next runs after one end that have at most so many bytes of texts. They are at least one run, unless none is left. */
  async nextPart(
    requested: RequestedRuns,
    after: number,
    maxBytes: number,
  ): Promise<{ until: number; hasMore: boolean }> {
    const { rows } = await sql<{ sequence: number; bytes: number }>`
      SELECT n.sequence, octet_length(contents::text) AS bytes
      FROM touchstone.runs AS n ${joinTexts(requested)} WHERE ${isRequested({ ...requested, after })}
      ORDER BY n.sequence LIMIT ${maxPartRuns}`.execute(this.#database);
    let [left, until] = [maxBytes, after];
    for (const { sequence, bytes } of rows) {
      left -= bytes;
      if (left < 0 && until > after) return { until, hasMore: true };
      until = sequence;
    }
    return { until, hasMore: rows.length === maxPartRuns };
  }

  /** The matching ones of these runs, newest first, by conversation. */
  async matchingRuns(
    requested: RequestedRuns,
    filter: AuditFilter,
  ): Promise<Map<string, { sequence: number; createdAt: number; id: string }[]>> {
    const { rows } = await this.#database.transaction().execute(async (transaction) => {
      // The runs of one page are few. A planner that joins in another way collects every text with a word first.
      for (const step of ['seqscan', 'hashjoin', 'mergejoin'])
        await sql.raw(`SET LOCAL enable_${step} = off`).execute(transaction);
      return sql<{ conversation_id: string; sequence: number; createdAt: number; id: string }>`
        SELECT n.conversation_id, n.sequence, n.created_at AS "createdAt", n.id FROM touchstone.runs AS n
        WHERE ${isRequested(requested)} AND ${matches(filter, 'n')} ORDER BY n.sequence DESC`.execute(transaction);
    });
    const found = new Map<string, { sequence: number; createdAt: number; id: string }[]>();
    for (const { conversation_id: conversation, ...run } of rows) {
      const runs = found.get(conversation);
      if (runs === undefined) found.set(conversation, [run]);
      else runs.push(run);
    }
    return found;
  }

  /** The lines of a list. */
  async lines(
    entries: readonly Entry[],
    { filter, last, isByTime }: { filter: AuditFilter; last: number; isByTime: boolean },
  ): Promise<AuditPage['rows']> {
    if (entries.length === 0) return [];
    const conversations = await this.#conversationRows(entries.map(({ conversation }) => conversation));
    const requested = requestedRuns(conversations, last);
    const [matching, sizes] = await Promise.all([this.matchingRuns(requested, filter), this.#sizes(requested)]);
    const shown = entries.map(({ conversation, run: sequence, createdAt }) => {
      const newest = isByTime ? matching.get(conversation)?.[0] : undefined;
      return newest ?? { sequence, createdAt };
    });
    const runs = await this.#lineRuns(shown);
    return entries.flatMap(({ conversation: id }, index) => {
      const conversation = conversations.get(id);
      const run = runs.get(shown[index]!.sequence);
      const size = sizes.get(id);
      // Removed meanwhile.
      if (conversation === undefined || run === undefined || size === undefined) return [];
      return [
        {
          conversationId: id,
          name: conversation.name,
          callerId: conversation.caller_id,
          workspaceId: conversation.workspace_id,
          updatedAt: isoTime(size.newestAt),
          isSample: false,
          runs: size.runs,
          turns: size.runs + conversation.turns_before,
          matchedRunIds: (matching.get(id) ?? []).slice(0, 100).map((match) => match.id),
          run,
        },
      ];
    });
  }

  async #sizes(requested: RequestedRuns): Promise<Map<string, { runs: number; newestAt: number }>> {
    const { rows } = await sql<{ conversation_id: string; runs: number; newest_at: number }>`
      SELECT conversation_id, count(*) AS runs, (array_agg(created_at ORDER BY sequence DESC))[1] AS newest_at
      FROM touchstone.runs AS n WHERE ${isRequested(requested)} GROUP BY conversation_id`.execute(this.#database);
    return new Map(rows.map((row) => [row.conversation_id, { runs: row.runs, newestAt: row.newest_at }]));
  }

  async #lineRuns(shown: readonly RunLocation[]): Promise<Map<number, AuditPage['rows'][number]['run']>> {
    const { rows } = await sql<FeedbackRow & { sequence: number; row: object }>`
      SELECT runs.sequence, "row", score, score_text, score_tags, feedback_at FROM touchstone.runs
        JOIN touchstone.run_texts ON run_texts.sequence = runs.sequence AND run_texts.created_at = runs.created_at
      WHERE ${isAt(shown)}`.execute(this.#database);
    return new Map(
      rows.map((found) => [
        found.sequence,
        auditRunOf({ ...found.row, ...feedbackColumnsOf(found) } as unknown as ListRow),
      ]),
    );
  }

  /** The history of a run's feedback, newest first. */
  async feedback(runId: string): Promise<FeedbackEntry[]> {
    const { rows } = await sql<HistoryContent & { id: string; created_at: number }>`
      SELECT id, reviewer, score, score_text, score_tags, rubric_item_id, value_json, question, created_at
      FROM touchstone.feedback_history
      WHERE run_id = ${runId}::uuid ORDER BY sequence DESC LIMIT ${maxFeedbackEntries + 1}`.execute(this.#database);
    return entriesOf(rows);
  }
}
