import type { VersionContent } from '../../../shared/prompt-content.ts';
import type { PromptRow } from '../schema.ts';
import { searchWords } from '../../../shared/contract/prompts.ts';
import type { ListedPromptRow } from './prompt-rows.ts';
import Database from 'better-sqlite3';

/** The filter of a list of prompts. */
export interface PromptFilter {
  /** Null for everything. */
  readonly search: string | null;
  /** Searches only the fields of prompts, not their versions. */
  readonly isOnlyDetails: boolean;
  /** Includes subfolders. The empty text means prompts without a folder, null all prompts. */
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

/** Reads prompts with the fields of their versions and labels that lists show. */
export interface PromptReading {
  /** `before` is the last sequence of the previous page. */
  page(filter: PromptFilter, before: number, limit: number): ListedPromptRow[];
  find(id: string): ListedPromptRow | undefined;
  /** In their stored spelling. */
  folders(): FolderCount[];
  tags(): TagCount[];
}

/** The parts of a folder path: `a / b/` equals `a/b`. */
export function folderParts(folder: string): string[] {
  return folder
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isWithin(folder: string, target: readonly string[]): boolean {
  const parts = folderParts(folder);
  return target.length === 0 ? parts.length === 0 : target.every((part, index) => parts[index] === part);
}

/** Adds the newest version's fields and the labels as JSON, for the sequences of the table `page`. */
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

  function conditionsOf({ search: text, isOnlyDetails, folder, tags: requiredTags }: PromptFilter) {
    const conditions = (text === null ? [] : searchWords(text)).map((word) => search.condition(word, isOnlyDetails));
    if (folder !== null) {
      const target = folderParts(folder);
      const found = folders.all().filter((one) => isWithin(one.folder ?? '', target));
      const names = JSON.stringify(found.map((one) => one.folder ?? ''));
      conditions.push({ sql: "ifnull(folder, '') IN (SELECT value FROM json_each(?))", values: [names] });
    }
    for (const tag of requiredTags)
      conditions.push({ sql: '? IN (SELECT value FROM json_each(tags_json))', values: [tag] });
    return conditions;
  }

  return {
    page(filter, before, limit) {
      const conditions = conditionsOf(filter);
      const where = ['deleted_at IS NULL', 'sequence < ?', ...conditions.map(({ sql }) => sql)].join(' AND ');
      // The columns are read for one page only. For all matches they would take longer than the search.
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

/** A part of a WHERE clause over `prompts`, with its values. */
export interface SearchCondition {
  readonly sql: string;
  readonly values: readonly string[];
}

/** The full-text index of the library. Write to it in the transaction that changes the prompt. */
export interface PromptSearch {
  /** Replaces the indexed fields of the prompt. */
  writePrompt(row: PromptRow, labels: readonly string[]): void;
  /** Indexes the lines of a version that its previous version doesn't have. */
  addVersion(place: { prompt: number; number: number }, version: VersionContent, before: VersionContent | null): void;
  removePrompt(prompt: number): void;
  /** The condition for prompts that contain a word. With `isOnlyDetails` it checks only their own fields. */
  condition(word: string, isOnlyDetails: boolean): SearchCondition;
}

/** The rowid of a version's text is `prompt * versionsApart + number`. The migration that creates the table uses the same number. */
const versionsApart = 2 ** 24;

/** The same as in the migration. */
const tokenizer = 'trigram remove_diacritics 1';

/** Two line feeds complete the trigrams of the last characters of a text, so that short words are found there, too. */
const textEnd = '\n\n';

/** UTF-16 units. A longer word has at least three characters, even with many accents. */
const longestFolded = 32;

/** A character that starts more trigrams is in nearly every text, so reading the texts is faster. */
const maxTrigrams = 64;

/**
 * Max indexed characters of one version: everything else waits while a trigram of each character is written. 65,536 random
 * characters take 0.12 seconds on a slow machine, and 16 times as many take 7.
 */
const maxCharacters = 2 ** 16;

function joined(texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null && text !== '').join('\n');
}

function textOf({ promptText, systemMessage, aiSystem, model, note, variables }: VersionContent): string {
  const variableTexts = variables.flatMap((variable) => [
    variable.name,
    variable.description,
    variable.defaultValue,
    variable.sampleValue,
  ]);
  return joined([model, aiSystem, note, ...variableTexts, systemMessage, promptText]).slice(0, maxCharacters);
}

/** The lines of a text that the other text doesn't have. */
function newLines(text: string, before: string): string {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .filter((line) => !known.has(line))
    .join('\n');
}

const phrase = (text: string) => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;

/** The condition for prompts with matching rows. The rows are found first. */
function matching(query: string, isOnlyDetails: boolean): SearchCondition {
  const rows = isOnlyDetails ? `prompt_search MATCH ? AND rowid % ${versionsApart} = 0` : 'prompt_search MATCH ?';
  return {
    sql: `prompts.sequence IN (SELECT rowid / ${versionsApart} FROM prompt_search WHERE ${rows})`,
    values: [query],
  };
}

/** The condition that reads the texts of one prompt after the other until the page is full. */
function reading(text: string, isOnlyDetails: boolean): SearchCondition {
  const last = isOnlyDetails ? '' : ` + ${versionsApart - 1}`;
  const first = `prompts.sequence * ${versionsApart}`;
  return {
    sql: `EXISTS (SELECT 1 FROM prompt_search WHERE rowid >= ${first} AND rowid <= ${first}${last}
      AND text LIKE ? ESCAPE '\\')`,
    values: [`%${text.replace(/[\\%_]/g, '\\$&')}%`],
  };
}

/**
 * Returns the tokenizer's form of a word: without case and accents, and with variants of a letter unified. It runs the tokenizer in a
 * database in memory, because no other folding is exactly the same.
 */
function createFolding(): (word: string) => string {
  const database = new Database(':memory:');
  database.exec(`CREATE VIRTUAL TABLE folded_word USING fts5 (text, tokenize = '${tokenizer}');
    CREATE VIRTUAL TABLE folded_trigrams USING fts5vocab (folded_word, instance)`);
  const write = database.prepare<[string]>('INSERT OR REPLACE INTO folded_word (rowid, text) VALUES (1, ?)');
  const read = database.prepare<[], string>('SELECT term FROM folded_trigrams ORDER BY offset').pluck();
  return (word) => {
    write.run(word + textEnd);
    return read
      .all()
      .map((trigram) => String.fromCodePoint(trigram.codePointAt(0)!))
      .join('');
  };
}

export function createPromptSearch(database: Database.Database): PromptSearch {
  // Numbers are bound as REAL, but a rowid needs an integer.
  const write = database.prepare<[prompt: number, number: number, text: string]>(
    `INSERT OR REPLACE INTO prompt_search (rowid, text)
     VALUES (CAST(? AS INTEGER) * ${versionsApart} + CAST(? AS INTEGER), ?)`,
  );
  const remove = database.prepare<[first: number, next: number]>(
    'DELETE FROM prompt_search WHERE rowid >= CAST(? AS INTEGER) AND rowid < CAST(? AS INTEGER)',
  );
  const trigrams = database
    .prepare<[first: string, next: string], string>(
      `SELECT term FROM prompt_search_terms WHERE term >= ? AND term < ? LIMIT ${maxTrigrams + 1}`,
    )
    .pluck();

  const folded = createFolding();

  return {
    writePrompt(row, labels) {
      const tags = JSON.parse(row.tags_json) as string[];
      const text = joined([row.name, row.folder, ...tags, row.description, ...labels]);
      write.run(row.sequence, 0, text + textEnd);
    },
    addVersion({ prompt, number }, version, before) {
      const text = newLines(textOf(version), before === null ? '' : textOf(before));
      if (text !== '') write.run(prompt, number, text + textEnd);
    },
    removePrompt(prompt) {
      remove.run(prompt * versionsApart, (prompt + 1) * versionsApart);
    },
    condition(word, isOnlyDetails) {
      const written = word.length > longestFolded ? word : folded(word);
      if ([...written].length >= 3) return matching(phrase(word), isOnlyDetails);
      const found = trigrams.all(written, `${written}\u{10FFFF}`);
      if (found.length === 0) return { sql: 'FALSE', values: [] };
      if (found.length <= maxTrigrams) return matching(found.map(phrase).join(' OR '), isOnlyDetails);
      return reading(word, isOnlyDetails);
    },
  };
}
