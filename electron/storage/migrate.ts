import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { currentTables } from './migrations/current-tables.ts';
import {
  agentTables,
  auditTables,
  firstTables,
  moderationColumns,
  promptFolderTables,
  promptTables,
  replayTables,
  retentionTables,
  sampleTables,
} from './migrations/from-0001.ts';
import {
  agentRunTables,
  agentSettingColumns,
  auditSpanColumn,
  conversationBranchTables,
  knowledgeTables,
  promptLibraryTables,
  promptUsageTables,
  providerExchangeTables,
} from './migrations/from-0010.ts';
import {
  files,
  keyLimitColumns,
  messages,
  registerRenderedTitle,
  renderedTitles,
  toolCalls,
  usageDetails,
} from './migrations/from-0018.ts';
import {
  cellsByRun,
  comparisons,
  datasets,
  feedbackHistory,
  judges,
  origins,
  recordedCalls,
  registerHeldOut,
  runsByVersion,
  toolTables,
  votes,
} from './migrations/from-0024.ts';
import {
  answeredQuestions,
  continuedResponses,
  judgePairLabels,
  judgePreferences,
  lateAnswers,
  reviewComments,
  referredItems,
  removedRunIds,
  sharedReviewers,
  reviewersAndRubrics,
  reviewQueues,
  sharedKeyColumns,
  sharedMessages,
  sharedQueueColumn,
  toolUses,
} from './migrations/from-0034.ts';

/**
 * All migrations, oldest first. `user_version` is the number of applied ones. Only append. A new database gets `currentTables` instead,
 * which a test keeps equal.
 */
const migrations: readonly string[] = [
  firstTables,
  auditTables,
  retentionTables,
  sampleTables,
  replayTables,
  moderationColumns,
  promptTables,
  agentTables,
  promptFolderTables,
  conversationBranchTables,
  promptLibraryTables,
  knowledgeTables,
  promptUsageTables,
  auditSpanColumn,
  agentRunTables,
  agentSettingColumns,
  providerExchangeTables,
  renderedTitles,
  keyLimitColumns,
  usageDetails,
  messages,
  files,
  toolCalls,
  datasets,
  toolTables,
  comparisons,
  judges,
  cellsByRun,
  runsByVersion,
  votes,
  origins,
  recordedCalls,
  feedbackHistory,
  toolUses,
  judgePreferences,
  reviewersAndRubrics,
  reviewQueues,
  sharedMessages,
  judgePairLabels,
  sharedKeyColumns,
  sharedQueueColumn,
  lateAnswers,
  reviewComments,
  continuedResponses,
  answeredQuestions,
  sharedReviewers,
  referredItems,
  removedRunIds,
];

function version(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}

/** Throws `conflict` for a database of a later version, because writing to it could damage it. */
export function rejectNewerVersion(database: Database.Database): void {
  if (version(database) <= migrations.length) return;
  throw new AppError(
    'conflict',
    `A newer version of Touchstone created this database (format ${version(database)}, this version supports ` +
      `${migrations.length}). Install the newer version, or use another data folder.`,
  );
}

/** Updates the tables in one transaction, so that an interruption changes nothing. */
export function migrate(database: Database.Database): void {
  rejectNewerVersion(database);
  if (version(database) === migrations.length) return;
  registerRenderedTitle(database);
  registerHeldOut(database);
  database
    .transaction(() => {
      // Read again under the lock: another process may have migrated in between.
      const from = version(database);
      for (const change of from === 0 ? [currentTables] : migrations.slice(from)) database.exec(change);
      database.pragma(`user_version = ${migrations.length}`);
    })
    .immediate();
}
