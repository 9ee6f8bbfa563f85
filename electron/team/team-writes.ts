import { sql, type Transaction } from 'kysely';
import { type CopiedRun, feedbackTerms, searchedNote } from './copied-run.ts';
import type { LocalFeedback } from './local-runs.ts';

/** A transaction that holds the lock of `touchstone.state`, so that no other host writes runs at the same time. */
export type TeamTransaction = Transaction<Record<never, never>>;

export interface CopiedConversation {
  readonly id: string;
  readonly name: string;
  readonly caller_id: string;
  readonly workspace_id: string | null;
  readonly created_at: number;
  readonly turns_before: number;
}

/** Changes of the numbers of runs with each term. */
export class TermCounts {
  readonly #changes = new Map<string, number>();

  add(terms: readonly string[], change: 1 | -1): void {
    for (const term of terms) this.#changes.set(term, (this.#changes.get(term) ?? 0) + change);
  }

  async write(transaction: TeamTransaction): Promise<void> {
    const changed = [...this.#changes].filter(([, change]) => change !== 0);
    if (changed.length === 0) return;
    await sql`
      INSERT INTO touchstone.terms (term, runs)
      SELECT * FROM unnest(${changed.map(([term]) => term)}::text[], ${changed.map(([, change]) => change)}::bigint[])
      ON CONFLICT (term) DO UPDATE SET runs = terms.runs + excluded.runs`.execute(transaction);
    await sql`DELETE FROM touchstone.terms WHERE runs <= 0 AND term = ANY(${changed.map(([term]) => term)}::text[])`.execute(
      transaction,
    );
  }
}

/** Inserts or updates conversations. Returns those that existed. */
export async function writeConversations(
  transaction: TeamTransaction,
  conversations: readonly CopiedConversation[],
): Promise<Set<string>> {
  const ids = conversations.map(({ id }) => id);
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM touchstone.conversations WHERE id = ANY(${ids}::uuid[])`.execute(transaction);
  await sql`
    INSERT INTO touchstone.conversations
    SELECT * FROM json_populate_recordset(NULL::touchstone.conversations, ${JSON.stringify(conversations)})
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, workspace_id = excluded.workspace_id
    WHERE (conversations.name, conversations.workspace_id) IS DISTINCT FROM (excluded.name, excluded.workspace_id)
  `.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

const runColumns = sql.raw(
  'sequence, id, position, conversation_id, workspace_id, created_at, first_token_ms, total_ms, prompt_tokens, ' +
    'completion_tokens, total_tokens, cost, score, score_text, score_tags, score_search, feedback_at, terms',
);

const recordTypes = sql.raw(
  'sequence bigint, id uuid, position bigint, conversation_id uuid, workspace_id uuid, created_at bigint, first_token_ms float8, ' +
    'total_ms float8, prompt_tokens float8, completion_tokens float8, total_tokens float8, cost float8, score integer, ' +
    'score_text text, score_tags text, score_search text, feedback_at bigint, terms text[], "row" text, contents text, words text',
);

/** Inserts runs that aren't stored yet. Returns the IDs of the inserted ones. Others only get their position on this host. */
export async function insertRuns(
  transaction: TeamTransaction,
  hostId: string,
  runs: readonly CopiedRun[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    WITH input AS MATERIALIZED (SELECT * FROM json_to_recordset(${JSON.stringify(runs)}) AS input (${recordTypes})),
    inserted AS (
      INSERT INTO touchstone.runs (host_id, ${runColumns}, "row")
      SELECT ${hostId}::uuid, ${runColumns}, "row"::json FROM input
      ON CONFLICT (id, created_at) DO NOTHING
      RETURNING sequence, id
    ), texts AS (
      INSERT INTO touchstone.run_texts (sequence, created_at, conversation_id, workspace_id, contents, words)
      SELECT sequence, created_at, conversation_id, workspace_id, contents::json, words::tsvector
      FROM input WHERE sequence IN (SELECT sequence FROM inserted)
    )
    SELECT id FROM inserted`.execute(transaction);
  const inserted = new Set(rows.map(({ id }) => id));
  const present = runs.filter(({ id }) => !inserted.has(id));
  if (present.length > 0) {
    await sql`
      UPDATE touchstone.runs SET position = input.position
      FROM unnest(${present.map(({ id }) => id)}::uuid[], ${present.map(({ created_at: time }) => time)}::bigint[],
        ${present.map(({ position }) => position)}::bigint[]) AS input (id, created_at, position)
      WHERE runs.id = input.id AND runs.created_at = input.created_at AND runs.host_id = ${hostId}::uuid`.execute(
      transaction,
    );
  }
  return inserted;
}

interface PresentRun {
  readonly id: string;
  readonly sequence: number;
  readonly terms: string[];
  readonly score: number | null;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly feedback_at: number | null;
}

/** The feedback that came later: another host may have given some in the team database. */
function laterFeedback(run: CopiedRun, present: PresentRun, isAnonymous: boolean) {
  const isLocal = (run.feedback_at ?? -1) >= (present.feedback_at ?? -1);
  const { score, score_text, score_tags, feedback_at } = isLocal ? run : present;
  return { score, score_text: isAnonymous ? null : score_text, score_tags, feedback_at };
}

const isFeedbackTerm = (term: string): boolean => term.startsWith('feedback=') || term.startsWith('tag=');

/** Replaces runs that are stored. */
export async function updateRuns(
  transaction: TeamTransaction,
  runs: readonly { readonly run: CopiedRun; readonly isAnonymous: boolean }[],
  counts: TermCounts,
): Promise<void> {
  const { rows } = await sql<PresentRun>`
    SELECT id, sequence, terms, score, score_text, score_tags, feedback_at FROM touchstone.runs
    WHERE (id, created_at) IN (SELECT * FROM unnest(${runs.map(({ run }) => run.id)}::uuid[],
      ${runs.map(({ run }) => run.created_at)}::bigint[]))`.execute(transaction);
  const presentRuns = new Map(rows.map((row) => [row.id, row]));
  const changed = runs.flatMap(({ run, isAnonymous }) => {
    const present = presentRuns.get(run.id);
    if (present === undefined) return [];
    const feedback = laterFeedback(run, present, isAnonymous);
    const terms = [...run.terms.filter((term) => !isFeedbackTerm(term)), ...feedbackTerms(feedback)];
    counts.add(present.terms, -1);
    counts.add(terms, 1);
    return [
      { ...run, ...feedback, score_search: searchedNote(feedback.score_text), terms, sequence: present.sequence },
    ];
  });
  if (changed.length === 0) return;
  await sql`
    WITH input AS MATERIALIZED (SELECT * FROM json_to_recordset(${JSON.stringify(changed)}) AS input (${recordTypes})),
    updated AS (
      UPDATE touchstone.runs SET workspace_id = input.workspace_id, score = input.score, score_text = input.score_text,
        score_tags = input.score_tags, score_search = input.score_search, feedback_at = input.feedback_at, terms = input.terms, "row" = input."row"::json
      FROM input WHERE runs.id = input.id AND runs.created_at = input.created_at
    )
    UPDATE touchstone.run_texts SET workspace_id = input.workspace_id, contents = input.contents::json,
      words = input.words::tsvector
    FROM input WHERE run_texts.sequence = input.sequence AND run_texts.created_at = input.created_at`.execute(
    transaction,
  );
}

/** Removes runs by their positions on a host, with their texts and feedback, and conversations without runs. */
export async function removeRuns(
  transaction: TeamTransaction,
  hostId: string,
  positions: readonly number[],
  counts: TermCounts,
): Promise<string[]> {
  const { rows } = await sql<{ id: string; terms: string[]; conversation_id: string }>`
    WITH removed AS (
      DELETE FROM touchstone.runs WHERE host_id = ${hostId}::uuid AND position = ANY(${positions}::bigint[])
      RETURNING id, sequence, created_at, terms, conversation_id
    ), texts AS (
      DELETE FROM touchstone.run_texts
      WHERE (sequence, created_at) IN (SELECT sequence, created_at FROM removed)
    ), history AS (
      DELETE FROM touchstone.feedback_history WHERE run_id IN (SELECT id FROM removed)
    )
    SELECT id, terms, conversation_id FROM removed`.execute(transaction);
  for (const { terms } of rows) counts.add(terms, -1);
  const conversations = [...new Set(rows.map((row) => row.conversation_id))];
  if (conversations.length === 0) return [];
  await sql`
    DELETE FROM touchstone.conversations WHERE id = ANY(${conversations}::uuid[])
      AND NOT EXISTS (SELECT 1 FROM touchstone.runs WHERE conversation_id = conversations.id)`.execute(transaction);
  return conversations;
}

/** Sets the neighbours of each run in its conversation. A list at an earlier time finds the newest run of that time through them. */
export async function linkRuns(transaction: TeamTransaction, conversations: readonly string[]): Promise<void> {
  if (conversations.length === 0) return;
  await sql`
    UPDATE touchstone.runs SET previous_sequence = linked.previous, next_sequence = linked.next
    FROM (
      SELECT id, created_at, lag(sequence) OVER same AS previous, lead(sequence) OVER same AS next
      FROM touchstone.runs WHERE conversation_id = ANY(${conversations}::uuid[])
      WINDOW same AS (PARTITION BY conversation_id ORDER BY sequence)
    ) AS linked
    WHERE runs.id = linked.id AND runs.created_at = linked.created_at
      AND (runs.previous_sequence, runs.next_sequence) IS DISTINCT FROM (linked.previous, linked.next)`.execute(
    transaction,
  );
}

export type CopiedFeedback = LocalFeedback & { readonly workspace_id: string | null };

/** Adds entries to the history of feedback. Of stored ones only the text can change: retention removes it. */
export async function writeHistory(transaction: TeamTransaction, entries: readonly CopiedFeedback[]): Promise<void> {
  if (entries.length === 0) return;
  await sql`
    INSERT INTO touchstone.feedback_history (id, run_id, workspace_id, reviewer, score, score_text, score_tags,
      rubric_item_id, value_json, created_at)
    SELECT id, run_id, workspace_id, reviewer, score, score_text, score_tags, rubric_item_id, value_json, created_at
    FROM json_to_recordset(${JSON.stringify(entries)}) AS input (id uuid, run_id uuid, workspace_id uuid, reviewer text,
      score integer, score_text text, score_tags text,
      rubric_item_id uuid, value_json text, created_at bigint)
    ON CONFLICT (id) DO UPDATE SET score_text = excluded.score_text, workspace_id = excluded.workspace_id
    WHERE (feedback_history.score_text, feedback_history.workspace_id)
      IS DISTINCT FROM (excluded.score_text, excluded.workspace_id)`.execute(transaction);
}
