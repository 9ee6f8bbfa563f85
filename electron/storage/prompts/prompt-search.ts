import type Database from 'better-sqlite3';
import type { PromptRow } from '../schema.ts';
import type { NewPromptVersion } from './prompt-store.ts';

/** A part of a WHERE over `prompts` with what it binds. */
export interface SearchCondition {
  readonly sql: string;
  readonly values: readonly string[];
}

/** The full text of the library. What is written here belongs in the transaction that changes the prompt. */
export interface PromptSearch {
  /** Takes up what the prompt itself says, in place of what it said before. */
  writePrompt(row: PromptRow, labels: readonly string[]): void;
  /** Takes up what a version says that the one before it did not. */
  addVersion(
    place: { prompt: number; number: number },
    version: NewPromptVersion,
    before: NewPromptVersion | null,
  ): void;
  removePrompt(prompt: number): void;
  /** Leaves the prompts in which a word stands; with `isOnlyDetails` in what they themselves say. */
  condition(word: string, isOnlyDetails: boolean): SearchCondition;
}

/** As in the migration that made the table: the rowid of a version's text is `prompt * versionsApart + number`. */
const versionsApart = 2 ** 24;

/** Two line feeds make a trigram of every last character of a text, so that short words are found there too. */
const textEnd = '\n\n';

/** A character that more trigrams than this begin with stands in nearly every text: reading the texts finds it sooner. */
const mostTrigrams = 64;

/** As the tokenizer folds it: without case and without the accents of Latin letters. */
function folded(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC');
}

function joined(texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null && text !== '').join('\n');
}

function textOf({ promptText, systemMessage, aiSystem, model, note, variables }: NewPromptVersion): string {
  const variableTexts = variables.flatMap((variable) => [
    variable.name,
    variable.description,
    variable.defaultValue,
    variable.sampleValue,
  ]);
  return joined([promptText, systemMessage, aiSystem, model, note, ...variableTexts]);
}

/** The lines of a text that the other one has not got. */
function newLines(text: string, before: string): string {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .filter((line) => !known.has(line))
    .join('\n');
}

const phrase = (text: string) => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;

/** The prompts of the rows that a condition on `prompt_search` leaves. */
function within(condition: string, value: string, isOnlyDetails: boolean): SearchCondition {
  const rows = isOnlyDetails ? `${condition} AND rowid % ${versionsApart} = 0` : condition;
  return {
    sql: `prompts.sequence IN (SELECT rowid / ${versionsApart} FROM prompt_search WHERE ${rows})`,
    values: [value],
  };
}

export function createPromptSearch(database: Database.Database): PromptSearch {
  // Numbers are bound as real ones, which a rowid is not.
  const write = database.prepare<[prompt: number, number: number, text: string]>(
    `INSERT OR REPLACE INTO prompt_search (rowid, text)
     VALUES (CAST(? AS INTEGER) * ${versionsApart} + CAST(? AS INTEGER), ?)`,
  );
  const remove = database.prepare<[first: number, next: number]>(
    'DELETE FROM prompt_search WHERE rowid >= CAST(? AS INTEGER) AND rowid < CAST(? AS INTEGER)',
  );
  const trigrams = database
    .prepare<[first: string, next: string], string>(
      `SELECT term FROM prompt_search_terms WHERE term >= ? AND term < ? LIMIT ${mostTrigrams + 1}`,
    )
    .pluck();

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
      const matching = (query: string) => within('prompt_search MATCH ?', query, isOnlyDetails);
      const wanted = folded(word);
      if ([...wanted].length >= 3) return matching(phrase(wanted));
      const found = trigrams.all(wanted, `${wanted}\u{10FFFF}`);
      if (found.length === 0) return { sql: 'FALSE', values: [] };
      if (found.length <= mostTrigrams) return matching(found.map(phrase).join(' OR '));
      return within("text LIKE ? ESCAPE '\\'", `%${word.replace(/[\\%_]/g, '\\$&')}%`, isOnlyDetails);
    },
  };
}
