import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { AppError } from '../../shared/app-error.ts';
import { type Batch, type HostMark, prepare, type PreparedBatch } from './copied-batch.ts';
import { type LocalRun, storableText } from './copied-run.ts';
import type { LocalRuns } from './local-runs.ts';
import { MonthPartitions } from './month-partitions.ts';
import { requireKnownTables, type TeamDatabase } from './connection.ts';
import { RunCounts } from './run-counts.ts';
import {
  type CopiedConversation,
  type CopiedFeedback,
  followRuns,
  insertRuns,
  linkNew,
  linkRuns,
  readNewest,
  removeRuns,
  type TeamTransaction,
  updateRuns,
  writeConversations,
  writeHistory,
} from './team-writes.ts';

/** Runs of one transaction. */
const maxRuns = 1000;
const maxActive = 20_000;

export interface CopyProgress {
  /** Runs that this host has copied in this step. */
  readonly copied: number;
  /** Runs and changes that aren't copied yet, about. */
  readonly waiting: number;
  /** Those of them that are runs. */
  readonly waitingRuns: number;
  /** The last run and revision that the database has. */
  readonly mark: { readonly run: number; readonly revision: number };
  /** Runs that haven't ended. */
  readonly active: number;
  readonly rejected: number;
}

/** The data itself can't be stored, for example because it exceeds a limit: trying again wouldn't help. */
function isDataFailure(failure: unknown): boolean {
  return /^(22|54)/.test((failure as { code?: string }).code ?? '');
}

const isCopiedElsewhere = () =>
  new AppError(
    'conflict',
    'Another host has a copy of this data folder, so their runs replace one another. Stop that host, or give it a folder of its own, and restart this one.',
  );

/** Copies what this device has recorded. Every step is one transaction, so nothing is lost or copied twice if either side is killed. */
export class Copier {
  readonly #database: TeamDatabase;
  readonly #local: LocalRuns;
  readonly #hostId: string;
  readonly #partitions: MonthPartitions;
  #keyNames = '';
  #isChecked = false;
  #limit = maxRuns;
  /** Prepared while the database writes the batch before it; null after a failure. */
  #ahead: Promise<PreparedBatch | null> | null = null;

  /** `isChecked` of the copier before this one, if only the connection is new. */
  constructor(database: TeamDatabase, local: LocalRuns, isChecked = false) {
    this.#database = database;
    this.#partitions = new MonthPartitions(database);
    this.#local = local;
    this.#hostId = local.hostId();
    this.#isChecked = isChecked;
  }

  /** Whether the mark was of this data folder. From then on only another host with a copy of the folder can have set another one. */
  get isChecked(): boolean {
    return this.#isChecked;
  }

  /** Copies the next runs and changes. */
  async step(): Promise<CopyProgress> {
    const mark = await this.#readMark();
    const ahead = await this.#ahead;
    this.#ahead = null;
    const isAhead = ahead !== null && isDeepStrictEqual(ahead.batch.mark, mark);
    const batch = isAhead ? ahead.batch : this.#local.inOneState(() => this.#read(mark));
    if (batch !== null) await this.#copy(isAhead ? ahead : await prepare(batch));
    const reached = batch?.next ?? mark;
    const { lastRun, lastRevision } = { lastRun: this.#local.lastRun(), lastRevision: this.#local.lastRevision() };
    return {
      copied: batch === null ? 0 : batch.added.length + batch.changed.length + batch.removed.length,
      waiting: lastRun - reached.copied_run + lastRevision - reached.copied_revision,
      waitingRuns: lastRun - reached.copied_run,
      mark: { run: reached.copied_run, revision: reached.copied_revision },
      active: reached.active.length,
      rejected: reached.rejected,
    };
  }

  async #readMark(): Promise<HostMark> {
    const { rows } = await sql<HostMark>`
      SELECT copied_run, copied_run_id, copied_revision, active, rejected FROM touchstone.hosts
      WHERE id = ${this.#hostId}::uuid`.execute(this.#database);
    const [mark] = rows;
    if (mark !== undefined) {
      if (this.#fits(mark)) {
        this.#isChecked = true;
        return { ...mark, active: mark.active.map(Number) };
      }
      if (this.#isChecked) throw isCopiedElsewhere();
    }
    await this.#startAgain();
    return this.#readMark();
  }

  /** Whether the mark is from this database and not newer than it, as after restoring a backup. */
  #fits({ copied_run: run, copied_run_id: id, copied_revision: revision }: HostMark): boolean {
    if (run > this.#local.lastRun() || revision > this.#local.lastRevision()) return false;
    if (run === 0 || id === null) return true;
    const present = this.#local.runId(run);
    return present === null ? this.#isChecked || this.#local.wasRemoved(run) : present === id;
  }

  /** Every run is copied again, and the stored ones are left unchanged. Positions of a lost database must not find their runs. */
  async #startAgain(): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await sql`
        INSERT INTO touchstone.hosts (id, name) VALUES (${this.#hostId}::uuid, ${hostname()})
        ON CONFLICT (id) DO UPDATE SET copied_run = 0, copied_run_id = NULL, copied_revision = 0, active = '{}'`.execute(
        transaction,
      );
      await sql`UPDATE touchstone.runs SET position = NULL WHERE host_id = ${this.#hostId}::uuid`.execute(transaction);
    });
    this.#isChecked = true;
  }

  /** Null if nothing is left to copy. */
  #read(mark: HostMark): Batch | null {
    const ended = mark.active.flatMap((sequence) => this.#endedRun(sequence)).slice(0, this.#limit);
    const found = this.#local.after(mark.copied_run, this.#limit - ended.length);
    const added = [...ended, ...found.runs];
    // A run that has just ended is copied as a whole, with the changes since then.
    const passed = new Set(added.map(({ sequence }) => sequence));
    const isLeft = (sequence: number) => !passed.has(sequence) && this.#local.read(sequence) !== null;
    const active = [...mark.active.filter(isLeft), ...found.active];
    // Only the run that can't be stored is left out, without changes of others.
    const changes = this.#limit === 1 && added.length > 0 ? [] : this.#local.changes(mark.copied_revision, this.#limit);
    const isCopied = (run: number) => run <= mark.copied_run && !active.includes(run) && !passed.has(run);
    const sequences = [...new Set(changes.map(({ run }) => run))].filter(isCopied);
    const changed = sequences.map((sequence) => ({ sequence, run: this.#local.read(sequence) }));
    const hasPassed = found.last > mark.copied_run;
    if (!hasPassed && changes.length === 0 && ended.length === 0 && active.length === mark.active.length) return null;
    return {
      mark,
      next: {
        copied_run: found.last,
        copied_run_id: hasPassed ? this.#local.runId(found.last) : mark.copied_run_id,
        copied_revision: changes.at(-1)?.revision ?? mark.copied_revision,
        active: active.slice(-maxActive),
        rejected: mark.rejected,
      },
      added,
      changed: changed.flatMap(({ run }) => run ?? []),
      removed: changed.filter(({ run }) => run === null).map(({ sequence }) => sequence),
      removedIds: changes.flatMap(({ removedId }) => removedId ?? []),
      hasMore: found.last < this.#local.lastRun() || changes.length === this.#limit,
    };
  }

  #endedRun(sequence: number): LocalRun[] {
    const run = this.#local.read(sequence);
    return run === null || run.status === 'Running' ? [] : [run];
  }

  async #copy(prepared: PreparedBatch, isSearchable = true): Promise<void> {
    try {
      await this.#partitions.create(prepared.runs);
      await this.#database.transaction().execute((transaction) => this.#write(transaction, prepared));
      this.#limit = Math.min(maxRuns, this.#limit * 2);
    } catch (failure) {
      if (!isDataFailure(failure)) throw failure;
      await this.#copyRest(prepared.batch, isSearchable);
    }
  }

  /** Changes meanwhile are found by their revisions, as those while a batch is written. */
  async #prepareNext(mark: HostMark): Promise<PreparedBatch | null> {
    await nextTurn();
    try {
      const batch = this.#local.inOneState(() => this.#read(mark));
      return batch && (await prepare(batch));
    } catch {
      // The next step reads again, and reports it.
      return null;
    }
  }

  /** Finds the run that can't be stored. Without its words it usually can. */
  async #copyRest(batch: Batch, isSearchable: boolean): Promise<void> {
    const sizeOf = ({ added, changed }: Batch) => added.length + changed.length;
    const size = sizeOf(batch);
    if (size > 1) {
      // The next steps read smaller batches, up to single runs.
      this.#limit = Math.max(1, Math.min(this.#limit, size) >> 2);
      const smaller = this.#local.inOneState(() => this.#read(batch.mark));
      if (smaller !== null && sizeOf(smaller) < size) return this.#copy(await prepare(smaller));
    }
    if (isSearchable) return this.#copy(await prepare(batch, false), false);
    const next = { ...batch.next, rejected: batch.next.rejected + size };
    await this.#copy(await prepare({ ...batch, next, added: [], changed: [] }));
  }

  async #write(transaction: TeamTransaction, { batch, runs, changed: given }: PreparedBatch): Promise<void> {
    await configure(transaction, batch);
    const last = await this.#lock(transaction, batch.mark);
    const numbered = runs.map((run, index) => ({ ...run, sequence: last + index + 1 }));
    const counts = new RunCounts();
    const all = [...batch.added, ...batch.changed];
    const conversations = this.#conversationsOf(all);
    const present = await writeConversations(transaction, conversations);
    counts.addConversations(conversations.length - present.size);
    const relinked = new Set<string>();
    let changed = given;
    if (numbered.length > 0) {
      const { linked, followed } = linkNew(numbered, await readNewest(transaction, [...present]));
      const inserting = insertRuns(transaction, this.#hostId, linked);
      if (batch.hasMore) this.#ahead = this.#prepareNext(batch.next);
      const inserted = await inserting;
      for (const run of linked) if (inserted.has(run.id)) counts.add(run, 1);
      // Some were stored before, while the mark was lost.
      if (inserted.size < linked.length) for (const { conversation_id: id } of linked) relinked.add(id);
      else await followRuns(transaction, followed);
      // They may have changed since.
      const known = batch.added.flatMap((local, index) =>
        inserted.has(local.id) ? [] : [{ run: runs[index]!, local }],
      );
      changed = [...known, ...changed];
    }
    if (changed.length > 0) {
      await updateRuns(
        transaction,
        this.#hostId,
        changed.map(({ run, local }) => ({ run, isAnonymous: local.is_anonymous === 1 })),
        counts,
      );
    }
    for (const id of await removeRuns(transaction, this.#hostId, batch, counts)) relinked.add(id);
    await linkRuns(transaction, [...relinked]);
    await writeHistory(transaction, this.#historyOf(all));
    await counts.write(transaction);
    await this.#writeCallers(transaction);
    await this.#writeMark(transaction, batch.next, last + runs.length);
  }

  /** Locks the state against other hosts. Returns the last sequence. Throws if another connection has moved the mark. */
  async #lock(transaction: TeamTransaction, mark: HostMark): Promise<number> {
    await requireKnownTables(transaction);
    const { rows } = await sql<{ last_sequence: number; copied_run: number; copied_revision: number }>`
      SELECT last_sequence, copied_run, copied_revision FROM touchstone.state, touchstone.hosts
      WHERE hosts.id = ${this.#hostId}::uuid FOR UPDATE`.execute(transaction);
    const [state] = rows;
    if (state?.copied_run !== mark.copied_run || state.copied_revision !== mark.copied_revision) {
      throw isCopiedElsewhere();
    }
    return state.last_sequence;
  }

  #conversationsOf(runs: readonly LocalRun[]): CopiedConversation[] {
    const conversations = new Map<string, CopiedConversation>();
    for (const run of runs) {
      const { conversation_id: id, created_at: time } = run;
      const known = conversations.get(id);
      conversations.set(id, {
        id,
        name: storableText(run.conversation_name),
        caller_id: run.caller_id,
        workspace_id: run.workspace_id,
        created_at: run.conversation_created_at,
        turns_before: known?.turns_before ?? this.#local.turnsBefore(id),
        earliest_at: Math.min(known?.earliest_at ?? time, time),
        latest_at: Math.max(known?.latest_at ?? time, time),
      });
    }
    return [...conversations.values()];
  }

  #historyOf(runs: readonly LocalRun[]): CopiedFeedback[] {
    return runs.flatMap((run) =>
      this.#local.history(run).map((entry) => ({
        ...entry,
        workspace_id: run.workspace_id,
        reviewer: entry.reviewer === null ? null : storableText(entry.reviewer),
        question: entry.question === null ? null : storableText(entry.question),
        score_text: entry.score_text === null ? null : storableText(entry.score_text),
        score_tags: entry.score_tags === null ? null : storableText(entry.score_tags),
      })),
    );
  }

  async #writeCallers(transaction: TeamTransaction): Promise<void> {
    const names = JSON.stringify(
      this.#local.keyNames().map((key) => ({ caller_id: key.caller_id, name: storableText(key.name) })),
    );
    if (names === this.#keyNames) return;
    await sql`
      INSERT INTO touchstone.callers
      SELECT DISTINCT ON (caller_id) * FROM json_populate_recordset(NULL::touchstone.callers, ${names})
      ON CONFLICT (caller_id) DO UPDATE SET name = excluded.name`.execute(transaction);
    this.#keyNames = names;
  }

  async #writeMark(transaction: TeamTransaction, next: HostMark, lastSequence: number): Promise<void> {
    await sql`UPDATE touchstone.state SET last_sequence = ${lastSequence}`.execute(transaction);
    await sql`
      UPDATE touchstone.hosts SET name = ${hostname()}, copied_run = ${next.copied_run}, copied_run_id = ${next.copied_run_id}::uuid,
        copied_revision = ${next.copied_revision}, active = ${[...next.active]}::bigint[], rejected = ${next.rejected},
        seen_at = now()
      WHERE id = ${this.#hostId}::uuid`.execute(transaction);
  }
}

async function configure(transaction: TeamTransaction, { hasMore }: Batch): Promise<void> {
  // Words are collected before they are sorted into an index, and sorting takes half of the time: the more at once, the less for each. This
  // is still little enough for searches, which also read what is collected.
  // A plan for the values at hand would copy megabytes of them several times.
  await sql`
    SELECT set_config('gin_pending_list_limit', '16MB', true), set_config('work_mem', '64MB', true),
      set_config('plan_cache_mode', 'force_generic_plan', true)`.execute(transaction);
  // A lost commit takes the mark with it, and the next step notices. After the last step there is none.
  if (hasMore) await sql`SET LOCAL synchronous_commit = off`.execute(transaction);
}
