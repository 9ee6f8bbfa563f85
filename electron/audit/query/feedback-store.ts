import { AppError } from '../../../shared/app-error.ts';
import {
  type Feedback,
  type FeedbackEntry,
  type FeedbackInput,
  maxFeedbackEntries,
} from '../../../shared/contract/conversations.ts';
import { prepareQuery, valuesOf } from '../../storage/queries.ts';
import { timeOrderedId } from '../../storage/time-ordered-id.ts';
import { feedbackOf } from './conversation-rows.ts';
import type { AnswerValue } from '../../../shared/contract/rubrics.ts';
import type { FeedbackHistoryRow, FeedbackRow } from '../../storage/schema.ts';
import type Database from 'better-sqlite3';

interface RunOfConversation {
  readonly conversationId: string;
  readonly runId: string;
}

/** Feedback on runs. Both methods throw `not_found` if the conversation doesn't have the run. */
export interface FeedbackStore {
  /** Replaces the feedback of the run and adds it to the history, unless the same reviewer says the same again. */
  giveFeedback(
    run: RunOfConversation,
    input: FeedbackInput,
    /** The name is that of the API key unless given. */
    options: { readonly reviewerId: string; readonly reviewer?: string | null },
  ): Feedback;
  /** Whether this device has recorded the run in this conversation. */
  hasRun(run: RunOfConversation): boolean;
  /** Newest first. */
  listFeedback(run: RunOfConversation): FeedbackEntry[];
}

export type HistoryContent = Pick<
  FeedbackHistoryRow,
  'rubric_item_id' | 'value_json' | 'question' | 'score' | 'score_tags' | 'score_text' | 'reviewer'
>;

/** Feedback on the whole run, or an answer to an item of a rubric; text answers are stored as notes. */
function contentOf(row: HistoryContent): Pick<FeedbackEntry, 'rubricItemId' | 'question' | 'value' | 'note'> {
  const { rubric_item_id: rubricItemId, value_json: json, question, score, score_text: note } = row;
  if (rubricItemId === null) return { rubricItemId, question, value: { score, scoreTags: row.score_tags }, note };
  if (json === null) return { rubricItemId, question, value: note ?? '', note: null };
  return { rubricItemId, question, value: JSON.parse(json) as AnswerValue, note };
}

type Replacing = Pick<FeedbackEntry, 'id' | 'rubricItemId' | 'reviewer'>;

/**
 * The entry that each of these replaces, by ID. They are given oldest first. Feedback replaces anyone's; an answer only that of the same
 * reviewer to the same item.
 */
export function findReplaced(entries: readonly Replacing[]): Map<string, string | null> {
  const latest = new Map<string, string>();
  return new Map(
    entries.map(({ id, rubricItemId, reviewer }) => {
      const key = rubricItemId === null ? 'run' : `${rubricItemId} ${reviewer}`;
      const replaced = latest.get(key) ?? null;
      latest.set(key, id);
      return [id, replaced];
    }),
  );
}

/** Rows of a history, newest first, as entries. */
export function entriesOf(rows: readonly (HistoryContent & { id: string; created_at: number })[]): FeedbackEntry[] {
  const entries = rows.map((row) => ({
    id: row.id,
    reviewer: row.reviewer,
    ...contentOf(row),
    createdAt: new Date(row.created_at).toISOString(),
  }));
  const replaced = findReplaced(entries.toReversed());
  return entries.slice(0, maxFeedbackEntries).map((entry) => ({ ...entry, replaces: replaced.get(entry.id) ?? null }));
}

export function createFeedbackStore(database: Database.Database): FeedbackStore {
  const queries = feedbackQueries(database);
  // A key can be renamed or deleted later, so its name is stored.
  const nameOf = database.prepare<[string], string>('SELECT name FROM api_keys WHERE caller_id = ?').pluck();

  const findRun = ({ conversationId, runId }: RunOfConversation) =>
    queries.find.first({ run: runId.toLowerCase(), conversation: conversationId.toLowerCase() });

  function find(named: RunOfConversation): number {
    const run = findRun(named);
    if (!run) throw new AppError('not_found', 'No run of this conversation has this ID.');
    return run.sequence;
  }

  const write = database.transaction((row: FeedbackRow, reviewer: string) => {
    queries.upsert.run(row);
    queries.noteChange.run({ run: row.run });
    const last = queries.last.first({ run: row.run });
    const isRepeated =
      last?.reviewer === reviewer &&
      last.score === row.score &&
      last.score_text === row.score_text &&
      last.score_tags === row.score_tags;
    if (!isRepeated) queries.append.run({ ...row, id: timeOrderedId(), reviewer });
  });

  return {
    giveFeedback(run, input, { reviewerId, reviewer = null }) {
      const row: FeedbackRow = {
        run: find(run),
        score: input.score ?? null,
        score_text: input.scoreText ?? null,
        score_tags: input.scoreTags ?? null,
        updated_at: Date.now(),
      };
      write.immediate(row, reviewer ?? nameOf.get(reviewerId) ?? 'Touchstone window');
      return feedbackOf(row)!;
    },
    hasRun: (run) => findRun(run) !== undefined,
    listFeedback(run) {
      return entriesOf(queries.history.all({ run: find(run), limit: maxFeedbackEntries + 1 }));
    },
  };
}

function feedbackQueries(database: Database.Database) {
  return {
    find: prepareQuery(database, (tables, input: { run: string; conversation: string }) =>
      tables
        .selectFrom('runs')
        .innerJoin('conversations', 'conversations.sequence', 'runs.conversation')
        .select('runs.sequence')
        .where('runs.id', '=', input.run)
        .where('conversations.id', '=', input.conversation),
    ),
    upsert: prepareQuery(database, (tables, input: FeedbackRow) =>
      tables
        .insertInto('feedback')
        .values(valuesOf(input, ['run', 'score', 'score_text', 'score_tags', 'updated_at']))
        .onConflict((conflict) =>
          conflict.column('run').doUpdateSet(valuesOf(input, ['score', 'score_text', 'score_tags', 'updated_at'])),
        ),
    ),
    noteChange: prepareQuery(database, (tables, input: { run: number }) =>
      tables.insertInto('run_changes').values({ run: input.run, kind: 'feedback' }),
    ),
    history: prepareQuery(database, (tables, input: { run: number; limit: number }) =>
      tables
        .selectFrom('feedback_history')
        .selectAll()
        .where('run', '=', input.run)
        .orderBy('sequence', 'desc')
        .limit(input.limit),
    ),
    last: prepareQuery(database, (tables, input: { run: number }) =>
      tables
        .selectFrom('feedback_history')
        .selectAll()
        .where('run', '=', input.run)
        .where('rubric_item_id', 'is', null)
        .orderBy('sequence', 'desc')
        .limit(1),
    ),
    append: prepareQuery(database, (tables, input: FeedbackRow & { id: string; reviewer: string }) =>
      tables.insertInto('feedback_history').values({
        ...valuesOf(input, ['id', 'run', 'reviewer', 'score', 'score_text', 'score_tags']),
        created_at: input.updated_at,
      }),
    ),
  };
}
