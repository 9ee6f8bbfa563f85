import type Database from 'better-sqlite3';
import { searchWords } from '../../../shared/contract/prompts.ts';
import type { ListedPromptRow } from './prompt-rows.ts';
import type { PromptSearch } from './prompt-search.ts';

/** What a list of prompts is narrowed to. */
export interface PromptFilter {
  /** Null for everything. */
  readonly search: string | null;
  /** Whether only what the prompts themselves say is searched, none of their versions. */
  readonly isOnlyDetails: boolean;
  /** With the folders below it; the empty text is no folder, null all of them. */
  readonly folder: string | null;
  /** All of them. */
  readonly tags: readonly string[];
}

export interface FolderCount {
  readonly folder: string | null;
  readonly prompts: number;
}

export interface TagCount {
  readonly tag: string;
  readonly prompts: number;
}

/** Reads prompts with what a list shows of their versions and labels. */
export interface PromptReading {
  /** `before` is the sequence that the page before ended with. */
  page(filter: PromptFilter, before: number, limit: number): ListedPromptRow[];
  find(id: string): ListedPromptRow | undefined;
  /** As they are written. */
  folders(): FolderCount[];
  tags(): TagCount[];
}

/** The parts of a way through folders: `a / b/` and `a/b` are the same one. */
export function folderParts(folder: string): string[] {
  return folder
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isWithin(folder: string, wanted: readonly string[]): boolean {
  const parts = folderParts(folder);
  return wanted.length === 0 ? parts.length === 0 : wanted.every((part, index) => parts[index] === part);
}

/** With the newest version's facts and the labels as JSON, for the sequences that a table `page` has. */
const listedColumns = `
  SELECT prompts.*, latest.number AS latest_number, latest.ai_system AS latest_ai_system, latest.model AS latest_model,
    (SELECT json_group_array(json_object('label', label, 'promptVersionId', prompt_versions.id) ORDER BY label)
      FROM prompt_labels JOIN prompt_versions ON prompt_versions.sequence = prompt_labels.version
      WHERE prompt_labels.prompt = prompts.sequence) AS labels_json
  FROM page CROSS JOIN prompts USING (sequence) CROSS JOIN prompt_versions latest ON latest.id = prompts.latest_version_id`;

export function createPromptReading(database: Database.Database, search: PromptSearch): PromptReading {
  const find = database.prepare<[string], ListedPromptRow>(
    `WITH page AS (SELECT sequence FROM prompts WHERE id = ? AND deleted_at IS NULL) ${listedColumns}`,
  );
  const folders = database.prepare<[], FolderCount>(
    'SELECT folder, count(*) AS prompts FROM prompts WHERE deleted_at IS NULL GROUP BY folder',
  );
  const tags = database.prepare<[], TagCount>(
    `SELECT value AS tag, count(DISTINCT sequence) AS prompts FROM prompts, json_each(tags_json)
     WHERE deleted_at IS NULL GROUP BY value`,
  );

  function conditionsOf({ search: text, isOnlyDetails, folder, tags: wantedTags }: PromptFilter) {
    const conditions = (text === null ? [] : searchWords(text)).map((word) => search.condition(word, isOnlyDetails));
    if (folder !== null) {
      const wanted = folderParts(folder);
      const found = folders.all().filter((one) => isWithin(one.folder ?? '', wanted));
      const names = JSON.stringify(found.map((one) => one.folder ?? ''));
      conditions.push({ sql: "ifnull(folder, '') IN (SELECT value FROM json_each(?))", values: [names] });
    }
    for (const tag of wantedTags)
      conditions.push({ sql: '? IN (SELECT value FROM json_each(tags_json))', values: [tag] });
    return conditions;
  }

  return {
    page(filter, before, limit) {
      const conditions = conditionsOf(filter);
      const where = ['deleted_at IS NULL', 'sequence < ?', ...conditions.map(({ sql }) => sql)].join(' AND ');
      // The columns are read after the page is cut: for all that was found they would cost more than the search.
      const sql = `WITH page AS MATERIALIZED (SELECT sequence FROM prompts WHERE ${where} ORDER BY sequence DESC LIMIT ?)
        ${listedColumns} ORDER BY sequence DESC`;
      const values = conditions.flatMap((condition) => condition.values);
      return database.prepare<(string | number)[], ListedPromptRow>(sql).all(before, ...values, limit);
    },
    find: (id) => find.get(id.toLowerCase()),
    folders: () => folders.all(),
    tags: () => tags.all(),
  };
}
