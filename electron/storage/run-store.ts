import { z } from 'zod';
import { createContinuationTokens } from './continuation-token.ts';
import { createConversations } from './conversations.ts';
import { listPage } from './list-page.ts';
import type { LogSync } from './write-ahead-log.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import { createRemovedRuns } from './retention-store.ts';
import type { RunJournal } from './run-journal.ts';
import { createRunRecorder, type Durability, type RunRecorder } from './run-recorder.ts';
import { continuableRunOf } from './continuable-run.ts';
import { runDetailOf, runListItemOf } from './run-details.ts';
import type { NewRun, ReadOutcome } from './run-rows.ts';
import type { RunStore } from './storage.ts';
import { toolCallsIn } from './stored-messages.ts';
import type Database from 'better-sqlite3';

export interface RunStoreOptions {
  readonly database: Database.Database;
  readonly logSync: LogSync;
  readonly journal: RunJournal;
  readonly durability: Durability;
  readonly windowCallerId: string;
  readonly tokenSecret: string;
  readonly readOutcome: ReadOutcome;
  /** Called after runs were written. */
  readonly onWrite: () => void;
}

/** Marks runs that were active when the last host ended as failed. */
function endInterruptedRuns(database: Database.Database): void {
  const queries = runWriteQueries(database);
  database
    .transaction(() => {
      queries.interruptTexts.run({ error_message: 'Touchstone closed before the answer was complete. Run it again.' });
      queries.interruptRuns.run({});
    })
    .immediate();
}

/** The run store. Call `flush` before the database is copied or closed. */
export function createRunStore(options: RunStoreOptions): RunStore & Pick<RunRecorder, 'flush' | 'record'> {
  const { database, windowCallerId } = options;
  const queries = runReadQueries(database);
  const conversations = createConversations(database);
  const tokens = createContinuationTokens(options.tokenSecret, 'runs', z.int());
  const listeners = new Set<Parameters<RunStore['onEnd']>[0]>();
  const recorder = createRunRecorder({
    ...options,
    onEnd: (ended) => listeners.forEach((listener) => listener(ended)),
    conversations,
    removedRuns: createRemovedRuns(database),
    draftIdOf: (run) => draftIdOf(run, windowCallerId),
  });
  // The recorder has written those that ended.
  endInterruptedRuns(database);

  return {
    joinConversation: conversations.join,
    isConversation: conversations.isKnown,
    requireRoom: recorder.requireRoom,
    begin: recorder.begin,
    finish: recorder.finish,
    finishUnread: recorder.finishUnread,
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flush: recorder.flush,
    record: recorder.record,
    count: recorder.count,
    list({ pageSize, continuationToken, draftId }) {
      recorder.flush();
      return listPage(
        { pageSize, continuationToken: continuationToken ?? null },
        {
          tokens,
          filter: { draftId },
          rows: (before, limit) =>
            draftId === undefined
              ? queries.page.all({ before, limit })
              : queries.pageOfDraft.all({ before, limit, draft_id: draftId }),
          positionOf: ({ sequence }) => sequence,
          toItem: runListItemOf,
        },
      );
    },
    read(runId) {
      recorder.flush();
      const row = queries.whole.first({ id: runId.toLowerCase() });
      return row === undefined ? null : runDetailOf(row);
    },
    readAnswer(runId) {
      recorder.flush();
      const row = queries.answer.first({ id: runId });
      if (row === undefined) return null;
      return { content: row.content, toolCalls: row.tool_calls_json === null ? [] : toolCallsIn(row.tool_calls_json) };
    },
    readToContinue(runId) {
      recorder.flush();
      const row = queries.whole.first({ id: runId.toLowerCase() });
      return row === undefined ? null : continuableRunOf(row);
    },
  };
}

/** Only runs of the window belong to its prompts; metadata of other callers can't claim that. */
function draftIdOf(run: NewRun, windowCallerId: string): string | null {
  const draftId = run.callerId === windowCallerId ? run.metadata?.['draftId'] : null;
  return typeof draftId === 'string' && draftId !== '' ? draftId : null;
}
