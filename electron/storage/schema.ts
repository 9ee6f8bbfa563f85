import type { Generated } from 'kysely';

/**
 * The tables as Kysely sees them; the migrations make them. Times are milliseconds since 1970, ids lower-case uuids, columns
 * that end in `_json` JSON text. Rows point at each other by `sequence`, which grows with every insert: paging by it is stable.
 */
export interface Schema {
  facts: MetadataRow;
  conversations: ConversationRow;
  runs: RunRow;
  run_texts: RunTextRow;
  api_keys: ApiKeyRow;
  credit_entries: CreditEntryRow;
  provider_accounts: ProviderAccountRow;
  compatible_endpoints: CompatibleEndpointRow;
  user_models: UserModelRow;
  feedback: FeedbackRow;
  run_changes: RunChangeRow;
  audit_views: AuditViewRow;
  sample_conversations: SampleConversationRow;
  prompts: PromptTable;
  prompt_versions: PromptVersionTable;
  agents: AgentTable;
  prompt_folders: PromptFolderTable;
  prompt_files: PromptFileRow;
  conversation_branches: ConversationBranchRow;
  agent_runs: AgentRunRow;
  dataspaces: DataspaceTable;
  sources: SourceTable;
  removed_sources: RemovedSourceRow;
}

/** Single values of the whole database: `window_caller_id`, `token_secret`, `settings`, `retention`, `samples`. */
interface MetadataRow {
  name: string;
  value: string;
}

export interface ConversationRow {
  sequence: number;
  id: string;
  name: string;
  caller_id: string;
  workspace_id: string | null;
  /** `runs.sequence` of its newest run: conversations are listed by it. */
  last_run: number;
  created_at: number;
  updated_at: number;
}

/** What lists and filters need of a run. Rows stay small, so that a page of them, or a scan, reads little. */
export interface RunRow {
  sequence: number;
  id: string;
  /** `conversations.sequence`. */
  conversation: number;
  message_id: string;
  caller_id: string;
  api_key_id: string | null;
  prompt_id: string | null;
  prompt_version_id: string | null;
  ai_system: string;
  model: string;
  served_by: string;
  status: string;
  created_at: number;
  completed_at: number | null;
  first_token_ms: number | null;
  total_ms: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  /** Null where the provider did not report it, as for the next two. */
  cached_tokens: number | null;
  cache_write_tokens: number | null;
  reasoning_tokens: number | null;
  /** US dollars. */
  cost: number | null;
  /** Day of the prices, `YYYY-MM-DD`; null for costs that do not know cached tokens: those of runs before version 0.2. */
  prices_from: string | null;
  credits: number;
  finish_reason: string | null;
  error_code: string | null;
  title: string;
  draft_id: string | null;
  /** Null when the caller sent none. */
  app_headers_json: string | null;
  /** Separated by commas: `prompt:violence,answer:sexual`; null when nothing was flagged. */
  moderation_flags: string | null;
}

/** The long parts of a run, read only for one run at a time. */
export interface RunTextRow {
  /** `runs.sequence`. */
  run: number;
  prompt_text: string;
  system_message: string | null;
  replacements_json: string | null;
  rendered_prompt: string;
  /** Null for a single message, whose text is the rendered prompt. */
  messages_json: string | null;
  configuration_json: string | null;
  dataspace_ids_json: string | null;
  metadata_json: string | null;
  /** Null for an empty list, as for the citations. */
  warnings_json: string | null;
  content: string;
  reasoning: string | null;
  error_message: string | null;
  citations_json: string | null;
  /** The provider's own usage object. */
  usage_json: string | null;
  /** Null when the guard did not look. */
  moderation_json: string | null;
}

export interface ApiKeyRow {
  sequence: Generated<number>;
  id: string;
  name: string;
  caller_id: string;
  /** SHA-256 of the key. */
  hash: Uint8Array;
  /** Separated by commas. */
  scopes: string;
  credit_limit: number | null;
  /** Sum of its `credit_entries`. */
  credits_used: number;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

interface CreditEntryRow {
  /** `runs.sequence`: a run is paid for once. */
  run: number;
  api_key_id: string;
  credits: number;
  created_at: number;
}

interface ProviderAccountRow {
  account: string;
  base_address: string | null;
  last_test_json: string | null;
  listed_models_json: string | null;
}

interface CompatibleEndpointRow {
  name: string;
  base_address: string;
}

interface UserModelRow {
  ai_system: string;
  model: string;
}

export interface FeedbackRow {
  /** `runs.sequence`. */
  run: number;
  score: number | null;
  score_text: string | null;
  /** Separated by commas. */
  score_tags: string | null;
  updated_at: number;
}

/** A run that was changed after it had ended. */
interface RunChangeRow {
  revision: Generated<number>;
  /** `runs.sequence`. */
  run: number;
  kind: 'feedback' | 'run';
}

/** A conversation of the sample set. */
interface SampleConversationRow {
  id: string;
}

export interface AuditViewRow {
  id: string;
  name: string;
  filter_json: string;
  sort: string;
  /** Of `auditSpans`, in place of the filter's dates. */
  span: string | null;
  created_at: number;
  updated_at: number;
}

export interface PromptRow {
  sequence: number;
  id: string;
  name: string;
  folder: string | null;
  tags_json: string;
  description: string | null;
  latest_version_id: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** Never changed and never removed. */
export interface PromptVersionRow {
  sequence: number;
  id: string;
  /** `prompts.sequence`. */
  prompt: number;
  /** Counts from 1 within its prompt. */
  number: number;
  prompt_text: string;
  system_message: string | null;
  ai_system: string | null;
  model: string | null;
  configuration_json: string | null;
  variables_json: string;
  note: string | null;
  created_at: number;
}

export interface AgentRow {
  sequence: number;
  id: string;
  name: string;
  ai_system: string;
  model: string;
  prompt: string;
  created_at: number;
  configuration_json: string | null;
  dataspace_ids_json: string | null;
  prompt_id: string | null;
  prompt_version_id: string | null;
}

export interface PromptFolderRow {
  sequence: number;
  id: string;
  /** On the disk, without links in it. */
  path: string;
  /** The library's folder that it is. */
  folder: string;
  linked_at: number;
  /** Null until all of it was read once. */
  first_read_at: number | null;
}

/** A file and the prompt that it is; what they had in common last. */
export interface PromptFileRow {
  /** `prompt_folders.sequence`. */
  prompt_folder: number;
  /** Below its folder, parted by `/`. */
  path: string;
  prompt_id: string;
  /** SHA-256 of the bytes; empty where the two were never in step, as `version_id`. */
  hash: string;
  version_id: string;
  /** Name, folder, tags and description. */
  details_json: string;
}

/** The agent that made a run. */
export interface AgentRunRow {
  run_id: string;
  agent_id: string;
}

/** A conversation that branches off another one, before one of its runs. */
export interface ConversationBranchRow {
  conversation_id: string;
  caller_id: string;
  origin_id: string;
  origin_run_id: string;
  created_at: number;
}

export interface DataspaceRow {
  sequence: number;
  id: string;
  name: string;
  created_at: number;
}

export interface SourceRow {
  sequence: number;
  id: string;
  /** `dataspaces.sequence`. */
  dataspace: number;
  name: string;
  file_name: string;
  media_type: string;
  bytes: number;
  status: 'Processing' | 'Ready' | 'Failed';
  failure_reason: string | null;
  /** Identifies the current reading; a new one makes the source be read from its start. */
  revision: string;
  /** When it was given to be read. */
  queued_at: number;
  /** How often the process ended while this revision was read without getting on; one more while it is being read. */
  attempts: number;
  passages: number | null;
  pages: number | null;
  characters: number | null;
  embedding_model: string | null;
  created_at: number;
}

/** A source that is gone from the lists and of which the file or the index may still hold something. */
interface RemovedSourceRow {
  id: string;
}

/** The tables give a sequence themselves. */
type Numbered<Row> = Omit<Row, 'sequence'> & { sequence: Generated<number> };
type PromptTable = Numbered<PromptRow>;
type PromptVersionTable = Numbered<PromptVersionRow>;
type AgentTable = Numbered<AgentRow>;
type DataspaceTable = Numbered<DataspaceRow>;
type SourceTable = Numbered<SourceRow>;
type PromptFolderTable = Numbered<PromptFolderRow>;
