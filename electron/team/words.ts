import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { textTokenizer as tokenizer } from '../audit/index/index-database.ts';
import { isUnspaced, spacedText } from '../../shared/unspaced-text.ts';

/**
 * The words of texts as PostgreSQL's `tsvector`, and searches of them as `tsquery`. Words are those of the embedded index (FTS5's
 * tokenizer `unicode61`), so that both find the same runs. A word of a prompt starts with `p`, one of an answer with `a`.
 */

/** Words, and what may be between them beside ASCII characters. */
const chunk = /[\dA-Za-z\u0080-\u{10ffff}]+/gu;
// oxlint-disable-next-line no-control-regex -- these are exactly the characters of ASCII
const ascii = /^[\0-\x7f]*$/;

/** PostgreSQL stores no longer words. */
const maxWordLength = 500;

/** A `tsvector` has at most a megabyte. The words after this many bytes aren't found. */
const maxBytes = 600_000;

/** PostgreSQL's limits. Phrases are found only within them. */
const maxPosition = 16_380;
const maxPositionsOfWord = 250;

/** Caches the results of a function for as many inputs as fit into a few megabytes. */
function cached<Result>(find: (input: string) => Result): (input: string) => Result {
  const known = new Map<string, Result>();
  return (input) => {
    const found = known.get(input);
    if (found !== undefined) return found;
    const result = find(input);
    if (known.size > 20_000) known.clear();
    known.set(input, result);
    return result;
  };
}

/**
 * The tokenizer's form of a character within a word: without case and most accents, nothing for a combining mark, and a space for what
 * separates words. FTS5 has its own table of Unicode, which no property of regular expressions equals.
 */
function createFolding(): (character: string) => string {
  const database = new Database(':memory:');
  database.exec(`CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '${tokenizer}');
    CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance)`);
  const write = database.prepare<[string]>('INSERT OR REPLACE INTO texts (rowid, text) VALUES (1, ?)');
  const read = database.prepare<[], string>('SELECT term FROM words').pluck();
  return (character) => {
    write.run(`a${character}a`);
    const [found, other] = read.all();
    return found === undefined || other !== undefined ? ' ' : found.slice(1, -1);
  };
}

let folding: ((character: string) => string) | null = null;

const foldCharacter = cached((character) => (folding ??= createFolding())(character));

function foldChunk(typed: string): string[] {
  const words = Array.from(typed, foldCharacter).join('').split(' ');
  return words.flatMap((each) => (each === '' ? [] : each.slice(0, maxWordLength).toWellFormed()));
}

const foldCached = cached(foldChunk);

/** The words of a text, in order. */
export function wordsIn(text: string): string[] {
  const words: string[] = [];
  for (const typed of spacedText(text).match(chunk) ?? []) {
    if (ascii.test(typed)) words.push(typed.toLowerCase().slice(0, maxWordLength));
    else for (const each of typed.length > maxWordLength ? foldChunk(typed) : foldCached(typed)) words.push(each);
  }
  return words;
}

/** Whether a word is a letter of a script without spaces. */
const isLetter = (each: string): boolean => each.length <= 2 && isUnspaced(each);

const quoted = (lexeme: string): string => `'${lexeme.replaceAll(/['\\]/g, '$&$&')}'`;

class Vector {
  readonly #positions = new Map<string, number[]>();
  #bytes = 0;

  addText(column: 'p' | 'a', text: string): void {
    let before = '';
    let position = 0;
    for (const each of wordsIn(text)) {
      position += 1;
      this.#add(column + each, position);
      // Each letter of such a script is in most texts. Pairs of letters are rare enough to be searched.
      const letter = isLetter(each) ? each : '';
      if (before !== '' && letter !== '') this.#add(column + before + letter, position - 1);
      before = letter;
    }
  }

  #add(lexeme: string, position: number): void {
    let positions = this.#positions.get(lexeme);
    if (positions === undefined) {
      const bytes = Buffer.byteLength(lexeme) + 8;
      if (this.#bytes + bytes > maxBytes) return;
      this.#bytes += bytes;
      this.#positions.set(lexeme, (positions = []));
    }
    if (position > maxPosition || positions.length >= maxPositionsOfWord || this.#bytes > maxBytes) return;
    if (position <= (positions.at(-1) ?? 0)) return;
    this.#bytes += 2;
    positions.push(position);
  }

  /** In PostgreSQL's binary format, which it reads in a fraction of the time of the text. */
  toBuffer(): Buffer {
    // `#bytes` has eight for each lexeme; three are needed.
    const buffer = Buffer.allocUnsafe(4 + this.#bytes);
    let end = buffer.writeInt32BE(this.#positions.size, 0);
    for (const [lexeme, positions] of this.#positions) {
      end += buffer.write(lexeme, end);
      end = buffer.writeUInt8(0, end);
      end = buffer.writeUInt16BE(positions.length, end);
      for (const position of positions) end = buffer.writeUInt16BE(position, end);
    }
    return buffer.subarray(0, end);
  }
}

/** A `tsvector` of what is searched in a run, in PostgreSQL's binary format. */
export function vectorOf({ prompt, answer }: { readonly prompt: string; readonly answer: string }): Buffer {
  const vector = new Vector();
  vector.addText('p', prompt);
  vector.addText('a', answer);
  return vector.toBuffer();
}

type Where = 'prompt' | 'answer' | null;

/** A `tsquery` for words that follow one another; null without words. */
function phraseQuery(text: string, isPrefix: boolean, where: Where): string | null {
  const words = wordsIn(text);
  if (words.length === 0) return null;
  const inColumn = (column: 'p' | 'a'): string => {
    const isPaired = !isPrefix && words.length > 1 && words.every(isLetter);
    const lexemes = isPaired ? words.slice(1).map((each, index) => words[index]! + each) : words;
    const suffix = (index: number) => (isPrefix && index === lexemes.length - 1 ? ':*' : '');
    return `(${lexemes.map((each, index) => quoted(column + each) + suffix(index)).join(' <-> ')})`;
  };
  if (where !== null) return inColumn(where === 'prompt' ? 'p' : 'a');
  return `(${inColumn('p')} | ${inColumn('a')})`;
}

const tokens = /\s*(?:("(?:[^"]|"")*")|([\w\u0080-\u{10ffff}]+)|([()*])|(\S))/guy;

/** What a query that never matches is compiled to: no word starts with a slash. */
const nothing = quoted('/');

/** Reads a valid expression of FTS5, by its rules of precedence. */
class QueryReader {
  readonly #tokens: string[];
  readonly #where: Where;
  #next = 0;

  constructor(text: string, where: Where) {
    this.#tokens = Array.from(text.matchAll(tokens), ([token]) => token.trim()).filter((token) => token !== '');
    this.#where = where;
  }

  read(): string {
    const query = this.#either();
    if (this.#next < this.#tokens.length) this.#rejectUnsupported();
    return query;
  }

  #either(): string {
    let query = this.#both();
    while (this.#take('OR')) query = `(${query} | ${this.#both()})`;
    return query;
  }

  #both(): string {
    let query = this.#without();
    while (this.#take('AND')) query = `(${query} & ${this.#without()})`;
    return query;
  }

  #without(): string {
    let query = this.#phrases();
    while (this.#take('NOT')) query = `(${query} & !${this.#phrases()})`;
    return query;
  }

  /** Phrases without an operator between them, or parentheses. */
  #phrases(): string {
    if (this.#take('(')) {
      const query = this.#either();
      if (!this.#take(')')) this.#rejectUnsupported();
      return query;
    }
    const phrases: string[] = [];
    for (;;) {
      const token = this.#tokens[this.#next];
      if (token === undefined || ['AND', 'OR', 'NOT', '(', ')'].includes(token)) break;
      const parts = [this.#string()];
      while (this.#take('+')) parts.push(this.#string());
      const isPrefix = this.#take('*');
      const query = phraseQuery(parts.join(' '), isPrefix, this.#where);
      if (query !== null) phrases.push(query);
    }
    return phrases.length === 0 ? nothing : `(${phrases.join(' & ')})`;
  }

  /** A word, or the text of a phrase in quotes. */
  #string(): string {
    const token = this.#tokens[this.#next] ?? '';
    if (!/^["\w\u0080-\u{10ffff}]/u.test(token)) this.#rejectUnsupported();
    this.#next += 1;
    return token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#next] !== token) return false;
    this.#next += 1;
    return true;
  }

  #rejectUnsupported(): never {
    throw new AppError(
      'invalid_request',
      'The team database is searched with words, "phrases", prefix*, AND, OR, NOT and parentheses only.',
    );
  }
}

let syntax: Database.Statement<[string]> | null = null;

/** Whether FTS5 accepts the expression. The embedded index searches the words of all others. */
function isExpression(text: string): boolean {
  if (syntax === null) {
    const database = new Database(':memory:');
    database.exec("CREATE VIRTUAL TABLE texts USING fts5(prompt, answer, content='')");
    syntax = database.prepare<[string]>('SELECT 1 FROM texts WHERE texts MATCH ?');
  }
  try {
    syntax.get(text);
    return true;
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return false;
  }
}

/** A typed search as `tsquery`. Throws `invalid_request` for operators that only the embedded index has. */
export function textQuery(text: string, where: Where): string {
  const typed = text.replaceAll('\u3000', ' ');
  if (isExpression(typed)) return new QueryReader(typed, where).read();
  const phrases = (text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? []).map((each) => phraseQuery(each, false, where));
  return phrases.filter((each) => each !== null).join(' & ') || nothing;
}
