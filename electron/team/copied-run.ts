import { createHash } from 'node:crypto';
import type { RunRow, RunTextRow } from '../storage/schema.ts';
import { searchedTexts } from '../audit/index/audit-index.ts';
import { tagsOf } from '../audit/index/feedback-index.ts';
import { forEachTerm, modelTerm } from '../audit/index/terms.ts';
import { excerptLength } from '../audit/query/conversation-rows.ts';
import { vectorOf } from './words.ts';

/** A run with its texts, conversation and feedback, as the copier reads it. */
export interface LocalRun extends RunRow, Omit<RunTextRow, 'run' | 'last_message'> {
  readonly conversation_id: string;
  readonly conversation_name: string;
  readonly conversation_created_at: number;
  readonly workspace_id: string | null;
  readonly agent_id: string | null;
  readonly is_anonymous: 0 | 1;
  readonly import_id: string | null;
  readonly score: number | null;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly updated_at: number | null;
}

/** PostgreSQL stores neither the null character nor half of a pair of surrogates in texts. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** An index entry has at most 2,700 bytes. Longer values are found by their hash, but aren't listed. */
const maxTermLength = 500;

/** What a run is found by, such as `model=gpt-4o`. The same for filters. */
export function termOf(field: string, value: string): string {
  const term = storableText(`${field}=${value}`);
  if (term.length <= maxTermLength) return term;
  return `#${createHash('sha256').update(term).digest('base64url')}`;
}

function termsOf(run: LocalRun): string[] {
  const terms = new Set<string>();
  forEachTerm(run, (field, value) => {
    // An import is known by its ID, because sequences are different on every host.
    if (field !== 'import') terms.add(termOf(field, value));
  });
  if (run.import_id !== null) terms.add(termOf('import', run.import_id));
  if (run.agent_id !== null) terms.add(termOf('agent', run.agent_id));
  for (const term of feedbackTerms(run)) terms.add(term);
  return [...terms];
}

/** Empty if it is too long for a term. */
function servedModelOf({ ai_system: aiSystem, model }: LocalRun): string {
  const prefix = 'served-model=';
  const term = termOf('served-model', modelTerm(aiSystem, model));
  return term.startsWith(prefix) ? term.slice(prefix.length) : '';
}

type FeedbackColumns = Pick<LocalRun, 'score' | 'score_text' | 'score_tags'>;

/** The terms of feedback: that there is any, and its tags. */
export function feedbackTerms({ score, score_text, score_tags }: FeedbackColumns): string[] {
  if (score === null && score_text === null && score_tags === null) return [];
  return [termOf('feedback', 'any'), ...new Set(tagsOf(score_tags).map((tag) => termOf('tag', tag)))];
}

/** A note as it is searched: without case. The server's own `lower` depends on its locale. */
export const searchedNote = (note: string | null): string | null =>
  note === null ? null : storableText(note.toLowerCase());

/** Where each column of a run is: in the line of a list, in the contents, or not at all. Sequences are different on every host. */
const locations: Readonly<Record<Exclude<keyof RunRow | keyof RunTextRow, 'run'>, 'line' | 'contents' | null>> = {
  id: 'line',
  status: 'line',
  ai_system: 'line',
  model: 'line',
  served_by: 'line',
  origin_api: 'line',
  origin_client: 'line',
  created_at: 'line',
  total_ms: 'line',
  first_token_ms: 'line',
  prompt_tokens: 'line',
  completion_tokens: 'line',
  total_tokens: 'line',
  cached_tokens: 'line',
  cache_write_tokens: 'line',
  reasoning_tokens: 'line',
  cost: 'line',
  finish_reason: 'line',
  error_code: 'line',
  title: 'line',
  message_id: 'contents',
  api_key_id: 'contents',
  prompt_id: 'contents',
  prompt_version_id: 'contents',
  prices_from: 'contents',
  completed_at: 'contents',
  credits: 'contents',
  http_status: 'contents',
  moderation_flags: 'contents',
  app_headers_json: 'contents',
  prompt_text: 'contents',
  system_message: 'contents',
  replacements_json: 'contents',
  rendered_prompt: 'contents',
  messages_json: 'contents',
  configuration_json: 'contents',
  dataspace_ids_json: 'contents',
  metadata_json: 'contents',
  warnings_json: 'contents',
  content: 'contents',
  tool_calls_json: 'contents',
  reasoning: 'contents',
  error_message: 'contents',
  citations_json: 'contents',
  usage_json: 'contents',
  moderation_json: 'contents',
  frames_json: 'contents',
  sequence: null,
  conversation: null,
  caller_id: null,
  draft_id: null,
  import_batch: null,
  last_message: null,
};

function columnsAt(location: 'line' | 'contents'): (keyof LocalRun)[] {
  return Object.entries(locations).flatMap(([name, at]) => (at === location ? [name as keyof LocalRun] : []));
}

const lineColumns = columnsAt('line');
const contentColumns = columnsAt('contents');

function picked(run: LocalRun, names: readonly (keyof LocalRun)[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, run[name]]));
}

export type CopiedRun = ReturnType<typeof copiedRunOf>;

/**
 * A run as the team database stores it. `row` has what a line of a list shows and `contents` the rest, both unchanged, as JSON. The other
 * columns are for filters and sorting.
 */
export function copiedRunOf(run: LocalRun, { isSearchable = true } = {}) {
  const row = { ...picked(run, lineColumns), answer: run.content.slice(0, excerptLength) };
  return {
    sequence: 0,
    previous_sequence: null as number | null,
    next_sequence: null as number | null,
    id: run.id,
    status: run.status,
    served_model: servedModelOf(run),
    position: run.sequence,
    conversation_id: run.conversation_id,
    workspace_id: run.workspace_id,
    created_at: run.created_at,
    first_token_ms: run.first_token_ms,
    total_ms: run.total_ms,
    prompt_tokens: run.prompt_tokens,
    completion_tokens: run.completion_tokens,
    total_tokens: run.total_tokens,
    cost: run.cost,
    score: run.score,
    score_text: run.score_text === null ? null : storableText(run.score_text),
    score_tags: run.score_tags === null ? null : storableText(run.score_tags),
    score_search: searchedNote(run.score_text),
    feedback_at: run.updated_at,
    terms: termsOf(run),
    row: JSON.stringify(row),
    contents: JSON.stringify(picked(run, contentColumns)),
    words: vectorOf(isSearchable ? searchedTexts(run) : { prompt: '', answer: '' }),
  };
}
