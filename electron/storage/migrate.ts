import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { firstTables } from './migrations/0001-first-tables.ts';
import { auditTables } from './migrations/0002-audit.ts';
import { retentionTables } from './migrations/0003-retention.ts';
import { sampleTables } from './migrations/0004-samples.ts';
import { replayTables } from './migrations/0005-replays.ts';
import { moderationColumns } from './migrations/0006-moderation.ts';
import { promptTables } from './migrations/0007-prompts.ts';
import { agentTables } from './migrations/0008-agents.ts';
import { promptFolderTables } from './migrations/0009-prompt-folders.ts';
import { conversationBranchTables } from './migrations/0010-conversation-branches.ts';
import { promptLibraryTables } from './migrations/0011-prompt-library.ts';
import { knowledgeTables } from './migrations/0012-knowledge.ts';
import { promptUsageTables } from './migrations/0013-prompt-usage.ts';
import { auditSpanColumn } from './migrations/0014-audit-spans.ts';
import { agentRunTables } from './migrations/0015-agent-runs.ts';
import { agentSettingColumns } from './migrations/0016-agent-settings.ts';
import { providerExchangeTables } from './migrations/0017-provider-exchanges.ts';
import { renderedTitles } from './migrations/0018-rendered-titles.ts';
import { keyLimitColumns } from './migrations/0019-key-limits.ts';
import { usageDetails } from './migrations/0020-usage-details.ts';
import { messages } from './migrations/0021-messages.ts';
import { files } from './migrations/0022-files.ts';
import { toolCalls } from './migrations/0023-tool-calls.ts';
import { registerRenderedTitle } from './migrations/rendered-title.ts';

/** Every change of the tables, oldest first. `user_version` is the number of applied ones. Only append. */
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
];

function version(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}

/** Throws `conflict` for a database of a later version, because writing to it could damage it. */
export function rejectNewerVersion(database: Database.Database): void {
  if (version(database) <= migrations.length) return;
  throw new AppError(
    'conflict',
    `This database was made by a newer version of Touchstone (its format is ${version(database)}, this version knows ` +
      `${migrations.length}). Install the newer version, or use another data folder.`,
  );
}

/** Updates the tables in one transaction, so that an interruption changes nothing. */
export function migrate(database: Database.Database): void {
  rejectNewerVersion(database);
  if (version(database) === migrations.length) return;
  registerRenderedTitle(database);
  database
    .transaction(() => {
      // Read again under the lock: another process may have migrated in between.
      for (const change of migrations.slice(version(database))) database.exec(change);
      database.pragma(`user_version = ${migrations.length}`);
    })
    .immediate();
}
