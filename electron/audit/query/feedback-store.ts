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
  /** Newest first. */
  listFeedback(run: RunOfConversation): FeedbackEntry[];
}

export type HistoryContent = Pick<
  FeedbackHistoryRow,
  'rubric_item_id' | 'value_json' | 'score' | 'score_tags' | 'score_text' | 'reviewer'
>;

/** Feedback on the whole run, or an answer to an item of a rubric; text answers are stored as notes. */
export function contentOf(row: HistoryContent): Pick<FeedbackEntry, 'rubricItemId' | 'value' | 'note'> {
  const { rubric_item_id: rubricItemId, value_json: json, score, score_tags: scoreTags, score_text: note } = row;
  if (rubricItemId === null) return { rubricItemId, value: { score, scoreTags }, note };
  if (json === null) return { rubricItemId, value: note ?? '', note: null };
  return { rubricItemId, value: JSON.parse(json) as AnswerValue, note };
}

/** Feedback replaces anyone's; an answer only that of the same reviewer to the same item. */
export function isReplacedBy(earlier: HistoryContent, row: HistoryContent): boolean {
  if (earlier.rubric_item_id !== row.rubric_item_id) return false;
  return row.rubric_item_id === null || earlier.reviewer === row.reviewer;
}

export function createFeedbackStore(database: Database.Database): FeedbackStore {
  const queries = feedbackQueries(database);
  // A key can be renamed or deleted later, so its name is stored.
  const nameOf = database.prepare<[string], string>('SELECT name FROM api_keys WHERE caller_id = ?').pluck();

  function find({ conversationId, runId }: RunOfConversation): number {
    const run = queries.find.first({ run: runId.toLowerCase(), conversation: conversationId.toLowerCase() });
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
    listFeedback(run) {
      const rows = queries.history.all({ run: find(run), limit: maxFeedbackEntries + 1 });
      return rows.slice(0, maxFeedbackEntries).map((row, index) => ({
        id: row.id,
        reviewer: row.reviewer,
        ...contentOf(row),
        createdAt: new Date(row.created_at).toISOString(),
        replaces: rows.slice(index + 1).find((earlier) => isReplacedBy(earlier, row))?.id ?? null,
      }));
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
