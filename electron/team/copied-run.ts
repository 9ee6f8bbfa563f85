import { createHash } from 'node:crypto';
import type { RunRow, RunTextRow } from '../storage/schema.ts';
import { searchedTexts } from '../audit/index/audit-index.ts';
import { tagsOf } from '../audit/index/feedback-index.ts';
import { forEachTerm } from '../audit/index/terms.ts';
import { excerptLength } from '../audit/query/conversation-rows.ts';
import { vectorOf } from './words.ts';

/** A run with its texts, conversation and feedback, as the copier reads it. */
export interface LocalRun extends RunRow, Omit<RunTextRow, 'run' | 'last_message'> {
  readonly conversation_id: string;
  readonly conversation_name: string;
  readonly conversation_created_at: number;
  readonly workspace_id: string | null;
  readonly agent_id: string | null;
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

type FeedbackColumns = Pick<LocalRun, 'score' | 'score_text' | 'score_tags'>;

/** The terms of feedback: that there is any, and its tags. */
export function feedbackTerms({ score, score_text, score_tags }: FeedbackColumns): string[] {
  if (score === null && score_text === null && score_tags === null) return [];
  return [termOf('feedback', 'any'), ...new Set(tagsOf(score_tags).map((tag) => termOf('tag', tag)))];
}

/** A note as it is searched: without case. The server's own `lower` depends on its locale. */
export const searchedNote = (note: string | null): string | null =>
  note === null ? null : storableText(note.toLowerCase());

const listColumns = [
  'id',
  'status',
  'ai_system',
  'model',
  'served_by',
  'origin_api',
  'origin_client',
  'created_at',
  'total_ms',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost',
  'finish_reason',
  'error_code',
  'title',
] as const satisfies (keyof LocalRun)[];

const contentColumns = [
  'message_id',
  'api_key_id',
  'prompt_id',
  'prompt_version_id',
  'prices_from',
  'completed_at',
  'credits',
  'http_status',
  'moderation_flags',
  'app_headers_json',
  'prompt_text',
  'system_message',
  'replacements_json',
  'rendered_prompt',
  'messages_json',
  'configuration_json',
  'dataspace_ids_json',
  'metadata_json',
  'warnings_json',
  'content',
  'tool_calls_json',
  'reasoning',
  'error_message',
  'citations_json',
  'usage_json',
  'moderation_json',
  'frames_json',
] as const satisfies (keyof LocalRun)[];

function picked(run: LocalRun, names: readonly (keyof LocalRun)[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, run[name]]));
}

export type CopiedRun = ReturnType<typeof copiedRunOf>;

/**
 * A run as the team database stores it. `row` has what a line of a list shows and `contents` the rest, both unchanged, as JSON. The other
 * columns are for filters and sorting.
 */
export function copiedRunOf(run: LocalRun, { isSearchable = true } = {}) {
  const row = { ...picked(run, listColumns), answer: run.content.slice(0, excerptLength) };
  return {
    sequence: 0,
    id: run.id,
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
    words: isSearchable ? vectorOf(searchedTexts(run)) : '',
  };
}
