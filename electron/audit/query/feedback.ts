import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { Feedback, FeedbackInput } from '../../../shared/contract/conversations.ts';
import { prepareQuery, valuesOf } from '../../storage/queries.ts';
import type { FeedbackRow } from '../../storage/schema.ts';
import { feedbackOf } from './conversation-rows.ts';

/** Keeps what people think of runs. `giveFeedback` throws `not_found` for a run that the conversation does not have. */
export function createFeedbackStore(database: Database.Database) {
  const queries = feedbackQueries(database);
  const write = database.transaction((row: FeedbackRow) => {
    queries.upsert.run(row);
    queries.noteChange.run({ run: row.run });
  });
  return {
    giveFeedback(conversationId: string, runId: string, input: FeedbackInput): Feedback {
      const run = queries.find.first({ run: runId.toLowerCase(), conversation: conversationId.toLowerCase() });
      if (!run) throw new AppError('not_found', 'No run of this conversation has this ID.');
      const row: FeedbackRow = {
        run: run.sequence,
        score: input.score ?? null,
        score_text: input.scoreText ?? null,
        score_tags: input.scoreTags ?? null,
        updated_at: Date.now(),
      };
      write.immediate(row);
      return feedbackOf(row)!;
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
  };
}
