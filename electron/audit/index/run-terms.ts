import type { RunRow } from '../../storage/schema.ts';

type NotIndexed =
  | 'title'
  | 'draft_id'
  | 'message_id'
  | 'api_key_id'
  | 'credits'
  | 'served_by'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'prices_from';

/** What the index needs to know of a run. */
export type IndexedRun = Omit<RunRow, NotIndexed> & {
  readonly workspace_id: string | null;
};

export const numberFields = [
  'total_ms',
  'first_token_ms',
  'cost',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
] as const satisfies (keyof RunRow)[];
export type NumberField = (typeof numberFields)[number];

/** Fields whose values are listed as terms; a header's field is `header:<name>`, its presence the field `header`. */
export type TermField =
  | 'caller'
  | 'workspace'
  | 'prompt'
  | 'prompt-version'
  | 'model'
  | 'ai-system'
  | 'served-model'
  | 'status'
  | 'finish-reason'
  | 'error-code'
  | 'moderation'
  | 'header'
  | `header:${string}`;

/** Provider and model together, as the facets and the summary count them. */
export function modelTerm(aiSystem: string, model: string): string {
  return JSON.stringify([aiSystem, model]);
}

/** Calls back with every value that a run can be found by. */
export function forEachTerm(run: IndexedRun, callback: (field: TermField, value: string) => void): void {
  callback('caller', run.caller_id);
  callback('ai-system', run.ai_system);
  callback('model', run.model);
  callback('served-model', modelTerm(run.ai_system, run.model));
  callback('status', run.status);
  if (run.workspace_id !== null) callback('workspace', run.workspace_id);
  if (run.prompt_id !== null) callback('prompt', run.prompt_id);
  if (run.prompt_version_id !== null) callback('prompt-version', run.prompt_version_id);
  if (run.finish_reason !== null) callback('finish-reason', run.finish_reason);
  if (run.error_code !== null) callback('error-code', run.error_code);
  for (const flag of run.moderation_flags?.split(',') ?? []) callback('moderation', flag);
  if (run.app_headers_json === null) return;
  const headers = JSON.parse(run.app_headers_json) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    callback('header', name.toLowerCase());
    callback(`header:${name.toLowerCase()}`, value);
  }
}
