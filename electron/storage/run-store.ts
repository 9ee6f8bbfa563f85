import type Database from 'better-sqlite3';
import { z } from 'zod';
import { createContinuationTokens } from './continuation-token.ts';
import { createConversations } from './conversations.ts';
import type { LogSync } from './log-sync.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import { createRemovedRuns } from './run-removal.ts';
import { createRunRecorder, type Durability, type RunRecorder } from './run-recorder.ts';
import { runDetailOf, runSummaryOf } from './run-rows.ts';
import type { NewRun, RunStore } from './storage.ts';

export interface RunStoreOptions {
  readonly database: Database.Database;
  readonly logSync: LogSync;
  readonly durability: Durability;
  readonly windowCallerId: string;
  readonly tokenSecret: string;
  /** Told that runs were written. */
  readonly onWrite: () => void;
}

/** Runs that were under way when the host before this one ended can never be completed. */
function endInterruptedRuns(database: Database.Database): void {
  const queries = runWriteQueries(database);
  database
    .transaction(() => {
      queries.interruptTexts.run({ error_message: 'The host ended before the answer was complete. Run it again.' });
      queries.interruptRuns.run({});
    })
    .immediate();
}

/** Runs, and the `flush` that whoever copies or closes the database calls first. */
export function createRunStore(options: RunStoreOptions): RunStore & Pick<RunRecorder, 'flush'> {
  const { database, windowCallerId } = options;
  endInterruptedRuns(database);
  const queries = runReadQueries(database);
  const conversations = createConversations(database);
  const tokens = createContinuationTokens(options.tokenSecret, 'runs', z.int());
  const recorder = createRunRecorder({
    ...options,
    conversations,
    removedRuns: createRemovedRuns(database),
    draftIdOf: (run) => draftIdOf(run, windowCallerId),
  });

  return {
    joinConversation: conversations.join,
    requireRoom: recorder.requireRoom,
    begin: recorder.begin,
    finish: recorder.finish,
    flush: recorder.flush,
    count: recorder.count,
    list({ pageSize, continuationToken, draftId }) {
      recorder.flush();
      const query = { draftId };
      const before = continuationToken === undefined ? Number.MAX_SAFE_INTEGER : tokens.read(query, continuationToken);
      // One more than asked for tells whether there is a next page.
      const page = { before, limit: pageSize + 1 };
      const rows =
        draftId === undefined ? queries.page.all(page) : queries.pageOfDraft.all({ ...page, draft_id: draftId });
      const shown = rows.slice(0, pageSize);
      const hasMore = rows.length > pageSize;
      return {
        data: shown.map(runSummaryOf),
        continuationToken: hasMore ? tokens.write(query, shown.at(-1)!.sequence) : null,
      };
    },
    read(runId) {
      recorder.flush();
      const row = queries.whole.first({ id: runId.toLowerCase() });
      return row === undefined ? null : runDetailOf(row);
    },
  };
}

/** Only the window's own runs belong to its prompts, whatever other callers write into their metadata. */
function draftIdOf(run: NewRun, windowCallerId: string): string | null {
  const draftId = run.callerId === windowCallerId ? run.metadata?.['draftId'] : null;
  return typeof draftId === 'string' && draftId !== '' ? draftId : null;
}
