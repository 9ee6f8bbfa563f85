import { sql } from 'kysely';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import type { ExportSelection } from '../../shared/contract/audit-exports.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';
import type { ExportRow } from '../storage/export-rows.ts';
import { createRunSnapshot } from '../storage/run-snapshot.ts';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';

/** The matching runs of a filter, or only their number if they are more than asked for. */
export interface SelectedRuns {
  readonly count: number;
  /** Oldest first. */
  readonly ids: readonly string[];
}

export interface SnapshotRequest {
  readonly selection: ExportSelection;
  readonly file: string;
  /** At most this many runs are written; null for all. The selection is complete in any case. */
  readonly maxRuns: number | null;
}

/** Runs whose texts are read at once. */
const runsAtOnce = 50;

interface FoundRow {
  readonly sequence: number;
  readonly id: string;
  readonly conversation_id: string;
  readonly conversation_name: string;
  readonly caller_id: string;
  readonly workspace_id: string | null;
  readonly terms: readonly string[];
  readonly row: object;
  readonly contents: object;
  readonly score: number | null;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly feedback_at: number | null;
  readonly history: readonly object[] | null;
}

interface FoundConversation {
  readonly id: string;
  readonly matched: readonly number[];
}

/** The ID that a term of a run names; null if it has none of the field. */
export function idIn(terms: readonly string[], field: string): string | null {
  return terms.find((term) => term.startsWith(`${field}=`))?.slice(field.length + 1) ?? null;
}

/** The same as `ExportRows` reads on the host that recorded it. Only its sequences are others. */
function exportRowOf({ row, contents, terms, history, ...found }: FoundRow): ExportRow {
  return {
    ...row,
    ...contents,
    ...found,
    conversation: 0,
    draft_id: null,
    import_batch: null,
    caller_id: idIn(terms, 'caller') ?? found.caller_id,
    agent_id: idIn(terms, 'agent'),
    import_id: idIn(terms, 'import'),
    feedback_history_json: JSON.stringify(history ?? []),
  } as unknown as ExportRow;
}

/** Where a run is. Its time (milliseconds since 1970) names its partition. */
export interface RunLocation {
  readonly sequence: number;
  readonly createdAt: number;
}

/**
 * These runs of `runs` joined with `run_texts`. By their numbers alone, the server would start parallel workers to look for a few runs in
 * all partitions: 50 runs of 100,000 in 25 months took 36 ms instead of 1.
 */
export function isAt(locations: readonly RunLocation[]) {
  const times = [...new Set(locations.map(({ createdAt }) => createdAt))];
  return sql`runs.sequence = ANY(${locations.map(({ sequence }) => sequence)}::bigint[])
    AND runs.created_at = ANY(${times}::bigint[]) AND run_texts.created_at = ANY(${times}::bigint[])`;
}

/** Whole runs of all hosts, for evidence, replays and datasets. */
export class TeamRuns {
  readonly #database: TeamDatabase;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  /** The runs with these IDs, in any order, without unknown ones. */
  async read(ids: readonly string[]): Promise<ExportRow[]> {
    const { rows } = await sql<RunLocation>`
      SELECT sequence, created_at AS "createdAt" FROM touchstone.runs WHERE id = ANY(${ids}::uuid[])`.execute(
      this.#database,
    );
    return (await this.#rows(rows)).map(exportRowOf);
  }

  /** In the order of their arrival. */
  async #rows(locations: readonly RunLocation[]): Promise<FoundRow[]> {
    if (locations.length === 0) return [];
    const { rows } = await sql<FoundRow>`
      SELECT runs.sequence, runs.id, runs.conversation_id, conversations.name AS conversation_name, conversations.caller_id,
        conversations.workspace_id, terms, "row", contents, score, score_text, score_tags, feedback_at, (
          SELECT json_agg(json_build_object('id', id, 'reviewer', reviewer, 'question', question, 'score', score, 'scoreTags', score_tags, 'note', score_text,
            'createdAt', created_at, 'rubricItemId', rubric_item_id, 'value', value_json::json) ORDER BY sequence)
          FROM touchstone.feedback_history WHERE run_id = runs.id
        ) AS history
      FROM touchstone.runs
        JOIN touchstone.run_texts ON run_texts.sequence = runs.sequence AND run_texts.created_at = runs.created_at
        JOIN touchstone.conversations ON conversations.id = runs.conversation_id
      WHERE ${isAt(locations)} ORDER BY runs.sequence`.execute(this.#database);
    return rows;
  }

  async select({ filter, max }: { filter: AuditFilter; max: number }): Promise<SelectedRuns> {
    const matching = sql`FROM touchstone.runs AS n WHERE ${matches(filter, 'n')}`;
    const { rows } = await sql<{ id: string }>`
      SELECT id ${matching} ORDER BY sequence LIMIT ${max + 1}`.execute(this.#database);
    if (rows.length <= max) return { count: rows.length, ids: rows.map(({ id }) => id) };
    const { rows: counted } = await sql<{ count: number }>`SELECT count(*) AS count ${matching}`.execute(
      this.#database,
    );
    return { count: counted[0]!.count, ids: [] };
  }

  /** The first of the conversations that doesn't exist; -1 if all do. */
  async findMissing(ids: readonly string[]): Promise<number> {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM touchstone.conversations WHERE id = ANY(${ids}::uuid[])`.execute(this.#database);
    const known = new Set(rows.map(({ id }) => id));
    return ids.findIndex((id) => !known.has(id.toLowerCase()));
  }

  /**
   * Copies the selected conversations to a file that `openRunSnapshot` reads, starting with the conversation with the newest run. Returns
   * their numbers in the format of `Selection`. Throws the signal's reason.
   */
  async writeSnapshot({ selection, file, maxRuns }: SnapshotRequest, signal: AbortSignal): Promise<Int32Array> {
    const { rows: state } = await sql<{ last: number }>`SELECT last_sequence AS last FROM touchstone.state`.execute(
      this.#database,
    );
    const { last } = state[0]!;
    const conversations =
      'filter' in selection
        ? await this.#matching(selection.filter, last)
        : await this.#chosen(selection.conversationIds, last);
    const snapshot = createRunSnapshot(file);
    const numbers: number[] = [];
    try {
      snapshot.addCallers(await this.#callers());
      let written = 0;
      for (const [index, { id, matched }] of conversations.entries()) {
        const isWritten = maxRuns === null || written < maxRuns;
        const isMatched = new Set(matched);
        const added: number[] = [];
        for await (const found of isWritten ? this.#runsOf(id, last) : []) {
          signal.throwIfAborted();
          const number = snapshot.add(index + 1, exportRowOf(found));
          written += 1;
          if (isMatched.has(found.sequence)) added.push(number);
        }
        const runs = isWritten ? added : matched.map(() => 0);
        numbers.push(index + 1, runs.length);
        for (const run of runs) numbers.push(run);
      }
      snapshot.finish();
    } catch (error) {
      snapshot.discard();
      throw describeDiskFailure(error) ?? error;
    }
    return Int32Array.from(numbers);
  }

  async *#runsOf(conversation: string, last: number): AsyncGenerator<FoundRow, void, void> {
    for (let after = 0; ;) {
      const { rows: locations } = await sql<RunLocation>`
        SELECT sequence, created_at AS "createdAt" FROM touchstone.runs
        WHERE conversation_id = ${conversation}::uuid AND sequence > ${after} AND sequence <= ${last}
        ORDER BY sequence LIMIT ${runsAtOnce}`.execute(this.#database);
      yield* await this.#rows(locations);
      if (locations.length < runsAtOnce) return;
      after = locations.at(-1)!.sequence;
    }
  }

  async #matching(filter: AuditFilter, last: number): Promise<FoundConversation[]> {
    const { rows } = await sql<FoundConversation>`
      SELECT id, matched FROM (
        SELECT conversation_id AS id, array_agg(sequence::float8 ORDER BY sequence) AS matched
        FROM touchstone.runs AS n WHERE ${matches(filter, 'n')} AND n.sequence <= ${last} GROUP BY conversation_id
      ) AS found, LATERAL (
        SELECT created_at FROM touchstone.runs WHERE conversation_id = found.id AND sequence <= ${last}
        ORDER BY sequence DESC LIMIT 1
      ) AS newest ORDER BY created_at DESC, id DESC`.execute(this.#database);
    return rows;
  }

  /** In their order, each once. */
  async #chosen(ids: readonly string[], last: number): Promise<FoundConversation[]> {
    const unique = [...new Set(ids.map((id) => id.toLowerCase()))];
    const { rows } = await sql<FoundConversation>`
      SELECT conversation_id AS id, array_agg(sequence::float8 ORDER BY sequence) AS matched
      FROM touchstone.runs WHERE conversation_id = ANY(${unique}::uuid[]) AND sequence <= ${last}
      GROUP BY conversation_id`.execute(this.#database);
    const found = new Map(rows.map((row) => [row.id, row]));
    return unique.flatMap((id) => found.get(id) ?? []);
  }

  async #callers(): Promise<{ id: string; name: string }[]> {
    const { rows } = await sql<{ id: string; name: string }>`
      SELECT caller_id AS id, name FROM touchstone.callers`.execute(this.#database);
    return rows;
  }
}
