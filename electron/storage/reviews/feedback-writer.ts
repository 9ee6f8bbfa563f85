import type Database from 'better-sqlite3';
import type { ReviewAnswer } from '../../../shared/contract/review-items.ts';
import type { RubricItem } from '../../../shared/contract/rubrics.ts';
import { timeOrderedId } from '../time-ordered-id.ts';

/** Feedback on a run as a queue decided it. Absent fields stay. */
interface DecidedFeedback {
  readonly score?: number | null;
  readonly scoreText?: string | null;
  readonly scoreTags?: string | null;
}

interface HistoryInput {
  readonly runId: string;
  readonly reviewer: string;
  readonly answers: readonly ReviewAnswer[];
  readonly rubric: readonly RubricItem[];
  readonly createdAt: number;
}

/** What a queue writes on the runs of its items. Call it in a transaction. */
export interface FeedbackWriter {
  /** Writes answers to the history of a run's feedback. A removed run is ignored. */
  addHistory(input: HistoryInput): void;
  /** Replaces the feedback of a run. A removed run is ignored. */
  setFeedback(runId: string, feedback: DecidedFeedback, reviewer: string, now: number): void;
}

function feedbackStatements(database: Database.Database) {
  return {
    run: database.prepare<[string], number>('SELECT sequence FROM runs WHERE id = ?').pluck(),
    addHistory: database.prepare(
      `INSERT INTO feedback_history (id, run, reviewer, score, score_text, score_tags, created_at, rubric_item_id, value_json, question)
       VALUES (@id, @run, @reviewer, @score, @scoreText, @scoreTags, @now, @rubricItemId, @value, @question)`,
    ),
    read: database.prepare<[number], Required<DecidedFeedback>>(
      'SELECT score, score_text AS scoreText, score_tags AS scoreTags FROM feedback WHERE run = ?',
    ),
    set: database.prepare(
      `INSERT INTO feedback (run, score, score_text, score_tags, updated_at) VALUES (@run, @score, @scoreText, @scoreTags, @now)
       ON CONFLICT DO UPDATE SET score = @score, score_text = @scoreText, score_tags = @scoreTags, updated_at = @now`,
    ),
    noteChange: database.prepare<[number]>("INSERT INTO run_changes (run, kind) VALUES (?, 'feedback')"),
  };
}

export function createFeedbackWriter(database: Database.Database): FeedbackWriter {
  const statements = feedbackStatements(database);
  const none = { score: null, scoreText: null, scoreTags: null };
  return {
    addHistory({ runId, reviewer, answers, rubric, createdAt: now }) {
      const run = statements.run.get(runId);
      if (run === undefined || answers.length === 0) return;
      // The team gets the history also of answers that change no feedback.
      statements.noteChange.run(run);
      for (const { rubricItemId, value: given, note } of answers) {
        const { kind, question = null } = rubric.find(({ id }) => id === rubricItemId) ?? {};
        const text = kind === 'text' ? [given, note].filter((part) => part !== null).join('\n') : null;
        const said = { scoreText: text ?? note, value: text === null ? JSON.stringify(given) : null, rubricItemId };
        statements.addHistory.run({ ...none, ...said, question, id: timeOrderedId(), run, reviewer, now });
      }
    },
    setFeedback(runId, feedback, reviewer, now) {
      const run = statements.run.get(runId);
      if (run === undefined || Object.keys(feedback).length === 0) return;
      const row = { ...none, ...statements.read.get(run), ...feedback, run, now };
      statements.set.run(row);
      statements.noteChange.run(run);
      statements.addHistory.run({
        ...row,
        id: timeOrderedId(),
        reviewer,
        rubricItemId: null,
        question: null,
        value: null,
      });
    },
  };
}
