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
import type { FeedbackRow } from '../../storage/schema.ts';
import type Database from 'better-sqlite3';

interface RunOfConversation {
  readonly conversationId: string;
  readonly runId: string;
}

/** Feedback on runs. Both methods throw `not_found` if the conversation doesn't have the run. */
export interface FeedbackStore {
  /** Replaces the feedback of the run and adds it to the history, unless the same reviewer says the same again. */
  giveFeedback(run: RunOfConversation, input: FeedbackInput, options: { readonly reviewerId: string }): Feedback;
  /** Newest first. */
  listFeedback(run: RunOfConversation): FeedbackEntry[];
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
    const last = queries.history.first({ run: row.run, limit: 1 });
    const isRepeated =
      last?.reviewer === reviewer &&
      last.score === row.score &&
      last.score_text === row.score_text &&
      last.score_tags === row.score_tags;
    if (!isRepeated) queries.append.run({ ...row, id: timeOrderedId(), reviewer });
  });

  return {
    giveFeedback(run, input, { reviewerId }) {
      const row: FeedbackRow = {
        run: find(run),
        score: input.score ?? null,
        score_text: input.scoreText ?? null,
        score_tags: input.scoreTags ?? null,
        updated_at: Date.now(),
      };
      write.immediate(row, nameOf.get(reviewerId) ?? 'Touchstone window');
      return feedbackOf(row)!;
    },
    listFeedback(run) {
      const rows = queries.history.all({ run: find(run), limit: maxFeedbackEntries + 1 });
      return rows.slice(0, maxFeedbackEntries).map((row, index) => ({
        id: row.id,
        reviewer: row.reviewer,
        rubricItemId: null,
        value: { score: row.score, scoreTags: row.score_tags },
        note: row.score_text,
        createdAt: new Date(row.created_at).toISOString(),
        replaces: rows[index + 1]?.id ?? null,
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
    append: prepareQuery(database, (tables, input: FeedbackRow & { id: string; reviewer: string }) =>
      tables.insertInto('feedback_history').values({
        ...valuesOf(input, ['id', 'run', 'reviewer', 'score', 'score_text', 'score_tags']),
        created_at: input.updated_at,
      }),
    ),
  };
}
