import type Database from 'better-sqlite3';
import type { AiSystem } from '../../shared/contract/common.ts';

/** What a completed run says about the next one. */
export interface EarlierRun {
  /** Of the system message and the prompt that was sent. */
  readonly promptBytes: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalMs: number | null;
}

interface NamedModel {
  readonly aiSystem: AiSystem;
  readonly model: string;
}

/** Completed runs of the past, newest first, for estimates. */
export interface EarlierRuns {
  ofVersion(promptVersionId: string, model: NamedModel): EarlierRun[];
  /** Of the judge as it is. */
  ofJudge(judgeId: string, judgeHash: string): EarlierRun[];
  /** How long recent runs of a model took, in milliseconds. */
  timesOf(model: NamedModel): number[];
}

const maxRuns = 200;
/** Among the newest runs, because no index finds those of a model. */
const searchedRuns = 5000;

// `octet_length` doesn't read the text.
const measured = `ifnull(octet_length(system_message), 0) + octet_length(rendered_prompt) AS promptBytes,
  prompt_tokens AS promptTokens, completion_tokens AS completionTokens, total_ms AS totalMs`;
const isMeasured = "status = 'Completed' AND prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL";

export function createEarlierRuns(database: Database.Database, flush: () => void): EarlierRuns {
  const ofVersion = database.prepare<[string, string, string, number], EarlierRun>(
    `SELECT ${measured} FROM runs JOIN run_texts ON run = sequence
     WHERE prompt_version_id = ? AND model = ? AND ai_system = ? AND ${isMeasured} ORDER BY sequence DESC LIMIT ?`,
  );
  const ofJudge = database.prepare<[string, string, number], EarlierRun>(
    `SELECT ${measured} FROM judges JOIN judge_verdicts ON judge = judges.sequence JOIN runs ON runs.id = judge_run_id
     JOIN run_texts ON run = runs.sequence
     WHERE judges.id = ? AND hash = ? AND ${isMeasured} ORDER BY run_id DESC LIMIT ?`,
  );
  const timesOf = database
    .prepare<[number, string, string, number], number>(
      `SELECT total_ms FROM runs WHERE sequence > (SELECT ifnull(max(sequence), 0) FROM runs) - ?
       AND model = ? AND ai_system = ? AND status = 'Completed' AND total_ms IS NOT NULL ORDER BY sequence DESC LIMIT ?`,
    )
    .pluck();
  return {
    ofVersion(promptVersionId, { aiSystem, model }) {
      flush();
      return ofVersion.all(promptVersionId, model, aiSystem, maxRuns);
    },
    ofJudge(judgeId, judgeHash) {
      flush();
      return ofJudge.all(judgeId.toLowerCase(), judgeHash, maxRuns);
    },
    timesOf({ aiSystem, model }) {
      flush();
      return timesOf.all(searchedRuns, model, aiSystem, maxRuns);
    },
  };
}
