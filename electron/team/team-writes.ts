import { sql, type Transaction } from 'kysely';
import { anonymousTitle } from '../storage/retention-store.ts';
import type { Batch } from './copied-batch.ts';
import { type CopiedRun, feedbackTerms, searchedNote } from './copied-run.ts';
import type { LocalFeedback } from './local-runs.ts';
import { columnInput, runColumns, textInput } from './run-input.ts';
import { type CountedRun, countedColumns, type RunCounts } from './run-counts.ts';

/** A transaction that holds the lock of `touchstone.state`, so that no other host writes runs at the same time. */
export type TeamTransaction = Transaction<Record<never, never>>;

export interface CopiedConversation {
  readonly id: string;
  readonly name: string;
  readonly caller_id: string;
  readonly workspace_id: string | null;
  readonly created_at: number;
  readonly turns_before: number;
  /** Of the runs that are written. */
  readonly earliest_at: number;
  readonly latest_at: number;
}

/**
 * Inserts or updates conversations. Returns those that existed. Two hosts may have one: the first gives it its name and its workspace. Only
 * runs of its caller change these: those of another, on a host that didn't know of it, could rename it or show it to another workspace.
 */
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
    ON CONFLICT (id) DO UPDATE SET
      name = CASE WHEN excluded.name = ${anonymousTitle} AND excluded.caller_id = conversations.caller_id
        THEN excluded.name ELSE conversations.name END,
      workspace_id = CASE WHEN excluded.caller_id = conversations.caller_id
        THEN coalesce(conversations.workspace_id, excluded.workspace_id) ELSE conversations.workspace_id END,
      earliest_at = least(conversations.earliest_at, excluded.earliest_at), latest_at = greatest(conversations.latest_at, excluded.latest_at)
    WHERE (conversations.name, conversations.workspace_id) IS DISTINCT FROM (excluded.name, excluded.workspace_id)
      OR excluded.earliest_at < conversations.earliest_at OR excluded.latest_at > conversations.latest_at
  `.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

/** Inserts runs that aren't stored yet. Returns the IDs of the inserted ones. Others only get their position on this host. */
export async function insertRuns(
  transaction: TeamTransaction,
  hostId: string,
  runs: readonly CopiedRun[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    WITH inserted AS (
      INSERT INTO touchstone.runs (host_id, ${runColumns})
      SELECT ${hostId}::uuid, ${runColumns} FROM ${columnInput(runs)}
      ON CONFLICT (id, created_at) DO NOTHING
      RETURNING sequence, id
    ), texts AS (
      INSERT INTO touchstone.run_texts (sequence, created_at, conversation_id, workspace_id, "row", contents, words)
      SELECT sequence, created_at, conversation_id, workspace_id, "row", contents, words
      FROM ${textInput(runs)} WHERE sequence IN (SELECT sequence FROM inserted)
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

interface PresentRun extends CountedRun {
  readonly id: string;
  readonly sequence: number;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly feedback_at: number | null;
  /** The time of the database. */
  readonly now: number;
}

interface LaterOptions {
  readonly isAnonymous: boolean;
  readonly behindMs: number;
}

/**
 * The feedback that came later: another host may have given some in the team database, whose clock may be ahead of this device's by
 * `behindMs`.
 */
function laterFeedback(run: CopiedRun, present: PresentRun, { isAnonymous, behindMs }: LaterOptions) {
  const local = run.feedback_at === null ? run : { ...run, feedback_at: run.feedback_at + behindMs };
  const isLocal = (local.feedback_at ?? -1) >= (present.feedback_at ?? -1);
  const { score, score_text, score_tags, feedback_at } = isLocal ? local : present;
  return { score, score_text: isAnonymous ? null : score_text, score_tags, feedback_at };
}

const isFeedbackTerm = (term: string): boolean => term.startsWith('feedback=') || term.startsWith('tag=');

interface ChangedRun {
  readonly run: CopiedRun;
  readonly isAnonymous: boolean;
}

/** The history of a host has only what was said there, so comments of others on its anonymous runs are removed here. */
async function removeComments(transaction: TeamTransaction, runs: readonly ChangedRun[]): Promise<void> {
  const ids = runs.flatMap(({ run, isAnonymous }) => (isAnonymous ? run.id : []));
  if (ids.length === 0) return;
  await sql`
    UPDATE touchstone.feedback_history SET score_text = NULL
    WHERE run_id = ANY(${ids}::uuid[]) AND score_text IS NOT NULL`.execute(transaction);
}

/** Replaces runs that this host stored. Imports of earlier versions had the same IDs on all hosts. */
export async function updateRuns(
  transaction: TeamTransaction,
  hostId: string,
  runs: readonly ChangedRun[],
  counts: RunCounts,
): Promise<void> {
  const { rows } = await sql<PresentRun>`
    SELECT id, sequence, score_text, score_tags, feedback_at, ${countedColumns},
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
    FROM touchstone.runs
    WHERE (id, created_at) IN (SELECT * FROM unnest(${runs.map(({ run }) => run.id)}::uuid[],
      ${runs.map(({ run }) => run.created_at)}::bigint[])) AND host_id = ${hostId}::uuid`.execute(transaction);
  const behindMs = Math.max(0, (rows[0]?.now ?? 0) - Date.now());
  const presentRuns = new Map(rows.map((row) => [row.id, row]));
  const changed = runs.flatMap(({ run, isAnonymous }) => {
    const present = presentRuns.get(run.id);
    if (present === undefined) return [];
    const feedback = laterFeedback(run, present, { isAnonymous, behindMs });
    const terms = [...run.terms.filter((term) => !isFeedbackTerm(term)), ...feedbackTerms(feedback)];
    counts.add(present, -1);
    counts.add({ ...present, ...feedback, terms }, 1);
    return [
      { ...run, ...feedback, score_search: searchedNote(feedback.score_text), terms, sequence: present.sequence },
    ];
  });
  await removeComments(transaction, runs);
  if (changed.length === 0) return;
  await sql`
    WITH updated AS (
      UPDATE touchstone.runs SET workspace_id = input.workspace_id, score = input.score, score_text = input.score_text,
        score_tags = input.score_tags, score_search = input.score_search, feedback_at = input.feedback_at, terms = input.terms
      FROM ${columnInput(changed)} WHERE runs.id = input.id AND runs.created_at = input.created_at
    )
    UPDATE touchstone.run_texts SET workspace_id = input.workspace_id, "row" = input."row",
      contents = input.contents, words = input.words
    FROM ${textInput(changed)} WHERE run_texts.sequence = input.sequence AND run_texts.created_at = input.created_at`.execute(
    transaction,
  );
}

/** Removes runs of a host by their positions there or their IDs, with their texts and feedback, and conversations without runs. */
export async function removeRuns(
  transaction: TeamTransaction,
  hostId: string,
  { removed: positions, removedIds: ids }: Pick<Batch, 'removed' | 'removedIds'>,
  counts: RunCounts,
): Promise<string[]> {
  if (positions.length === 0 && ids.length === 0) return [];
  const { rows } = await sql<CountedRun & { conversation_id: string }>`
    WITH removed AS (
      DELETE FROM touchstone.runs WHERE host_id = ${hostId}::uuid
        AND (position = ANY(${positions}::bigint[]) OR id = ANY(${ids}::uuid[]))
      RETURNING id, sequence, conversation_id, ${countedColumns}
    ), texts AS (
      DELETE FROM touchstone.run_texts
      WHERE (sequence, created_at) IN (SELECT sequence, created_at FROM removed)
    ), history AS (
      DELETE FROM touchstone.feedback_history WHERE run_id IN (SELECT id FROM removed)
    )
    SELECT conversation_id, ${countedColumns} FROM removed`.execute(transaction);
  for (const run of rows) counts.add(run, -1);
  const conversations = [...new Set(rows.map((row) => row.conversation_id))];
  if (conversations.length === 0) return [];
  const { numAffectedRows: removed = 0n } = await sql`
    DELETE FROM touchstone.conversations WHERE id = ANY(${conversations}::uuid[])
      AND NOT EXISTS (SELECT 1 FROM touchstone.runs WHERE conversation_id = conversations.id)`.execute(transaction);
  counts.addConversations(-Number(removed));
  return conversations;
}

/** A run by its sequence, with its time, by which its partition is known. */
interface StoredRun {
  readonly sequence: number;
  readonly created_at: number;
}

/** The newest run of each conversation. */
export async function readNewest(
  transaction: TeamTransaction,
  conversations: readonly string[],
): Promise<Map<string, StoredRun>> {
  if (conversations.length === 0) return new Map();
  const { rows } = await sql<StoredRun & { id: string }>`
    SELECT asked.id, newest.* FROM unnest(${conversations}::uuid[]) AS asked (id), LATERAL (
      SELECT sequence, created_at FROM touchstone.runs WHERE conversation_id = asked.id ORDER BY sequence DESC LIMIT 1
    ) AS newest`.execute(transaction);
  return new Map(rows.map((row) => [row.id, row]));
}

/** New runs with their neighbours in their conversations, and the runs that they follow. `newest` are the conversations' stored ones. */
export function linkNew(
  runs: readonly CopiedRun[],
  newest: ReadonlyMap<string, StoredRun>,
): { linked: CopiedRun[]; followed: (StoredRun & { next: number })[] } {
  const last = new Map<string, CopiedRun>();
  const followed: (StoredRun & { next: number })[] = [];
  const linked = runs.map((run) => {
    const before = last.get(run.conversation_id);
    const stored = newest.get(run.conversation_id);
    const copy = { ...run, previous_sequence: before?.sequence ?? stored?.sequence ?? null };
    if (before !== undefined) before.next_sequence = run.sequence;
    else if (stored !== undefined) followed.push({ ...stored, next: run.sequence });
    last.set(run.conversation_id, copy);
    return copy;
  });
  return { linked, followed };
}

export async function followRuns(
  transaction: TeamTransaction,
  followed: readonly (StoredRun & { readonly next: number })[],
): Promise<void> {
  if (followed.length === 0) return;
  await sql`
    UPDATE touchstone.runs SET next_sequence = input.next
    FROM unnest(${followed.map(({ sequence }) => sequence)}::bigint[], ${followed.map((run) => run.created_at)}::bigint[],
      ${followed.map(({ next }) => next)}::bigint[]) AS input (sequence, created_at, next)
    WHERE runs.sequence = input.sequence AND runs.created_at = input.created_at`.execute(transaction);
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
      rubric_item_id, value_json, question, created_at)
    SELECT id, run_id, workspace_id, reviewer, score, score_text, score_tags, rubric_item_id, value_json, question, created_at
    FROM json_to_recordset(${JSON.stringify(entries)}) AS input (id uuid, run_id uuid, workspace_id uuid, reviewer text,
      score integer, score_text text, score_tags text,
      rubric_item_id uuid, value_json text, question text, created_at bigint)
    ON CONFLICT (id) DO UPDATE SET score_text = excluded.score_text, workspace_id = excluded.workspace_id
    WHERE (feedback_history.score_text, feedback_history.workspace_id)
      IS DISTINCT FROM (excluded.score_text, excluded.workspace_id)`.execute(transaction);
}
