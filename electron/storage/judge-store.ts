import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import type { HandLabel, JudgeInput, JudgeVerdict } from '../../shared/contract/judges.ts';
import { type ListPage, type ListQuery, newestList } from './list-page.ts';

export interface StoredJudge {
  /** `judges.sequence`. */
  readonly sequence: number;
  readonly id: string;
  readonly input: JudgeInput;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface StoredLabel {
  readonly runId: string;
  /** The run of the second answer, for a judge of preferences; null for any other. */
  readonly otherRunId: string | null;
  /** Whether its row is in the half that only measures. */
  readonly isHeldOut: boolean;
  readonly label: HandLabel;
  readonly createdAt: number;
  /** On the same run or runs, of the judge as it was then; null without one. */
  readonly verdict: { readonly judgeHash: string; readonly verdict: JudgeVerdict['verdict'] } | null;
}

/** A verdict on a run. The reason is only in the judge's own run, which is deleted with the others. */
export interface StoredVerdict {
  readonly runId: string;
  readonly judgeHash: string;
  readonly judgeRunId: string;
  readonly verdict: 'pass' | 'fail' | number | null;
}

/** What a judge of preferences decided on two answers, the first of which is that of `runId`. */
export interface StoredPreference {
  readonly runId: string;
  readonly otherRunId: string;
  readonly judgeHash: string;
  readonly verdict: 'first' | 'second' | 'tie';
}

export type NewLabel = Pick<StoredLabel, 'runId' | 'otherRunId' | 'isHeldOut' | 'label'>;

/** Methods with an id throw `not_found`. */
export interface JudgeStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredJudge>;
  read(id: string): StoredJudge;
  exists(id: string): boolean;
  create(input: JudgeInput): StoredJudge;
  update(id: string, input: JudgeInput): StoredJudge;
  remove(id: string): void;
  /** Newest first: those of pairs of answers, or of single ones. */
  labels(judge: number, of: 'answers' | 'pairs'): StoredLabel[];
  /** Replaces an earlier one on the same run, or on the same runs in any order. */
  setLabel(judge: number, label: NewLabel): void;
  removeLabel(judge: number, label: Pick<StoredLabel, 'runId' | 'otherRunId'>): void;
  removeLabels(judge: number): void;
  verdict(judge: number, runId: string): StoredVerdict | null;
  /** Replaces an earlier verdict on the same run. */
  setVerdict(judge: number, verdict: StoredVerdict): void;
  /** Replaces an earlier one on the same runs in any order. */
  setPreference(judge: number, preference: StoredPreference): void;
  /** What a judge preferred of two runs, which it may have got in the other order; null if it wasn't asked. */
  preference(judge: number, runId: string, otherRunId: string): Pick<StoredPreference, 'judgeHash' | 'verdict'> | null;
  /** The preferences between a run and others. */
  preferencesOf(runId: string): { readonly judge: StoredJudge; readonly preference: StoredPreference }[];
}

interface JudgeRow {
  sequence: number;
  id: string;
  input_json: string;
  created_at: number;
  updated_at: number;
}

interface VerdictRow {
  run_id: string;
  hash: string;
  judge_run_id: string;
  verdict_json: string;
}

interface LabelRow {
  runId: string;
  otherRunId: string | null;
  isHeldOut: number;
  label: HandLabel;
  createdAt: number;
  judgeHash: string | null;
  verdictJson: string | null;
}

function verdictOf({
  run_id: runId,
  hash: judgeHash,
  judge_run_id: judgeRunId,
  verdict_json: json,
}: VerdictRow): StoredVerdict {
  return { runId, judgeHash, judgeRunId, verdict: JSON.parse(json) as StoredVerdict['verdict'] };
}

function judgeOf(row: JudgeRow): StoredJudge {
  const { sequence, id, created_at: createdAt, updated_at: updatedAt } = row;
  return { sequence, id, input: JSON.parse(row.input_json) as JudgeInput, createdAt, updatedAt };
}

function judgeStatements(database: Database.Database) {
  return {
    page: database.prepare<{ before: number; limit: number }, JudgeRow>(
      'SELECT * FROM judges WHERE sequence < @before ORDER BY sequence DESC LIMIT @limit',
    ),
    find: database.prepare<[string], JudgeRow>('SELECT * FROM judges WHERE id = ?'),
    insert: database.prepare<[string, string, number, number]>(
      'INSERT INTO judges (id, input_json, created_at, updated_at) VALUES (?, ?, ?, ?)',
    ),
    update: database.prepare<[string, number, number]>(
      'UPDATE judges SET input_json = ?, updated_at = ? WHERE sequence = ?',
    ),
    remove: database.prepare<[number]>('DELETE FROM judges WHERE sequence = ?'),
    verdict: database.prepare<[number, string], VerdictRow>(
      'SELECT * FROM judge_verdicts WHERE judge = ? AND run_id = ?',
    ),
    setPreference: database.prepare<[number, string, string, string, string, number]>(
      'INSERT OR REPLACE INTO judge_preferences (judge, run_id, other_run_id, hash, verdict, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    removePreference: database.prepare<[number, string, string]>(
      'DELETE FROM judge_preferences WHERE judge = ? AND run_id = ? AND other_run_id = ?',
    ),
    preference: database.prepare<[number, string, string], Pick<StoredPreference, 'judgeHash' | 'verdict'>>(
      'SELECT hash AS judgeHash, verdict FROM judge_preferences WHERE judge = ? AND run_id = ? AND other_run_id = ?',
    ),
    preferences: database.prepare<{ runId: string }, JudgeRow & StoredPreference>(
      `SELECT judges.*, run_id AS runId, other_run_id AS otherRunId, hash AS judgeHash, verdict
       FROM judge_preferences AS found JOIN judges ON judges.sequence = found.judge
       WHERE run_id = @runId OR other_run_id = @runId ORDER BY found.created_at`,
    ),
    setVerdict: database.prepare<[number, string, string, string, string]>(
      `INSERT INTO judge_verdicts (judge, run_id, hash, judge_run_id, verdict_json) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET hash = excluded.hash, judge_run_id = excluded.judge_run_id, verdict_json = excluded.verdict_json`,
    ),
  };
}

/** What was preferred, with the answers the other way round. */
export const turnedPreference = { first: 'second', second: 'first', tie: 'tie' } as const;

const turnedVerdict = `CASE found.verdict WHEN 'first' THEN 'second' WHEN 'second' THEN 'first' ELSE found.verdict END`;

function labelStatements(database: Database.Database) {
  const labelled = `label.run_id AS runId, is_held_out AS isHeldOut, label, label.created_at AS createdAt, found.hash AS judgeHash`;
  return {
    answers: database.prepare<[number], LabelRow>(
      `SELECT ${labelled}, NULL AS otherRunId, verdict_json AS verdictJson
       FROM judge_labels AS label LEFT JOIN judge_verdicts AS found USING (judge, run_id)
       WHERE judge = ? ORDER BY createdAt DESC, runId`,
    ),
    // A pair may have been judged in the other order.
    pairs: database.prepare<[number], LabelRow>(
      `SELECT ${labelled}, label.other_run_id AS otherRunId,
         json_quote(CASE found.run_id WHEN label.run_id THEN found.verdict ELSE ${turnedVerdict} END) AS verdictJson
       FROM judge_pair_labels AS label LEFT JOIN judge_preferences AS found ON found.judge = label.judge
         AND (found.run_id = label.run_id AND found.other_run_id = label.other_run_id
           OR found.run_id = label.other_run_id AND found.other_run_id = label.run_id)
       WHERE label.judge = ? ORDER BY createdAt DESC, runId`,
    ),
    setAnswer: database.prepare<[number, string, number, string, number]>(
      `INSERT INTO judge_labels (judge, run_id, is_held_out, label, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET label = excluded.label, created_at = excluded.created_at`,
    ),
    setPair: database.prepare<[number, string, string, number, string, number]>(
      `INSERT INTO judge_pair_labels (judge, run_id, other_run_id, is_held_out, label, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    removeAnswer: database.prepare<[number, string]>('DELETE FROM judge_labels WHERE judge = ? AND run_id = ?'),
    removePair: database.prepare<[number, string, string, string, string]>(
      'DELETE FROM judge_pair_labels WHERE judge = ? AND (run_id = ? AND other_run_id = ? OR run_id = ? AND other_run_id = ?)',
    ),
    removeAnswers: database.prepare<[number]>('DELETE FROM judge_labels WHERE judge = ?'),
    removePairs: database.prepare<[number]>('DELETE FROM judge_pair_labels WHERE judge = ?'),
  };
}

/** Labels by hand. Those of pairs are replaced in any order of their runs. */
function createLabelStore(
  database: Database.Database,
): Pick<JudgeStore, 'labels' | 'setLabel' | 'removeLabel' | 'removeLabels'> {
  const statements = labelStatements(database);

  function removeLabel(judge: number, { runId, otherRunId }: Pick<StoredLabel, 'runId' | 'otherRunId'>): void {
    if (otherRunId === null) statements.removeAnswer.run(judge, runId);
    else statements.removePair.run(judge, runId, otherRunId, otherRunId, runId);
  }

  return {
    labels: (judge, of) =>
      statements[of].all(judge).map(({ judgeHash, verdictJson, isHeldOut, ...label }) => ({
        ...label,
        isHeldOut: isHeldOut === 1,
        verdict:
          judgeHash === null ? null : { judgeHash, verdict: JSON.parse(verdictJson!) as JudgeVerdict['verdict'] },
      })),
    setLabel: database.transaction<JudgeStore['setLabel']>((judge, { runId, otherRunId, isHeldOut, label }) => {
      if (otherRunId === null) return void statements.setAnswer.run(judge, runId, Number(isHeldOut), label, Date.now());
      removeLabel(judge, { runId, otherRunId });
      statements.setPair.run(judge, runId, otherRunId, Number(isHeldOut), label, Date.now());
    }),
    removeLabel,
    removeLabels: database.transaction<JudgeStore['removeLabels']>((judge) => {
      statements.removeAnswers.run(judge);
      statements.removePairs.run(judge);
    }),
  };
}

export function createJudgeStore(database: Database.Database, tokenSecret: string): JudgeStore {
  const statements = judgeStatements(database);

  function read(id: string): StoredJudge {
    const row = statements.find.get(id.toLowerCase());
    if (row) return judgeOf(row);
    throw new AppError('not_found', 'No judge has this ID.');
  }

  return {
    list: newestList({ tokenSecret, name: 'judges', rows: (input) => statements.page.all(input), toItem: judgeOf }),
    read,
    exists: (id) => statements.find.get(id.toLowerCase()) !== undefined,
    create(input) {
      const id = randomUUID();
      statements.insert.run(id, JSON.stringify(input), Date.now(), Date.now());
      return read(id);
    },
    update(id, input) {
      statements.update.run(JSON.stringify(input), Date.now(), read(id).sequence);
      return read(id);
    },
    remove: (id) => void statements.remove.run(read(id).sequence),
    ...createLabelStore(database),
    verdict(judge, runId) {
      const row = statements.verdict.get(judge, runId);
      return row ? verdictOf(row) : null;
    },
    setVerdict(judge, { runId, judgeHash, judgeRunId, verdict: value }) {
      statements.setVerdict.run(judge, runId, judgeHash, judgeRunId, JSON.stringify(value));
    },
    setPreference: database.transaction<JudgeStore['setPreference']>((judge, preference) => {
      const { runId, otherRunId, judgeHash, verdict } = preference;
      statements.removePreference.run(judge, otherRunId, runId);
      statements.setPreference.run(judge, runId, otherRunId, judgeHash, verdict, Date.now());
    }),
    preference(judge, runId, otherRunId) {
      const found = statements.preference.get(judge, runId, otherRunId);
      if (found) return found;
      const turned = statements.preference.get(judge, otherRunId, runId);
      return turned ? { ...turned, verdict: turnedPreference[turned.verdict] } : null;
    },
    preferencesOf: (runId) =>
      statements.preferences.all({ runId }).map(({ otherRunId, judgeHash, verdict, ...row }) => ({
        judge: judgeOf(row),
        preference: { runId: row.runId, otherRunId, judgeHash, verdict },
      })),
  };
}
