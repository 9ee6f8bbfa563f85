import Database from 'better-sqlite3';
import { isUnspaced, spacedText } from '../../../shared/unspaced-text.ts';
import { type Bits, bitsOf, blockRuns, emptyBits, hasBit, offsetOf, RunSet, setBit } from './bits.ts';
import { createWordErasure, type WordErasure } from '../../storage/word-erasure.ts';

/** The searched texts of a run. */
export interface IndexedText {
  readonly run: number;
  readonly prompt: string;
  readonly answer: string;
}

/** A word with fewer runs is searched once for all blocks. */
const fewRuns = 1000;

/** Fewer candidates are checked one by one. */
const fewCandidates = 24;

/** Phrases in quotes and bare words, as FTS5 reads them. */
const phraseOrWord = /"(?:[^"]|"")*"|[\w\u0080-\u{10ffff}]+/gu;

/** Each letter of a script without spaces is indexed as a word, so its words are searched as phrases. */
function asIndexed(typed: string): string {
  if (!isUnspaced(typed)) return typed;
  // FTS5 treats the ideographic space as a letter.
  const expression = typed.replaceAll('\u3000', ' ');
  return expression.replace(phraseOrWord, (match) =>
    isUnspaced(match) ? `"${spacedText(match.startsWith('"') ? match.slice(1, -1) : match)}"` : match,
  );
}

/** The user's input as an FTS5 expression. */
export interface TextQuery {
  readonly expression: string;
  /** All matching runs; null if there are many, which are then read block by block. */
  readonly runs: RunSet | null;
}

/** The words of prompts and answers. */
export class TextIndex {
  readonly #statements: ReturnType<typeof textStatements>;
  /** Erases the words of removed runs. */
  readonly erasure: WordErasure;
  /** Grows with every change. */
  version = 0;

  constructor(database: Database.Database) {
    this.#statements = textStatements(database);
    this.erasure = createWordErasure(database, 'texts');
  }

  add({ run, prompt, answer }: IndexedText): void {
    this.version += 1;
    this.#statements.insert.run(run, spacedText(prompt), spacedText(answer));
  }

  remove(run: number): void {
    this.version += 1;
    this.#statements.remove.run(run);
  }

  /** Parses a query. If FTS5 rejects it, its plain words are searched. */
  query(text: string, where: 'prompt' | 'answer' | null): TextQuery {
    const within = (expression: string) => (where === null ? expression : `{${where}} : (${expression})`);
    const typed = within(asIndexed(text));
    try {
      return this.#find(typed);
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
    }
    const words = text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? [];
    return words.length === 0
      ? { expression: '', runs: new RunSet([]) }
      : this.#find(within(words.map((word) => `"${spacedText(word)}"`).join(' ')));
  }

  /** The runs of a block that match a query and are in `candidates`, which have `count` runs. */
  bits({ expression, runs }: TextQuery, block: number, candidates: Bits, count: number): Bits {
    if (runs !== null) return runs.bits(block);
    const first = block * blockRuns;
    if (count > fewCandidates) {
      return bitsOf(this.#statements.ofRange.all(expression, first, first + blockRuns - 1).map(offsetOf));
    }
    const bits = emptyBits();
    for (let offset = 0; offset < blockRuns; offset += 1) {
      if (!hasBit(candidates, offset)) continue;
      if (this.#statements.ofRange.get(expression, first + offset, first + offset) !== undefined) setBit(bits, offset);
    }
    return bits;
  }

  #find(expression: string): TextQuery {
    // A prefix is expanded to all words that start with it, which would take too long for each block.
    const max = expression.includes('*') ? -1 : fewRuns;
    const runs = this.#statements.newest.all(expression, Number.MAX_SAFE_INTEGER, max);
    return { expression, runs: max === -1 || runs.length < max ? new RunSet(runs) : null };
  }
}

/**
 * The casts matter: numbers are bound as REAL, and FTS5 uses a limit of the rowid only if it is an integer. Without casts every range reads
 * all runs of the word.
 */
function textStatements(database: Database.Database) {
  return {
    insert: database.prepare<[number, string, string]>('INSERT INTO texts (rowid, prompt, answer) VALUES (?, ?, ?)'),
    remove: database.prepare<[number]>('DELETE FROM texts WHERE rowid = ?'),
    newest: database
      .prepare<[string, number, number], number>(
        'SELECT rowid FROM texts WHERE texts MATCH ? AND rowid < CAST(? AS INTEGER) ORDER BY rowid DESC LIMIT CAST(? AS INTEGER)',
      )
      .pluck(),
    ofRange: database
      .prepare<[string, number, number], number>(
        'SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)',
      )
      .pluck(),
  };
}
