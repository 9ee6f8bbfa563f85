import type Database from 'better-sqlite3';
import { z } from 'zod';
import type { Metadata } from './queries.ts';
import { timeOrderedId } from './time-ordered-id.ts';
import { createRunRemoval } from './retention-store.ts';

const sampleState = z.object({ isWhole: z.boolean(), loadedAt: z.number() });

/** The feedback on a sample run. */
export interface SampleFeedback {
  readonly runId: string;
  readonly score: number | null;
  readonly scoreText: string | null;
  readonly scoreTags: string | null;
  readonly updatedAt: number;
}

/** Which conversations are samples. Their ids are stored before their runs, so that a partial load can be removed. */
export interface SampleStore {
  /** Null without samples. `isWhole` is false while they load, and after an interrupted load. */
  state(): { readonly isWhole: boolean; readonly loadedAt: number } | null;
  count(): { conversations: number; runs: number };
  begin(loadedAt: number): void;
  mark(conversationIds: readonly string[]): void;
  giveFeedback(feedback: readonly SampleFeedback[]): void;
  finish(): void;
  /** Removes at most `limit` conversations in one transaction. Returns false if none are left. */
  removeSome(limit: number): boolean;
}

function createFeedbackWriter(database: Database.Database): SampleStore['giveFeedback'] {
  const addFeedback = database.prepare<[SampleFeedback]>(
    `INSERT INTO feedback (run, score, score_text, score_tags, updated_at)
     SELECT sequence, @score, @scoreText, @scoreTags, @updatedAt FROM runs WHERE id = @runId`,
  );
  const addHistory = database.prepare<[SampleFeedback & { id: string }]>(
    `INSERT INTO feedback_history (id, run, score, score_text, score_tags, created_at)
     SELECT @id, sequence, @score, @scoreText, @scoreTags, @updatedAt FROM runs WHERE id = @runId`,
  );
  const noteFeedback = database.prepare<[string]>(
    "INSERT INTO run_changes (run, kind) SELECT sequence, 'feedback' FROM runs WHERE id = ?",
  );
  return database.transaction((given: readonly SampleFeedback[]) => {
    for (const feedback of given) {
      addFeedback.run(feedback);
      addHistory.run({ ...feedback, id: timeOrderedId(feedback.updatedAt) });
      noteFeedback.run(feedback.runId);
    }
  });
}

export function createSampleStore(database: Database.Database, metadata: Metadata): SampleStore {
  const removal = createRunRemoval(database);
  const mark = database.prepare<[string]>('INSERT INTO sample_conversations (id) VALUES (?)');
  const unmark = database.prepare<[string]>('DELETE FROM sample_conversations WHERE id = ?');
  const some = database.prepare<[number], string>('SELECT id FROM sample_conversations LIMIT ?').pluck();
  const runsOf = database.prepare<[string], { sequence: number; conversation: number }>(
    `SELECT runs.sequence, runs.conversation FROM conversations CROSS JOIN runs ON runs.conversation = conversations.sequence
     WHERE conversations.id = ?`,
  );
  const counted = database.prepare<[], { conversations: number; runs: number }>(
    // CROSS JOIN sets the order. Otherwise SQLite may start with all runs.
    `SELECT count(DISTINCT conversations.sequence) AS conversations, count(runs.sequence) AS runs
     FROM sample_conversations CROSS JOIN conversations USING (id)
       CROSS JOIN runs ON runs.conversation = conversations.sequence`,
  );

  function state(): z.infer<typeof sampleState> | null {
    const stored = metadata.read('samples');
    return stored === null || stored === '' ? null : sampleState.parse(JSON.parse(stored));
  }

  const removeSlice = database.transaction((limit: number) => {
    const ids = some.all(limit);
    for (const id of ids) {
      removal.remove(runsOf.all(id));
      unmark.run(id);
    }
    if (ids.length < limit) metadata.write('samples', '');
    return ids.length === limit;
  });

  return {
    state,
    count: () => counted.get()!,
    begin: (loadedAt) => metadata.write('samples', JSON.stringify({ isWhole: false, loadedAt })),
    mark: database.transaction((ids: readonly string[]) => {
      for (const id of ids) mark.run(id);
    }),
    giveFeedback: createFeedbackWriter(database),
    finish() {
      const started = state();
      if (started !== null) metadata.write('samples', JSON.stringify({ ...started, isWhole: true }));
    },
    removeSome: (limit) => removeSlice.immediate(limit),
  };
}
