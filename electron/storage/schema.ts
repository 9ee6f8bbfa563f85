import type { Generated } from 'kysely';
import type { RecordLevel } from '../../shared/contract/common.ts';

/**
 * The tables, for Kysely. The migrations create them. Times are milliseconds since 1970, ids are lower-case UUIDs, and columns that end in
 * `_json` are JSON. Rows refer to each other by `sequence`, which grows with every insert, so paging by it is stable.
 */
export interface Schema {
  facts: MetadataRow;
  conversations: ConversationRow;
  runs: RunRow;
  /** A view of the next two, only for reading. */
  run_texts: RunTextRow;
  stored_texts: RunTextRow;
  /** What a run with a long prompt ended with, if the prompt was stored before. */
  late_answers: OutcomeTextRow;
  api_keys: ApiKeyRow;
  credit_entries: CreditEntryRow;
  provider_accounts: ProviderAccountRow;
  compatible_endpoints: CompatibleEndpointRow;
  user_models: UserModelRow;
  feedback: FeedbackRow;
  feedback_history: FeedbackHistoryRow & { sequence: Generated<number> };
  run_changes: RunChangeRow;
  audit_views: AuditViewRow;
  sample_conversations: SampleConversationRow;
  import_batches: ImportBatchRow;
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
  /** `runs.sequence` of its newest run. Conversations are ordered by it. */
  last_run: number;
  created_at: number;
  updated_at: number;
}

/** The columns of runs for lists and filters. Rows are small, so that a page or a scan reads little. */
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
  /** Null if the provider didn't report it. The same applies to the next two. */
  cached_tokens: number | null;
  cache_write_tokens: number | null;
  reasoning_tokens: number | null;
  /** US dollars. */
  cost: number | null;
  /** Day of the prices, `YYYY-MM-DD`; null for runs before version 0.2, whose costs ignore cached tokens. */
  prices_from: string | null;
  credits: number;
  finish_reason: string | null;
  error_code: string | null;
  title: string;
  draft_id: string | null;
  /** Null if the caller sent none. */
  app_headers_json: string | null;
  /** The API of the call; `completions` for runs of Touchstone's own API. */
  origin_api: string;
  /** The calling program; null if unknown. */
  origin_client: string | null;
  /** Of the response to a recorded call; null for other runs. */
  http_status: number | null;
  /** `import_batches.sequence`; null for runs that weren't imported. */
  import_batch: number | null;
  /** Comma-separated: `prompt:violence,answer:sexual`; null if nothing was flagged. */
  moderation_flags: string | null;
}

/** The long texts of a run, which are read for one run at a time. */
export interface RunTextRow {
  /** `runs.sequence`. */
  run: number;
  prompt_text: string;
  system_message: string | null;
  replacements_json: string | null;
  rendered_prompt: string;
  /** Null for a single message, whose text is the rendered prompt. */
  messages_json: string | null;
  /** `shared_messages.sequence` of the last message; null unless the messages are there. */
  last_message: number | null;
  /** When the frames of a recorded stream arrived; null for other runs. */
  frames_json: string | null;
  configuration_json: string | null;
  dataspace_ids_json: string | null;
  metadata_json: string | null;
  /** Null for an empty list. The same applies to citations. */
  warnings_json: string | null;
  content: string;
  /** With the data that the provider needs back; null if the model called no tool. */
  tool_calls_json: string | null;
  reasoning: string | null;
  error_message: string | null;
  citations_json: string | null;
  /** The provider's own usage object. */
  usage_json: string | null;
  /** Null if the guard was off. */
  moderation_json: string | null;
}

/** The texts that a run has at its end. */
export type OutcomeTextRow = Pick<
  RunTextRow,
  | 'run'
  | 'content'
  | 'tool_calls_json'
  | 'reasoning'
  | 'error_message'
  | 'citations_json'
  | 'usage_json'
  | 'moderation_json'
  | 'frames_json'
>;

/** An imported log. Its runs refer to it. */
export interface ImportBatchRow {
  sequence: number;
  id: string;
  name: string;
  format: string;
  state: 'Running' | 'Stopped' | 'Completed' | 'Failed' | 'Removing';
  /** The report before the import, and the options. */
  plan_json: string;
  /** How far it got. */
  progress_json: string;
  created_at: number;
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
  record_level: RecordLevel;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
  /** A `SharedKeyBase`: the key as the team database last had it. Null for a key that isn't shared. */
  team_json: string | null;
  /** Whether another host created it. Such a key is valid only while keys are shared. */
  is_foreign: 0 | 1;
  /** Credits that other hosts have used. */
  credits_elsewhere: number;
}

interface CreditEntryRow {
  /** `runs.sequence`. A run is charged once. */
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

/** Feedback on a run, as somebody gave it. Rows are never changed, except that retention removes them or blanks their texts. */
export interface FeedbackHistoryRow extends Omit<FeedbackRow, 'updated_at'> {
  id: string;
  /** Name of the API key at that time, or `Touchstone window`; null if nobody knows. */
  reviewer: string | null;
  created_at: number;
  /** Of an answer in a review queue, whose text is in `score_text` or whose other value is in `value_json`. */
  rubric_item_id: string | null;
  value_json: string | null;
  /** Of the item of the rubric, as the reviewer read it. */
  question: string | null;
}

/** A run that changed after its end. */
interface RunChangeRow {
  revision: Generated<number>;
  /** `runs.sequence`. */
  run: number;
  kind: 'feedback' | 'run';
  /** `runs.id` of a removed run. */
  run_id: Generated<string | null>;
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
  /** One of `auditSpans`, instead of the filter's dates. */
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
  /** From 1, within its prompt. */
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
  /** The path on disk, with links resolved. */
  path: string;
  /** The library's folder that it is linked with. */
  folder: string;
  linked_at: number;
  /** Null until the folder was read completely. */
  first_read_at: number | null;
}

/** A file and its prompt, as of the last time that they were in sync. */
export interface PromptFileRow {
  /** `prompt_folders.sequence`. */
  prompt_folder: number;
  /** Relative to the folder, separated by `/`. */
  path: string;
  prompt_id: string;
  /** SHA-256 of the bytes. Empty if the two were never in sync, like `version_id`. */
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
  /** Identifies the current indexing. A new value restarts it. */
  revision: string;
  /** When it was queued. */
  queued_at: number;
  /** How often the process ended before this revision made progress, plus one while it is being indexed. */
  attempts: number;
  passages: number | null;
  pages: number | null;
  characters: number | null;
  embedding_model: string | null;
  created_at: number;
}

/** A deleted source whose file or index entries may still have to be removed. */
interface RemovedSourceRow {
  id: string;
}

/** SQLite assigns sequences. */
type Numbered<Row> = Omit<Row, 'sequence'> & { sequence: Generated<number> };
type PromptTable = Numbered<PromptRow>;
type PromptVersionTable = Numbered<PromptVersionRow>;
type AgentTable = Numbered<AgentRow>;
type DataspaceTable = Numbered<DataspaceRow>;
type SourceTable = Numbered<SourceRow>;
type PromptFolderTable = Numbered<PromptFolderRow>;
