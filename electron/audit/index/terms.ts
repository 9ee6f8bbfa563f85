import type { RunRow } from '../../storage/schema.ts';
import type Database from 'better-sqlite3';

type NotIndexed =
  | 'title'
  | 'draft_id'
  | 'message_id'
  | 'api_key_id'
  | 'credits'
  | 'served_by'
  | 'http_status'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'prices_from';

/** The fields of a run that are indexed. */
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

/** Fields whose values are terms. A header's values are in the field `header:<name>`, and its presence in the field `header`. */
export type TermField =
  | 'caller'
  | 'workspace'
  | 'prompt'
  | 'prompt-version'
  | 'model'
  | 'ai-system'
  | 'served-model'
  | 'status'
  | 'origin'
  | 'client'
  | 'import'
  | 'finish-reason'
  | 'error-code'
  | 'moderation'
  | 'header'
  | `header:${string}`;

/** Provider and model as one term, for facets and the summary. */
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
  callback('origin', run.origin_api);
  if (run.origin_client !== null) callback('client', run.origin_client);
  if (run.import_batch !== null) callback('import', String(run.import_batch));
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

/** More values, for example of a header that is new for every run, are read from the disk. */
const maxCached = 50_000;

/** Assigns a code to every value that runs can be found by. */
export class Terms {
  readonly #insert: Database.Statement<[number, string, string]>;
  readonly #find: Database.Statement<[string, string], number>;
  readonly #ofField: Database.Statement<[string], { code: number; value: string }>;
  readonly #fields: Database.Statement<[], string>;
  readonly #cached = new Map<string, number>();
  readonly #deleteUnused: Database.Statement<[]>;
  #unsaved: { code: number; field: string; value: string }[] = [];
  readonly #unsavedKeys = new Map<string, number>();
  #lastCode: number;

  constructor(database: Database.Database) {
    this.#insert = database.prepare('INSERT INTO terms (code, field, value) VALUES (?, ?, ?)');
    this.#find = database
      .prepare<[string, string], number>('SELECT code FROM terms WHERE field = ? AND value = ?')
      .pluck();
    this.#deleteUnused = database.prepare(
      "DELETE FROM terms WHERE field LIKE 'header:%' AND code NOT IN (SELECT term FROM postings)",
    );
    this.#ofField = database.prepare('SELECT code, value FROM terms WHERE field = ? ORDER BY code LIMIT 5000');
    this.#fields = database
      .prepare<[], string>("SELECT value FROM terms WHERE field = 'header' ORDER BY code LIMIT 100")
      .pluck();
    this.#lastCode = database.prepare<[], number>('SELECT coalesce(max(code), 0) FROM terms').pluck().get() ?? 0;
  }

  find(field: TermField, value: string): number | null {
    const key = `${field}\0${value}`;
    const known = this.#cached.get(key) ?? this.#unsavedKeys.get(key);
    if (known !== undefined) return known;
    const code = this.#find.get(field, value);
    if (code === undefined) return null;
    if (this.#cached.size >= maxCached) this.#cached.clear();
    this.#cached.set(key, code);
    return code;
  }

  make(field: TermField, value: string): number {
    const known = this.find(field, value);
    if (known !== null) return known;
    const code = (this.#lastCode += 1);
    this.#unsaved.push({ code, field, value });
    this.#unsavedKeys.set(`${field}\0${value}`, code);
    return code;
  }

  /** Call it in a transaction, before anything on disk refers to the codes. */
  save(): void {
    for (const { code, field, value } of this.#unsaved) this.#insert.run(code, field, value);
    this.#unsaved = [];
    this.#unsavedKeys.clear();
  }

  /**
   * Deletes header values that no sealed block uses. Afterwards the open blocks must be rebuilt, and this object must be created again.
   */
  forgetUnused(): void {
    this.#deleteUnused.run();
  }

  /** The oldest values of a field, at most 5,000. */
  valuesOf(field: TermField): { code: number; value: string }[] {
    return [...this.#ofField.all(field), ...this.#unsaved.filter((term) => term.field === field)];
  }

  headerNames(): string[] {
    const unsaved = this.#unsaved.filter(({ field }) => field === 'header').map(({ value }) => value);
    return [...this.#fields.all(), ...unsaved];
  }
}
