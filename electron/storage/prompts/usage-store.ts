import type Database from 'better-sqlite3';
import { z } from 'zod';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-usage.ts';
import { createContinuationTokens } from '../continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from '../list-page.ts';

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

/** What triggers count of the runs of each version. */
export interface UsageStore {
  /** Of the versions of one prompt, by its `sequence`, newest first. Throws `invalid_request` for a token of another list. */
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
