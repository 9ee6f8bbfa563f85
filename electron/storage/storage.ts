import type { NewRun, RunOutcome } from './run-rows.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { ApiKey, ApiKeyInput } from '../../shared/contract/api-keys.ts';
import type { ProviderTest } from '../../shared/contract/providers.ts';
import type { RunDetail, RunListItem } from '../../shared/contract/runs.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import type { ListedModel } from '../providers/provider.ts';
import type { AgentStore } from './agents/agent-store.ts';
import type { TurnStore } from './agents/turn-store.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { ExchangeStore } from './exchange-store.ts';
import type { ExportRows } from './export-rows.ts';
import type { DataspaceStore } from './knowledge/dataspace-store.ts';
import type { SourceStore } from './knowledge/source-store.ts';
import type { DraftRuns } from './prompts/prompt-usage.ts';
import type { FolderStore } from './prompts/folder-store.ts';
import type { PromptStore } from './prompts/prompt-store.ts';
import type { ReplayStore } from './replay-store.ts';
import type { RetentionStore } from './retention-store.ts';
import type { SampleStore } from './sample-store.ts';

/** Runs and the conversations that they belong to. */
export interface RunStore {
  /**
   * Finds or makes the conversation that a run belongs to. Throws `forbidden` for another caller's conversation and
   * `conflict` for a second workspace. Without an id it is a new conversation.
   */
  joinConversation(request: {
    conversationId: string | null;
    workspaceId: string | null;
    callerId: string;
    name: string;
  }): { conversationId: string; workspaceId: string | null };
  /** Throws `internal`, saying what to do, while outcomes of earlier runs wait in memory because the disk does not take them. */
  requireRoom(): void;
  /** Keeps a run as `Running`. Returns at once; it is on disk within a moment, together with others. */
  begin(run: NewRun): void;
  /**
   * Keeps the outcome and the credits in one transaction; resolves when it is on disk. When the disk does not take it the promise
   * rejects with the disk's failure, and the run is kept as failed once the disk does.
   */
  finish(runId: string, outcome: RunOutcome): Promise<void>;
  /** Runs, newest first, including those under way. */
  list(query: { pageSize: number; continuationToken: string | undefined; draftId: string | undefined }): {
    data: RunListItem[];
    continuationToken: string | null;
  };
  read(runId: string): RunDetail | null;
  count(): number;
}

export interface AuthenticatedKey {
  readonly id: string;
  readonly callerId: string;
  readonly scopes: ApiKey['scopes'];
  readonly creditLimit: number | null;
  readonly creditsUsed: number;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Fields that are undefined stay unchanged. */
export type ApiKeyChange = {
  readonly [Field in 'name' | 'creditLimit' | 'requestsPerMinute' | 'tokensPerMinute']?: ApiKeyInput[Field] | undefined;
};

export interface ApiKeyStore {
  /** The key is returned once and kept only as SHA-256. */
  issue(input: ApiKeyInput): ApiKey & { key: string };
  /** Newest first. */
  list(): ApiKey[];
  /** Throws `not_found`. */
  update(id: string, change: ApiKeyChange): ApiKey;
  /** Throws `not_found`; revoking twice is not an error. */
  revoke(id: string): void;
  /** Null for an unknown or revoked key. Sees at once what another process issued or revoked; a few microseconds. */
  authenticate(key: string): AuthenticatedKey | null;
  /** Adds credits that no run accounts for to what a key has used. */
  charge(id: string, credits: number): void;
}

export interface SettingsStore {
  read(): Settings;
  update(change: Partial<Settings>): Settings;
  subscribe(listener: (settings: Settings) => void): () => void;
}

/** What the service remembers of providers between starts; never a key. `account` is `OpenAi` or `endpoint:<name>`. */
export interface ProviderCache {
  baseAddress(account: string): string | null;
  setBaseAddress(account: string, baseAddress: string | null): void;
  lastTest(account: string): ProviderTest | null;
  setLastTest(account: string, test: ProviderTest | null): void;
  /** The list that the provider itself returned last, null when it was never asked. */
  listedModels(account: string): ListedModel[] | null;
  setListedModels(account: string, models: ListedModel[]): void;
  endpoints(): { name: string; baseAddress: string }[];
  /** Throws `conflict` for a name that is taken (names compare without case). */
  addEndpoint(endpoint: { name: string; baseAddress: string }): void;
  /** Throws `not_found`. */
  setEndpointAddress(name: string, baseAddress: string): void;
  removeEndpoint(name: string): void;
  userModels(): { aiSystem: AiSystem; model: string }[];
  addUserModel(aiSystem: AiSystem, model: string): void;
  removeUserModel(aiSystem: AiSystem, model: string): void;
}

/** Everything that is kept in the data folder's database. */
export interface Storage {
  readonly runs: RunStore;
  readonly audit: AuditStore;
  readonly exportRows: ExportRows;
  readonly exchanges: ExchangeStore;
  readonly retention: RetentionStore;
  readonly samples: SampleStore;
  readonly replays: ReplayStore;
  readonly prompts: PromptStore;
  readonly draftRuns: DraftRuns;
  readonly promptFolders: FolderStore;
  readonly agents: AgentStore;
  readonly turns: TurnStore;
  readonly dataspaces: DataspaceStore;
  readonly sources: SourceStore;
  readonly apiKeys: ApiKeyStore;
  readonly settings: SettingsStore;
  readonly providerCache: ProviderCache;
  /** The caller id of calls from the window itself; made at the first start. */
  readonly windowCallerId: string;
  /** The database file, for threads that open their own connection. */
  readonly databaseFile: string;
  /** Writes the queued runs, so that later reads see them. */
  flush(): void;
  databaseBytes(): number;
  /** Copies in `<data folder>/backups`. */
  createBackup(): Promise<{ fileName: string; bytes: number }>;
  listBackups(): { fileName: string; bytes: number; createdAt: string }[];
  /** IndexCheckpoints a copy to be put in place at the next start. Throws `not_found`. */
  scheduleRestore(fileName: string): void;
  /** Writes what is pending and closes; runs still under way become `Failed` at the next start. */
  close(): Promise<void>;
}
