import type Database from 'better-sqlite3';
import type { CheckResult } from '../../shared/contract/checks.ts';
import type { CellState } from '../../shared/contract/comparisons.ts';

/** A cell, by its position in the comparison. */
export interface StoredCell {
  readonly position: number;
  readonly state: CellState;
  readonly runId: string | null;
  readonly attempts: number;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly cost: number | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly answerHash: string | null;
  readonly checks: readonly CheckResult[];
  /** Whether all checks passed; null if that isn't known. */
  readonly passed: boolean | null;
  /** From 0 to 1. */
  readonly score: number | null;
}

/** What a job keeps of each cell in memory. */
export type CellOutline = Pick<StoredCell, 'position' | 'state'>;

/** Positions from `from` on, before `to`. */
interface CellRange {
  readonly from: number;
  readonly to: number;
}

/** Tells the current verdicts of a judge from others. */
export interface CurrentVerdicts {
  /** `judges.sequence`. */
  readonly judge: number;
  readonly hash: string;
  /** Whether verdicts of the judge count. */
  readonly counts: boolean;
}

/** No verdict, one from before the judge changed, or a current one from before its calibration. */
export type VerdictNeed = 'missing' | 'stale' | 'uncounted';

/** A cell that has not run. */
export function newCell(position: number): StoredCell {
  return {
    position,
    state: 'Waiting',
    runId: null,
    attempts: 0,
    failure: null,
    cost: null,
    firstTokenMs: null,
    totalMs: null,
    promptTokens: null,
    completionTokens: null,
    answerHash: null,
    checks: [],
    passed: null,
    score: null,
  };
}

/** Reads the cells of comparisons. */
export interface ComparisonCells {
  /** Cells in a range of positions that have a row, in their order. */
  outlines(comparison: number, range: CellRange): CellOutline[];
  cells(comparison: number, range: CellRange): StoredCell[];
  /** Completed cells in a range that a judge would have to look at. Cells whose run was deleted have nothing to look at. */
  verdictNeeds(
    comparison: number,
    current: CurrentVerdicts,
    range: CellRange,
  ): { readonly position: number; readonly completionTokens: number | null; readonly need: VerdictNeed }[];
  cell(comparison: number, position: number): StoredCell | null;
  /** The answer of a run, or its first characters; null for an unknown run. */
  answer(runId: string, maxCharacters: number): string | null;
  /** Null for an unknown run. */
  callerOf(runId: string): string | null;
}

interface CellRow extends Omit<StoredCell, 'failure' | 'checks' | 'passed'> {
  failure: string | null;
  checks: string | null;
  passed: number | null;
}

function cellOf({ failure, checks, passed, ...row }: CellRow): StoredCell {
  return {
    ...row,
    failure: failure === null ? null : (JSON.parse(failure) as StoredCell['failure']),
    checks: checks === null ? [] : (JSON.parse(checks) as CheckResult[]),
    passed: passed === null ? null : passed === 1,
  };
}

function cellRow({ failure, checks, passed, ...cell }: StoredCell): CellRow {
  return {
    ...cell,
    failure: failure === null ? null : JSON.stringify(failure),
    checks: checks.length === 0 ? null : JSON.stringify(checks),
    passed: passed === null ? null : Number(passed),
  };
}

/** Replaces what a cell quoted of a run whose texts are gone. */
const removedReason = 'The text of the run was removed.';

/**
 * Removes what cells say about the texts of a run: reasons of checks and failures quote them, and the hash of a short answer can be
 * guessed. Notes of votes may quote them, too. Results, votes and numbers stay. Call it in the transaction that removes the texts.
 */
export function createQuoteRemoval(database: Database.Database): (run: number) => void {
  const remove = database.prepare<{ run: number; reason: string }>(`
    UPDATE comparison_cells SET
      checks_json = CASE WHEN checks_json IS NOT NULL THEN
        (SELECT json_group_array(json_set(value, '$.reason', @reason)) FROM json_each(checks_json)) END,
      failure_json = json_set(failure_json, '$.message', @reason),
      answer_hash = NULL
    WHERE run_id = (SELECT id FROM runs WHERE sequence = @run)`);
  const cellOfRun = database.prepare<[number], { comparison: number; position: number }>(
    'SELECT comparison, position FROM comparison_cells WHERE run_id = (SELECT id FROM runs WHERE sequence = ?)',
  );
  const removeNote = database.prepare<{ comparison: number; position: number }>(
    'UPDATE comparison_votes SET note = NULL WHERE comparison = @comparison AND position = @position',
  );
  const removePairNotes = database.prepare<{ comparison: number; position: number }>(`
    UPDATE blind_vote_pairs SET note = NULL
    WHERE note IS NOT NULL AND blind_vote IN (SELECT sequence FROM blind_votes WHERE comparison = @comparison)
      AND row = (SELECT CAST(@position AS INTEGER) / ((settings_json ->> '$.variantCount') * (settings_json ->> '$.repeats'))
        FROM comparisons WHERE sequence = @comparison)`);
  return (run) => {
    remove.run({ run, reason: removedReason });
    for (const cell of cellOfRun.all(run)) {
      removeNote.run(cell);
      removePairNotes.run(cell);
    }
  };
}

/** Cells that one call deletes: a few milliseconds. */
const removedAtOnce = 2000;
const cellColumns = `position, state, run_id AS runId, attempts, failure_json AS failure, cost, first_token_ms AS firstTokenMs,
  total_ms AS totalMs, prompt_tokens AS promptTokens, completion_tokens AS completionTokens, answer_hash AS answerHash,
  checks_json AS checks, passed, score`;

interface VerdictNeedsInput extends CellRange, Omit<CurrentVerdicts, 'counts'> {
  readonly comparison: number;
  readonly counts: 0 | 1;
}

type VerdictNeedRow = ReturnType<ComparisonCells['verdictNeeds']>[number];

// `instr` finds out quickly that no verdict of the cell waits for a calibration.
const verdictNeeds = `
  SELECT * FROM (
    SELECT position, cells.completion_tokens AS completionTokens, CASE
      WHEN hash IS NULL OR hash = @hash AND verdict_json = 'null' THEN 'missing'
      WHEN hash <> @hash THEN 'stale'
      WHEN @counts AND (instr(checks_json, '"counts":false') OR instr(checks_json, '"uncountedRunIds"')) AND EXISTS (
        SELECT 1 FROM json_each(checks_json) AS result
        WHERE result.value ->> '$.counts' = 0 AND instr(result.value ->> '$.runIds', judge_run_id)
          OR instr(result.value ->> '$.uncountedRunIds', judge_run_id)) THEN 'uncounted'
    END AS need
    FROM comparison_cells AS cells JOIN runs ON runs.id = cells.run_id
      LEFT JOIN judge_verdicts AS verdicts ON verdicts.judge = @judge AND verdicts.run_id = cells.run_id
    WHERE comparison = @comparison AND position >= @from AND position < @to AND state = 'Completed'
  ) WHERE need IS NOT NULL`;

function cellStatements(database: Database.Database) {
  return {
    write: database.prepare<[CellRow & { comparison: number }]>(
      `INSERT OR REPLACE INTO comparison_cells (comparison, position, state, run_id, attempts, failure_json, cost, first_token_ms,
         total_ms, prompt_tokens, completion_tokens, answer_hash, checks_json, passed, score)
       VALUES (@comparison, @position, @state, @runId, @attempts, @failure, @cost, @firstTokenMs, @totalMs, @promptTokens,
         @completionTokens, @answerHash, @checks, @passed, @score)`,
    ),
    outlines: database.prepare<[number, number, number], CellOutline>(
      'SELECT position, state FROM comparison_cells WHERE comparison = ? AND position >= ? AND position < ? ORDER BY position',
    ),
    verdictNeeds: database.prepare<[VerdictNeedsInput], VerdictNeedRow>(verdictNeeds),
    range: database.prepare<[number, number, number], CellRow>(
      `SELECT ${cellColumns} FROM comparison_cells
       WHERE comparison = ? AND position >= ? AND position < ? ORDER BY position`,
    ),
    answer: database
      .prepare<[number, string], string | null>(
        `SELECT substr(run_texts.content, 1, CAST(? AS INTEGER)) FROM runs JOIN run_texts ON run_texts.run = runs.sequence
         WHERE runs.id = ?`,
      )
      .pluck(),
    callerOf: database.prepare<[string], string>('SELECT caller_id FROM runs WHERE id = ?').pluck(),
    remove: database.prepare<[number, number, number]>(
      `DELETE FROM comparison_cells WHERE comparison = ? AND position IN (
         SELECT position FROM comparison_cells WHERE comparison = ? LIMIT ?)`,
    ),
  };
}

export function createComparisonCells(database: Database.Database) {
  const cells = cellStatements(database);
  const reading: ComparisonCells = {
    outlines: (comparison, { from, to }) => cells.outlines.all(comparison, from, to),
    verdictNeeds: (comparison, { judge, hash, counts }, { from, to }) =>
      cells.verdictNeeds.all({ comparison, judge, hash, counts: counts ? 1 : 0, from, to }),
    cells: (comparison, { from, to }) => cells.range.all(comparison, from, to).map(cellOf),
    cell(comparison, position) {
      const [row] = cells.range.all(comparison, position, position + 1);
      return row ? cellOf(row) : null;
    },
    answer: (runId, maxCharacters) => cells.answer.get(maxCharacters, runId) ?? null,
    callerOf: (runId) => cells.callerOf.get(runId) ?? null,
  };
  return {
    reading,
    write(comparison: number, changed: readonly StoredCell[]): void {
      for (const cell of changed) cells.write.run({ ...cellRow(cell), comparison });
    },
    /** Deletes some cells of a comparison. Returns whether there were any. */
    removeSome: (comparison: number): boolean => cells.remove.run(comparison, comparison, removedAtOnce).changes > 0,
  };
}
