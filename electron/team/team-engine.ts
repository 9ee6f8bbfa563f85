import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { AppError } from '../../shared/app-error.ts';
import type {
  AuditFacetCounts,
  AuditFacets,
  AuditFilter,
  AuditReport,
  AuditSummary,
} from '../../shared/contract/audit.ts';
import type { Conversation, ConversationRun, Feedback, FeedbackEntry } from '../../shared/contract/conversations.ts';
import type { FeedbackInput } from '../../shared/contract/conversations.ts';
import type { WalkPosition, WalkRequest } from '../audit/index/audit-engine.ts';
import type { SearchPage, SearchRequest } from '../audit/query/window-list.ts';
import { feedbackOf } from '../audit/query/conversation-rows.ts';
import type { Membership } from '../storage/conversations.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { feedbackTerms, searchedNote, storableText } from './copied-run.ts';
import type { TeamDatabase } from './connection.ts';
import type { ListQuery } from './list-statements.ts';
import { type Entry, type ListLimits, TeamList } from './team-lists.ts';
import { type RequestedRuns, TeamRows, type TeamRun } from './team-rows.ts';
import { TeamStatistics } from './team-statistics.ts';
import { type CountedRun, countedColumns, RunCounts } from './run-counts.ts';

/** Bytes of texts in one page. More would block the host's thread. */
const maxPageBytes = 8 * 1_048_576;
const maxConversationBytes = 16 * 1_048_576;

const maxLists = 8;

/** A conversation whose runs are too long for one message: the caller reads them with `longRuns`. */
export interface LongConversation {
  readonly conversation: Conversation;
  /** Sequences of its matching runs. */
  readonly matched: readonly number[];
  readonly last: number;
}

export interface LongRunsRequest {
  readonly id: string;
  /** The sequence of the last run that was read; 0 at the start. */
  readonly after: number;
  readonly last: number;
  readonly hasFeedback: boolean;
}

export interface LongRuns {
  readonly runs: readonly TeamRun[];
  /** What `after` is for the next ones; null at the end. */
  readonly next: number | null;
}

export interface TeamReportPage {
  readonly conversations: AuditReport['conversations'];
  /** Replaces all conversations if there is only one, with long texts. */
  readonly long: LongConversation | null;
  readonly next: WalkPosition | null;
}

export interface RunOfConversation {
  readonly conversationId: string;
  readonly runId: string;
}

/** The queries of the audit over the team's records. The same requests give the same results as `AuditEngine`. */
const ownTokenSecret = randomUUID();

export class TeamEngine {
  readonly #database: TeamDatabase;
  readonly #limits: ListLimits;
  readonly #rows: TeamRows;
  readonly #statistics: TeamStatistics;
  readonly #lists = new Map<string, Promise<TeamList>>();

  constructor(database: TeamDatabase, limits: ListLimits = {}) {
    this.#database = database;
    this.#limits = limits;
    this.#rows = new TeamRows(database);
    this.#statistics = new TeamStatistics(database);
  }

  async #lastRun(): Promise<number> {
    const { rows } = await sql<{ last: number }>`SELECT last_sequence AS last FROM touchstone.state`.execute(
      this.#database,
    );
    return rows[0]!.last;
  }

  /** One of this host alone if the user may not read that of the team: with it, an auditor of one workspace could forge tokens of others. */
  async tokenSecret(): Promise<string> {
    const { rows: rights } = await sql<{ mayRead: boolean }>`
      SELECT has_column_privilege('touchstone.state', 'token_secret', 'SELECT') AS "mayRead"`.execute(this.#database);
    if (!rights[0]!.mayRead) return ownTokenSecret;
    const { rows } = await sql<{ secret: string }>`SELECT token_secret AS secret FROM touchstone.state`.execute(
      this.#database,
    );
    return rows[0]!.secret;
  }

  /** A query that starts gets no list from before a change: the same runs can have other feedback, or be removed. Later pages get that of the first one. */
  #listOf({ filter, sort, last }: ListQuery, isStart: boolean): Promise<TeamList> {
    const key = JSON.stringify([filter, sort, last]);
    const known = isStart ? undefined : this.#lists.get(key);
    const list = known ?? TeamList.open(this.#database, { filter, sort, last }, this.#limits);
    this.#lists.delete(key);
    this.#lists.set(key, list);
    list.catch(() => this.#lists.get(key) === list && this.#lists.delete(key));
    if (this.#lists.size > maxLists) this.#lists.delete(this.#lists.keys().next().value!);
    return list;
  }

  async search({ filter, sort, last: given, limit, ...position }: SearchRequest): Promise<SearchPage> {
    const last = given ?? (await this.#lastRun());
    const list = await this.#listOf({ filter, sort, last }, given === null);
    const offset = await this.#offsetOf(list, { ...position, limit });
    const entries = await list.slice(offset, limit);
    const isByTime = sort === 'newest' || sort === 'oldest';
    const rows = await this.#rows.lines(entries, { filter, last, isByTime });
    return { rows, offset, last, ...list.total };
  }

  async #offsetOf(
    list: TeamList,
    { offset, at, around, limit }: Pick<SearchRequest, 'offset' | 'at' | 'around' | 'limit'>,
  ): Promise<number> {
    const { sort, last } = list.query;
    if (around !== undefined) {
      const newest = await this.#newestRun(around.toLowerCase(), last);
      return newest === null ? 0 : Math.max(0, (await list.countBefore(newest)) - (limit >> 1));
    }
    if (at === undefined || (sort !== 'newest' && sort !== 'oldest')) return offset ?? 0;
    const first = sort === 'newest' ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : '00000000-0000-0000-0000-000000000000';
    return list.countBefore({ conversation: first, createdAt: Date.parse(at), run: 0 });
  }

  async #newestRun(conversation: string, last: number) {
    const { rows } = await sql<{ sequence: number; created_at: number }>`
      SELECT sequence, created_at FROM touchstone.runs
      WHERE conversation_id = ${conversation}::uuid AND sequence <= ${last}
      ORDER BY sequence DESC LIMIT 1`.execute(this.#database);
    const [row] = rows;
    return row === undefined ? null : { conversation, run: row.sequence, createdAt: row.created_at };
  }

  async #walk({ filter, pageSize, position }: WalkRequest) {
    const last = position?.last ?? (await this.#lastRun());
    const list = await this.#listOf({ filter, sort: 'newest', last }, position === null);
    const after = position === null ? null : { conversation: position.id, createdAt: position.time };
    const found = await list.after(after, pageSize + 1);
    return { entries: found.slice(0, pageSize), hasMore: found.length > pageSize, last };
  }

  async report(request: WalkRequest & { hasFeedback: boolean }): Promise<TeamReportPage> {
    const { entries, hasMore, last } = await this.#walk(request);
    const ids = entries.map(({ conversation }) => conversation);
    const requested = await this.#rows.requested(ids, last);
    const bytes = await this.#rows.textBytes(requested);
    let left = maxPageBytes;
    // A page of long conversations has fewer of them, but at least one.
    const page = entries.filter(({ conversation }, index) => {
      left -= bytes.get(conversation) ?? 0;
      return index === 0 || left >= 0;
    });
    const shown = entries.slice(0, page.length);
    const end = shown.at(-1);
    const isLong = end !== undefined && (bytes.get(end.conversation) ?? 0) > maxConversationBytes;
    const content = isLong
      ? { conversations: [], long: await this.#outline(end, request.filter, requested) }
      : { conversations: await this.#withRuns(shown, request, requested), long: null };
    const next =
      end !== undefined && (hasMore || shown.length < entries.length)
        ? { last, time: end.createdAt, id: end.conversation }
        : null;
    return { ...content, next };
  }

  async #withRuns(
    entries: readonly { conversation: string; createdAt: number }[],
    { filter, hasFeedback }: { filter: AuditFilter; hasFeedback: boolean },
    page: RequestedRuns,
  ): Promise<AuditReport['conversations']> {
    const ids = entries.map(({ conversation }) => conversation);
    const requested = { ...page, ids };
    const [runs, matching, conversations] = await Promise.all([
      this.#rows.runs(requested, hasFeedback),
      this.#rows.matchingRuns(requested, filter),
      this.#rows.conversations(entries.map(({ conversation: id, createdAt }) => ({ id, newestAt: createdAt }))),
    ]);
    return conversations.map((conversation) => {
      const matched = new Set(matching.get(conversation.id)?.map(({ sequence }) => sequence));
      const own = runs.filter((run) => run.conversation === conversation.id);
      return { ...conversation, runs: own.map(({ run, sequence }) => ({ ...run, matched: matched.has(sequence) })) };
    });
  }

  async #outline(
    { conversation: id, createdAt }: Entry,
    filter: AuditFilter,
    page: RequestedRuns,
  ): Promise<LongConversation | null> {
    const [matching, [conversation]] = await Promise.all([
      this.#rows.matchingRuns({ ...page, ids: [id] }, filter),
      this.#rows.conversations([{ id, newestAt: createdAt }]),
    ]);
    if (conversation === undefined) return null;
    return { conversation, matched: (matching.get(id) ?? []).map(({ sequence }) => sequence), last: page.last };
  }

  /** The next runs of a long conversation. */
  async longRuns({ id, after, last, hasFeedback }: LongRunsRequest): Promise<LongRuns> {
    const requested = await this.#rows.requested([id], last);
    const { until, hasMore } = await this.#rows.nextPart(requested, after, maxPageBytes);
    const runs = await this.#rows.runs({ ...requested, after, last: until }, hasFeedback);
    return { runs, next: hasMore ? until : null };
  }

  async list(request: WalkRequest): Promise<{ data: Conversation[]; next: WalkPosition | null }> {
    const { entries, hasMore, last } = await this.#walk(request);
    const data = await this.#rows.conversations(
      entries.map(({ conversation: id, createdAt }) => ({ id, newestAt: createdAt })),
    );
    const end = entries.at(-1);
    return { data, next: hasMore && end ? { last, time: end.createdAt, id: end.conversation } : null };
  }

  /** To whom a conversation belongs; null for an unknown ID. */
  async findConversation(id: string): Promise<Membership | null> {
    const { rows } = await sql<Membership>`
      SELECT caller_id AS "callerId", workspace_id AS "workspaceId" FROM touchstone.conversations
      WHERE id = ${id}::uuid`.execute(this.#database);
    return rows[0] ?? null;
  }

  /** Null for an unknown ID. `callerId` leaves out the runs of others: on a host that didn't know of the conversation they could use its ID. */
  async readConversation(input: {
    id: string;
    hasFeedback: boolean;
    callerId?: string | undefined;
  }): Promise<(Conversation & { runs: ConversationRun[] }) | null> {
    const last = await this.#lastRun();
    const id = input.id.toLowerCase();
    const requested = await this.#rows.requested([id], last);
    if (((await this.#rows.textBytes(requested)).get(id) ?? 0) > maxConversationBytes) {
      throw new AppError(
        'conflict',
        'This conversation is too long to be read from the team database. Open it on the host that recorded it.',
      );
    }
    const runs = await this.#rows.runs(requested, input.hasFeedback);
    const newest = runs.at(-1);
    if (newest === undefined) return null;
    const isShown = ({ callerId }: TeamRun) => input.callerId === undefined || callerId === input.callerId;
    const [conversation] = await this.#rows.conversations([{ id, newestAt: newest.createdAt }]);
    return conversation === undefined ? null : { ...conversation, runs: runs.filter(isShown).map(({ run }) => run) };
  }

  summarize(input: {
    filter: AuditFilter;
    bucketSize?: AuditSummary['bucketSize'] | undefined;
  }): Promise<AuditSummary> {
    return this.#statistics.summarize(input.filter, input.bucketSize);
  }

  countFacets({ filter }: { filter: AuditFilter }): Promise<AuditFacetCounts> {
    return this.#statistics.countFacets(filter);
  }

  facets(windowCallerId: string): Promise<AuditFacets> {
    return this.#statistics.facets(windowCallerId);
  }

  async #requireRun({ conversationId, runId }: RunOfConversation): Promise<void> {
    const { rows } = await sql`
      SELECT 1 FROM touchstone.runs WHERE id = ${runId}::uuid AND conversation_id = ${conversationId}::uuid`.execute(
      this.#database,
    );
    if (rows.length === 0) throw new AppError('not_found', 'No run of this conversation has this ID.');
  }

  async listFeedback(run: RunOfConversation): Promise<FeedbackEntry[]> {
    await this.#requireRun(run);
    return this.#rows.feedback(run.runId);
  }

  /** Replaces the feedback of the run and adds it to the history, unless the same reviewer says the same again. */
  async giveFeedback(run: RunOfConversation, input: FeedbackInput, reviewer: string): Promise<Feedback> {
    await this.#requireRun(run);
    const row = {
      score: input.score ?? null,
      score_text: input.scoreText == null ? null : storableText(input.scoreText),
      score_tags: input.scoreTags == null ? null : storableText(input.scoreTags),
      updated_at: 0,
    };
    await this.#database.transaction().execute(async (transaction) => {
      // Another host may be copying the same run.
      await sql`SELECT 1 FROM touchstone.state FOR UPDATE`.execute(transaction);
      // By the clock of the database: with that of an auditor, the feedback of a wrong clock would stay the latest. It is
      // later than what it replaces, also where the host that recorded the run has a clock that is ahead.
      const { rows } = await sql<CountedRun & { workspace_id: string | null; updated_at: number }>`
        SELECT workspace_id, ${countedColumns},
          greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, feedback_at + 1) AS updated_at
        FROM touchstone.runs WHERE id = ${run.runId}::uuid`.execute(transaction);
      const { updated_at: updatedAt, ...present } = rows[0]!;
      row.updated_at = updatedAt;
      const rest = present.terms.filter((term) => !term.startsWith('feedback=') && !term.startsWith('tag='));
      const terms = [...rest, ...feedbackTerms(row)];
      await sql`
        UPDATE touchstone.runs SET score = ${row.score}, score_text = ${row.score_text}, score_tags = ${row.score_tags},
          score_search = ${searchedNote(row.score_text)}, feedback_at = ${row.updated_at}, terms = ${terms}::text[]
        WHERE id = ${run.runId}::uuid`.execute(transaction);
      await sql`
        INSERT INTO touchstone.feedback_history (id, run_id, workspace_id, reviewer, score, score_text, score_tags, created_at)
        SELECT ${timeOrderedId()}::uuid, ${run.runId}::uuid, ${present.workspace_id}::uuid, ${storableText(reviewer)}::text,
          ${row.score}::integer, ${row.score_text}::text, ${row.score_tags}::text, ${row.updated_at}::bigint
        WHERE NOT EXISTS (
          SELECT 1 FROM (SELECT * FROM touchstone.feedback_history WHERE run_id = ${run.runId}::uuid AND rubric_item_id IS NULL
            ORDER BY sequence DESC LIMIT 1) AS last
          WHERE (reviewer, score, score_text, score_tags) IS NOT DISTINCT FROM
            (${storableText(reviewer)}::text, ${row.score}::integer, ${row.score_text}::text, ${row.score_tags}::text))
      `.execute(transaction);
      const counts = new RunCounts();
      counts.add(present, -1);
      counts.add({ ...present, score: row.score, terms }, 1);
      await counts.write(transaction);
    });
    return feedbackOf(row)!;
  }
}
