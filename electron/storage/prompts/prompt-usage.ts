import { z } from 'zod';
import type { AiSystem } from '../../../shared/contract/common.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import type { RunSettings } from '../../../shared/prompt-content.ts';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-library.ts';
import { createContinuationTokens } from '../continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from '../list-page.ts';
import type Database from 'better-sqlite3';

interface UsageRow {
  readonly id: string;
  readonly number: number;
  readonly runs: number;
  readonly last_run_at: number | null;
  readonly timed_runs: number;
  readonly total_ms: number;
  readonly priced_runs: number;
  readonly cost: number;
  readonly scored_runs: number;
  readonly score: number;
}

/** The statistics of each version's runs, which triggers update. */
export interface UsageStore {
  /** For the versions of a prompt, by its `sequence`, newest first. Throws `invalid_request` for a token of another list. */
  list(prompt: number, query: ListQuery): ListPage<PromptVersionUsage>;
}

const average = (sum: number, count: number) => (count === 0 ? null : sum / count);

function usageOf(row: UsageRow): PromptVersionUsage {
  return {
    promptVersionId: row.id,
    versionNumber: row.number,
    runs: row.runs,
    lastRunAt: row.last_run_at === null ? null : new Date(row.last_run_at).toISOString(),
    averageScore: average(row.score, row.scored_runs),
    scoredRuns: row.scored_runs,
    averageCost: average(row.cost, row.priced_runs),
    averageMs: average(row.total_ms, row.timed_runs),
  };
}

export function createUsageStore(database: Database.Database, tokenSecret: string): UsageStore {
  const tokens = createContinuationTokens(tokenSecret, 'prompt-usage', z.int());
  const page = database.prepare<[prompt: number, before: number, limit: number], UsageRow>(
    `SELECT id, number, ifnull(runs, 0) AS runs, last_run_at, ifnull(timed_runs, 0) AS timed_runs,
       ifnull(total_ms, 0) AS total_ms, ifnull(priced_runs, 0) AS priced_runs, ifnull(cost, 0) AS cost,
       ifnull(scored_runs, 0) AS scored_runs, ifnull(score, 0) AS score
     FROM prompt_versions LEFT JOIN prompt_version_usage ON version_id = prompt_versions.id
     WHERE prompt = ? AND number < ? ORDER BY number DESC LIMIT ?`,
  );
  return {
    list: (prompt, query) =>
      listPage(query, {
        tokens,
        filter: { prompt },
        rows: (before, limit) => page.all(prompt, before, limit),
        positionOf: ({ number }) => number,
        toItem: usageOf,
      }),
  };
}

interface DraftRunRow {
  readonly sequence: number;
  readonly ai_system: AiSystem;
  readonly model: string;
  readonly is_free: 0 | 1;
  readonly has_same_text: 0 | 1;
  readonly configuration_json: string | null;
}

export interface ClaimOptions {
  readonly draftId: string;
  readonly version: PromptVersion;
  /** Whether a run sent the same as the version. */
  readonly isSame: (run: RunSettings) => boolean;
  /** The `sequence` to continue after. */
  readonly after: number;
  readonly limit: number;
}

/** Runs that the window made of a draft before it was saved as a version. */
export interface DraftRuns {
  /**
   * Reads at most `limit` runs of a draft and assigns those without a version to this one, in one transaction. `next` is the position to
   * continue at; null at the end.
   */
  claimSome(options: ClaimOptions): { readonly claimed: number; readonly next: number | null };
}

function draftRunStatements(database: Database.Database) {
  // SQL compares the texts, because they can be long and most runs of a draft have other texts.
  const slice = database.prepare<
    [{ draftId: string; after: number; limit: number; promptText: string; systemMessage: string }],
    DraftRunRow
  >(`
    SELECT slice.*, configuration_json,
      prompt_text = @promptText AND ifnull(system_message, '') = @systemMessage AS has_same_text
    FROM (
      SELECT sequence, ai_system, model, prompt_version_id IS NULL AS is_free FROM runs
      WHERE draft_id = @draftId AND sequence > @after ORDER BY sequence LIMIT @limit
    ) AS slice JOIN run_texts ON run_texts.run = slice.sequence
    ORDER BY sequence
  `);
  const setVersion = database.prepare<[promptId: string, versionId: string, sequence: number]>(
    'UPDATE runs SET prompt_id = ?, prompt_version_id = ? WHERE sequence = ?',
  );
  // Adds what the triggers would have counted if the run had started with its version. They count later changes.
  const addUsage = database.prepare<[sequence: number]>(`
    INSERT INTO prompt_version_usage
      (version_id, runs, last_run_at, timed_runs, total_ms, priced_runs, cost, scored_runs, score)
    SELECT prompt_version_id, 1, created_at, total_ms IS NOT NULL, ifnull(total_ms, 0), cost IS NOT NULL, ifnull(cost, 0),
      score IS NOT NULL, ifnull(score, 0)
    FROM runs LEFT JOIN feedback ON feedback.run = runs.sequence WHERE runs.sequence = ?
    ON CONFLICT (version_id) DO UPDATE SET runs = runs + 1,
      last_run_at = max(ifnull(last_run_at, 0), excluded.last_run_at),
      timed_runs = timed_runs + excluded.timed_runs, total_ms = total_ms + excluded.total_ms,
      priced_runs = priced_runs + excluded.priced_runs, cost = cost + excluded.cost,
      scored_runs = scored_runs + excluded.scored_runs, score = score + excluded.score
  `);
  const noteChange = database.prepare<[number]>("INSERT INTO run_changes (run, kind) VALUES (?, 'run')");
  return { slice, setVersion, addUsage, noteChange };
}

export function createDraftRuns(database: Database.Database, flush: () => void): DraftRuns {
  const { slice, setVersion, addUsage, noteChange } = draftRunStatements(database);

  const claimSome = database.transaction(({ version, isSame, ...position }: ClaimOptions) => {
    const { promptText, systemMessage } = version;
    const rows = slice.all({ ...position, promptText, systemMessage: systemMessage ?? '' });
    const same = rows.filter(
      ({ is_free, has_same_text, ai_system, model, configuration_json }) =>
        is_free === 1 &&
        has_same_text === 1 &&
        isSame({
          promptText,
          systemMessage,
          aiSystem: ai_system,
          model,
          configuration: configuration_json === null ? null : JSON.parse(configuration_json),
        }),
    );
    for (const { sequence } of same) {
      setVersion.run(version.promptId, version.id, sequence);
      addUsage.run(sequence);
      noteChange.run(sequence);
    }
    return { claimed: same.length, next: rows.length < position.limit ? null : rows.at(-1)!.sequence };
  });

  return {
    claimSome(options) {
      flush();
      return claimSome.immediate(options);
    },
  };
}
