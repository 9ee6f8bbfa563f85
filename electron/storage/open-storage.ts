import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentStore } from './agents/agent-store.ts';
import { createTurnStore } from './agents/turn-store.ts';
import { createApiKeys } from './api-keys.ts';
import { createAuditStore } from '../audit/query/audit-store.ts';
import { readOutcome } from '../passthrough/call-outcome.ts';
import { applyScheduledRestore, createBackups } from './backups.ts';
import { prepareDirectory } from './data-directory.ts';
import { createPrivateFile, databaseFile, openDatabase } from './database.ts';
import { createComparisonStore } from './comparison-store.ts';
import { createDatasetStore } from './dataset-store.ts';
import { createEarlierRuns } from './earlier-runs.ts';
import { createExchangeStore } from './exchange-store.ts';
import { createExportRows } from './export-rows.ts';
import { createImportStore } from './import-store.ts';
import { createJudgeStore } from './judge-store.ts';
import { createVoteStore } from './vote-store.ts';
import { createFileStore } from './file-store.ts';
import { createMetadata, type Metadata } from './queries.ts';
import { createDataspaceStore } from './knowledge/dataspace-store.ts';
import { createSourceStore } from './knowledge/source-store.ts';
import { createLogSync } from './write-ahead-log.ts';
import { createDraftRuns } from './prompts/prompt-usage.ts';
import { createFolderStore } from './prompts/folder-store.ts';
import { createPromptStore } from './prompts/prompt-store.ts';
import { createCapabilityTestStore, createProviderCache } from './provider-cache.ts';
import { createReplayStore } from './replay-store.ts';
import { createQueueStore } from './reviews/queue-store.ts';
import { createReviewStore } from './reviews/review-store.ts';
import { createReviewerStore } from './reviews/reviewer-store.ts';
import { createRubricStore } from './reviews/rubric-store.ts';
import { createRetentionStore } from './retention-store.ts';
import type { Durability } from './run-recorder.ts';
import { createRunJournal } from './run-journal.ts';
import { createRunStore } from './run-store.ts';
import { createSampleStore } from './sample-store.ts';
import { createSettingsStore } from './settings-store.ts';
import { createThreadStore } from './thread-store.ts';
import { createToolStore } from './tool-store.ts';
import type { Storage } from './storage.ts';
import { AppError } from '../../shared/app-error.ts';
import Database from 'better-sqlite3';

/**
 * Makes this process the only host of a data folder. It counts credits and queues runs in memory, and a second host would mark its active
 * runs as interrupted. The lock is SQLite's, and therefore the operating system's, so it always ends with the process. Throws `conflict`
 * if another host has the folder.
 */
function lockHost(directory: string): { release(): void } {
  const file = join(directory, 'touchstone.lock');
  createPrivateFile(file);
  const lock = new Database(file, { timeout: 0 });
  try {
    // Nothing is written. Otherwise there would be an empty journal beside the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new AppError(
      'conflict',
      'Another Touchstone is using this data folder. Close it, or choose another folder with --data-dir.',
      { cause: error },
    );
  }
  return { release: () => void lock.close() };
}

export interface OpenStorageOptions {
  /** The data folder. Created if missing. */
  readonly directory: string;
  /** What completed runs survive; `process` by default. See docs/decisions/recording-and-durability.md. */
  readonly durability?: Durability;
}

/**
 * Opens the data folder's database for its only host. Throws `conflict` if another host has it open or a newer version created it.
 */
export function openStorage({ directory, durability = 'process' }: OpenStorageOptions): Storage {
  prepareDirectory(directory);
  const lock = lockHost(directory);
  try {
    const failure = applyScheduledRestore(directory);
    if (failure !== null) process.emitWarning(`The backup was not restored: ${failure}`);
    const database = openDatabase(directory);
    return assembleStorage(directory, database, durability, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What people edit: the prompt library, agents, knowledge, datasets and comparisons. */
function createLibraryStores(database: Database.Database, tokenSecret: string, onWrite: () => void) {
  return {
    prompts: createPromptStore(database, tokenSecret),
    promptFolders: createFolderStore(database),
    tools: createToolStore(database, tokenSecret),
    agents: createAgentStore(database, tokenSecret),
    dataspaces: createDataspaceStore(database, tokenSecret),
    sources: createSourceStore(database, tokenSecret),
    datasets: createDatasetStore(database, tokenSecret, onWrite),
    judges: createJudgeStore(database, tokenSecret),
    votes: createVoteStore(database, tokenSecret),
  };
}

function createReviewStores(database: Database.Database, tokenSecret: string, installationId: string) {
  return {
    reviewers: createReviewerStore(database, tokenSecret),
    rubrics: createRubricStore(database, tokenSecret),
    reviewQueues: createQueueStore(database, { tokenSecret, installationId }),
  };
}

type Method = (...parameters: unknown[]) => unknown;

/** The same store, whose methods find every run that has ended. */
function afterFlush<Store extends object>(store: Store, flush: () => void): Store {
  const methods = Object.entries(store).map(([name, method]: [string, Method]) => {
    const complete: Method = (...parameters) => {
      flush();
      return method(...parameters);
    };
    return [name, complete];
  });
  return Object.fromEntries(methods) as Store;
}

/** What is kept of the connection to a team database. */
function teamMarks(metadata: Metadata) {
  return {
    hasTeam: () => metadata.read('team') === 'yes',
    setHasTeam: (hasTeam) => metadata.write('team', hasTeam ? 'yes' : 'no'),
    teamMark: () => metadata.read('team_mark') ?? null,
    setTeamMark: (mark) => metadata.write('team_mark', mark),
  } satisfies Partial<Storage>;
}

function assembleStorage(
  directory: string,
  database: Database.Database,
  durability: Durability,
  release: () => void,
): Storage {
  const file = databaseFile(directory);
  const metadata = createMetadata(database);
  const windowCallerId = metadata.readOrMake('window_caller_id', randomUUID);
  const tokenSecret = metadata.readOrMake('token_secret', () => randomBytes(32).toString('base64url'));
  const logSync = createLogSync(`${file}-wal`);
  const journal = createRunJournal(directory);
  const onWrite = () => audit.noteRuns();
  const parts = { database, logSync, journal, durability, windowCallerId, tokenSecret, readOutcome, onWrite };
  const runs = createRunStore(parts);
  const audit = createAuditStore({ database, directory, tokenSecret, windowCallerId, flush: runs.flush });
  const complete = <Store extends object>(store: Store): Store => afterFlush(store, runs.flush);
  const apiKeys = createApiKeys(database);
  const threads = createThreadStore(database);
  let closing: Promise<void> | null = null;

  async function close(): Promise<void> {
    runs.flush();
    threads.flush();
    await audit.close();
    apiKeys.writeLastUses();
    await logSync.close();
    journal.close();
    database.close();
    release();
  }

  return {
    ...createLibraryStores(database, tokenSecret, audit.noteChanges),
    runs,
    audit: audit.store,
    exportRows: createExportRows(database),
    exchanges: complete(createExchangeStore(database)),
    retention: complete(
      createRetentionStore(database, metadata, { onChange: audit.noteChanges, onEnd: audit.noteRemovals }),
    ),
    comparisons: complete(createComparisonStore(database, tokenSecret)),
    imports: createImportStore(database, { ...runs, onRemove: audit.noteChanges }),
    samples: complete(createSampleStore(database, metadata)),
    replays: createReplayStore(database),
    draftRuns: createDraftRuns(database, runs.flush),
    turns: createTurnStore(database, runs.flush),
    files: createFileStore(database, runs.flush),
    earlierRuns: createEarlierRuns(database, runs.flush),
    ...createReviewStores(database, tokenSecret, metadata.readOrMake('installation_id', randomUUID)),
    reviews: complete(createReviewStore(database)),
    threads,
    apiKeys,
    sharedKeys: apiKeys.shared,
    settings: createSettingsStore(metadata),
    providerCache: createProviderCache(database),
    capabilityTests: createCapabilityTestStore(metadata),
    windowCallerId,
    ...teamMarks(metadata),
    databaseFile: file,
    flush: runs.flush,
    databaseBytes: () => fileBytes(file) + fileBytes(`${file}-wal`),
    ...createBackups(directory, database, runs.flush),
    close: () => (closing ??= close()),
  };
}

function fileBytes(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
