import type { ContinuableRun } from './continuable-run.ts';
import type { NewRun, RunOutcome, UnreadOutcome } from './run-rows.ts';
import type { AiSystem, RecordLevel } from '../../shared/contract/common.ts';
import type { ApiKey, ApiKeyInput } from '../../shared/contract/api-keys.ts';
import type { CapabilityTest } from '../../shared/contract/capability-tests.ts';
import type { ProviderTest } from '../../shared/contract/providers.ts';
import type { RunDetail, RunListItem } from '../../shared/contract/runs.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import type { ListedModel } from '../providers/provider.ts';
import type { AgentStore } from './agents/agent-store.ts';
import type { TurnStore } from './agents/turn-store.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { ComparisonStore } from './comparison-store.ts';
import type { ImportStore } from './import-store.ts';
import type { JudgeStore } from './judge-store.ts';
import type { VoteStore } from './vote-store.ts';
import type { DatasetStore } from './dataset-store.ts';
import type { EarlierRuns } from './earlier-runs.ts';
import type { ExchangeStore } from './exchange-store.ts';
import type { ExportRows } from './export-rows.ts';
import type { FileStore } from './file-store.ts';
import type { DataspaceStore } from './knowledge/dataspace-store.ts';
import type { SourceStore } from './knowledge/source-store.ts';
import type { DraftRuns } from './prompts/prompt-usage.ts';
import type { FolderStore } from './prompts/folder-store.ts';
import type { PromptStore } from './prompts/prompt-store.ts';
import type { ReplayStore } from './replay-store.ts';
import type { RetentionStore } from './retention-store.ts';
import type { QueueStore } from './reviews/queue-store.ts';
import type { ReviewStore } from './reviews/review-store.ts';
import type { ReviewerStore } from './reviews/reviewer-store.ts';
import type { RubricStore } from './reviews/rubric-store.ts';
import type { SampleStore } from './sample-store.ts';
import type { SharedKeys } from './shared-keys.ts';
import type { ThreadStore } from './thread-store.ts';
import type { ToolStore } from './tool-store.ts';

/** The last capability test of each provider. */
export interface CapabilityTestStore {
  read(): CapabilityTest[];
  write(tests: readonly CapabilityTest[]): void;
}

/** Runs and the conversations that they belong to. */
export interface RunStore {
  /**
   * Finds or creates the conversation of a run. Without an id it is new. Throws `forbidden` for another caller's conversation and
   * `conflict` for a second workspace.
   */
  joinConversation(request: {
    conversationId: string | null;
    workspaceId: string | null;
    callerId: string;
    name: string;
  }): { conversationId: string; workspaceId: string | null };
  /** Whether this device has a conversation with this ID, in lower case. */
  isConversation(id: string): boolean;
  /** Throws `internal` with the remedy while the disk is failing and earlier runs wait in memory. Reads what isn't read yet. */
  requireRoom(): void;
  /** Stores a run as `Running`. Returns immediately. The write follows within a moment, together with others. */
  begin(run: NewRun): void;
  /**
   * Stores the outcome and the credits. Resolves when they are in the journal or in the database. If the disk fails, the promise rejects
   * with its failure, and the run is stored as failed when the disk works again.
   */
  finish(runId: string, outcome: RunOutcome): Promise<void>;
  /**
   * Puts the end of another program's call into the journal before its response is read. `read` is called once, before the next reader or
   * run and at most 50 ms later, and must not throw. Returns false if the journal doesn't take it; then call `finish`.
   */
  finishUnread(runId: string, unread: UnreadOutcome, read: () => RunOutcome): boolean;
  /** Calls the listener with runs that have ended, once they are stored. It must return at once. Returns a function that ends it. */
  onEnd(listener: (ended: readonly { readonly run: NewRun; readonly outcome: RunOutcome }[]) => void): () => void;
  /** Runs, newest first, including active ones. */
  list(query: { pageSize: number; continuationToken: string | undefined; draftId: string | undefined }): {
    data: RunListItem[];
    continuationToken: string | null;
  };
  read(runId: string): RunDetail | null;
  /** With what providers need to get back, which no caller may see. */
  readToContinue(runId: string): ContinuableRun | null;
  /** The answer of a completed run; null for any other. */
  readAnswer(runId: string): Pick<ContinuableRun, 'content' | 'toolCalls'> | null;
  count(): number;
}

export interface AuthenticatedKey {
  readonly id: string;
  readonly callerId: string;
  readonly scopes: ApiKey['scopes'];
  readonly creditLimit: number | null;
  /** On this host. */
  readonly creditsUsed: number;
  /** On other hosts that share the key, as far as this one knows. */
  readonly creditsElsewhere: number;
  /** Whether other hosts have it, too, or had it: they may have revoked it. */
  readonly isShared: boolean;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** How much of its calls of other APIs is recorded. */
  readonly recordLevel: RecordLevel;
}

/** Fields that are undefined stay unchanged. */
export type ApiKeyChange = {
  readonly [Field in 'name' | 'creditLimit' | 'requestsPerMinute' | 'tokensPerMinute' | 'recordLevel']?:
    ApiKeyInput[Field] | undefined;
};

export interface ApiKeyStore {
  /** The key is returned once and stored only as SHA-256. */
  issue(input: ApiKeyInput): ApiKey & { key: string };
  /** Newest first. */
  list(): ApiKey[];
  /** Throws `not_found`. */
  update(id: string, change: ApiKeyChange): ApiKey;
  /** Throws `not_found`. Revoking a key twice is no error. */
  revoke(id: string): void;
  /** Null for an unknown or revoked key. Sees changes of other processes immediately. Takes a few microseconds. */
  authenticate(key: string): AuthenticatedKey | null;
  /** As `authenticate`, by the key's ID. */
  find(id: string): AuthenticatedKey | null;
  /** Accepts keys of other hosts from now on. */
  shareKeys(): void;
  /** Charges credits that don't belong to a run. */
  charge(id: string, credits: number): void;
}

export interface SettingsStore {
  read(): Settings;
  update(change: Partial<Settings>): Settings;
  subscribe(listener: (settings: Settings) => void): () => void;
}

/** Data about providers, without keys. `account` is `OpenAi` or `endpoint:<name>`. */
export interface ProviderCache {
  baseAddress(account: string): string | null;
  setBaseAddress(account: string, baseAddress: string | null): void;
  lastTest(account: string): ProviderTest | null;
  setLastTest(account: string, test: ProviderTest | null): void;
  /** The provider's last list of models; null if it was never fetched. */
  listedModels(account: string): ListedModel[] | null;
  setListedModels(account: string, models: ListedModel[]): void;
  endpoints(): { name: string; baseAddress: string }[];
  /** Throws `conflict` if the name is taken, ignoring case. */
  addEndpoint(endpoint: { name: string; baseAddress: string }): void;
  /** Throws `not_found`. */
  setEndpointAddress(name: string, baseAddress: string): void;
  removeEndpoint(name: string): void;
  userModels(): { aiSystem: AiSystem; model: string }[];
  addUserModel(aiSystem: AiSystem, model: string): void;
  removeUserModel(aiSystem: AiSystem, model: string): void;
}

/** Everything in the data folder's database. */
export interface Storage {
  readonly runs: RunStore;
  readonly audit: AuditStore;
  readonly exportRows: ExportRows;
  readonly exchanges: ExchangeStore;
  readonly retention: RetentionStore;
  readonly imports: ImportStore;
  readonly samples: SampleStore;
  readonly replays: ReplayStore;
  readonly prompts: PromptStore;
  readonly draftRuns: DraftRuns;
  readonly promptFolders: FolderStore;
  readonly agents: AgentStore;
  readonly tools: ToolStore;
  readonly turns: TurnStore;
  readonly dataspaces: DataspaceStore;
  readonly sources: SourceStore;
  readonly files: FileStore;
  readonly datasets: DatasetStore;
  readonly comparisons: ComparisonStore;
  readonly earlierRuns: EarlierRuns;
  readonly judges: JudgeStore;
  readonly votes: VoteStore;
  readonly reviewers: ReviewerStore;
  readonly rubrics: RubricStore;
  readonly reviewQueues: QueueStore;
  readonly reviews: ReviewStore;
  readonly threads: ThreadStore;
  readonly apiKeys: ApiKeyStore;
  readonly sharedKeys: SharedKeys;
  readonly settings: SettingsStore;
  readonly providerCache: ProviderCache;
  readonly capabilityTests: CapabilityTestStore;
  /** The caller id of the window, created at the first start. */
  readonly windowCallerId: string;
  /** Whether the keychain has the address of a team database for this data folder. */
  hasTeam(): boolean;
  setHasTeam(hasTeam: boolean): void;
  /** How far the records are copied to the team database, as text; null without one. */
  teamMark(): string | null;
  setTeamMark(mark: string): void;
  /** The database file, for threads that open their own connection. */
  readonly databaseFile: string;
  /** Writes the queued runs, so that later reads see them. */
  flush(): void;
  databaseBytes(): number;
  /** Copies in `<data folder>/backups`. */
  createBackup(): Promise<{ fileName: string; bytes: number }>;
  listBackups(): { fileName: string; bytes: number; createdAt: string }[];
  /** Schedules a backup to be restored at the next start. Throws `not_found`. */
  scheduleRestore(fileName: string): void;
  /** Writes the queue and closes the database. Runs that are still active become `Failed` at the next start. */
  close(): Promise<void>;
}
