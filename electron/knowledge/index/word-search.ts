import type Database from 'better-sqlite3';
import { createWordErasure, type WordErasure } from '../../storage/word-erasure.ts';
import { beginningOf, expressionsOf, indexedForm, stopWords, tokensOf } from './terms.ts';

/** A word of a query, or several adjacent words. */
export interface QueryTerm {
  /** In FTS5 syntax. */
  readonly expression: string;
  /** The words in the index's form. */
  readonly stems: ReadonlySet<string>;
  /** Passages that contain it; for several words an upper bound. */
  readonly passages: number;
  /** Higher for rarer words, as in BM25. */
  readonly weight: number;
}

export interface WordSearchOptions {
  readonly count: number;
  readonly isAllowed: (id: number) => boolean;
  /** The number of passages. */
  readonly passages: number;
  /** The share of the search's work that it may use, 1 unless several searches belong together. */
  readonly share?: number;
}

export interface TextHit {
  readonly id: number;
  /** BM25, higher is better. */
  readonly score: number;
}

/** Max words of a query. */
const maxWords = 48;

/**
 * Ranking a passage takes about a microsecond for each word, so only passages with one of the rarest words are ranked: as many
 * words as have no more than this many passages together. The other words affect the ranking but add no passages.
 */
const rankedPassages = 4000;

/** A word in more than this share of many passages doesn't distinguish them. */
const commonShare = 0.25;
const fewPassages = 200;

/** Counts are read again after the number of passages has changed by this share. */
const countTolerance = 0.05;

/** Cached words with their stems; some 10 MB. */
const maxStems = 100_000;

/** Endings after an apostrophe that are ignored: "what's", "doesn't", "I'll". Alone, the same letter may be a name. */
const contractions = /(?<=\p{L})['’](?:s|t|d|m|ll|re|ve)(?!\p{L})/gu;

function quoted(words: readonly string[]): string {
  return `"${words.join(' ')}"`;
}

/** The full-text half of the index. */
export class WordSearch {
  readonly #statements: ReturnType<typeof wordStatements>;
  /** Erases the words of removed passages. */
  readonly erasure: WordErasure;
  readonly #transaction: (work: () => void) => void;
  readonly #counts = new Map<string, number>();
  /** How the index writes words: a cache that saves asking SQLite for known ones. */
  readonly #stems = new Map<string, string>();
  /** The number of passages when the counts were read. */
  #countedOf = 0;
  /** Of the current search. */
  #isAllowed: WordSearchOptions['isAllowed'] = () => false;

  constructor(database: Database.Database) {
    database.function('is_allowed', (id) => Number(this.#isAllowed(Number(id))));
    this.#statements = wordStatements(database);
    this.erasure = createWordErasure(database, 'words');
    this.#transaction = database.transaction((work: () => void) => work());
  }

  add(id: number, text: string, heading: string | null): void {
    this.#statements.insert.run(id, indexedForm(text), indexedForm(heading ?? ''));
  }

  remove(id: number): void {
    this.#statements.remove.run(id);
  }

  /** Removes every passage, with the remains of removed ones. */
  clear(): void {
    this.#statements.clear.run();
  }

  /** The words of a query that distinguish passages, the rarest first. Words without a passage come first of all. */
  words(text: string, passages: number): QueryTerm[] {
    if (Math.abs(passages - this.#countedOf) > countTolerance * this.#countedOf) {
      this.#counts.clear();
      this.#countedOf = passages;
    }
    const chunks = new Set(text.toLowerCase().replaceAll(contractions, '').split(/\s+/u));
    const all = [...chunks].flatMap(expressionsOf).slice(0, 4 * maxWords);
    const telling = all.filter((words) => words.some((word) => !stopWords.has(word)));
    const distinct = new Map((telling.length > 0 ? telling : all).map((words) => [words.join(' '), words]));
    const queryTerms = [...distinct.values()].slice(0, maxWords);
    const stems = this.#stemsOf(queryTerms.map((words) => words.join(' ')));
    // Words such as "the" match passages, but say nothing about their relevance.
    const hasMeaning = telling.length > 0;
    const found = queryTerms.map((words, index) => {
      const word = this.#word(words, stems[index]!, passages);
      return hasMeaning ? word : { ...word, weight: 0 };
    });
    return found.filter((word) => word.stems.size > 0).toSorted((one, other) => one.passages - other.passages);
  }

  /** The best matching passages, best first. */
  search(words: readonly QueryTerm[], options: WordSearchOptions): TextHit[] {
    const { count, isAllowed, passages, share = 1 } = options;
    const maxRanked = Math.ceil(rankedPassages * share);
    const known = words.filter((word) => word.passages > 0);
    const rare = rarest(known, maxRanked);
    if (rare.length === 0) return [];
    const others = known.slice(rare.length);
    this.#isAllowed = isAllowed;
    const ranked = this.#statements.ranked.all(rankingExpression(rare, others, passages), maxRanked * 2, count);
    // The rarest words of all passages may be in none of the allowed ones.
    if (ranked.length === 0) return this.search(others, options);
    return ranked.map(([id, rank]) => ({ id, score: -rank }));
  }

  /** For each text, the share of the weight of the query's words that it contains. */
  coverage(words: readonly QueryTerm[], texts: readonly string[]): number[] {
    const total = words.reduce((sum, { weight }) => sum + weight, 0);
    if (total === 0) return texts.map(() => 0);
    const beginnings = new Set(words.flatMap(({ stems }) => [...stems].map(beginningOf)));
    const tokens = texts.map((text) => [...tokensOf(text)].filter((token) => beginnings.has(beginningOf(token))));
    this.#learnStems(tokens.flat());
    return tokens.map((ofText) => {
      const stems = new Set(ofText.map((token) => this.#stems.get(token)));
      const found = words.filter((word) => [...word.stems].every((stem) => stems.has(stem)));
      return found.reduce((sum, { weight }) => sum + weight, 0) / total;
    });
  }

  #learnStems(tokens: readonly string[]): void {
    if (this.#stems.size > maxStems) this.#stems.clear();
    const unknown = [...new Set(tokens)].filter((token) => !this.#stems.has(token));
    if (unknown.length === 0) return;
    const stems = this.#stemsOf(unknown);
    unknown.forEach((token, index) => this.#stems.set(token, [...stems[index]!][0] ?? token));
  }

  #word(words: readonly string[], stems: ReadonlySet<string>, passages: number): QueryTerm {
    const count = Math.min(...[...stems].map((stem) => this.#count(stem)));
    const weight = Math.log(1 + (passages - count + 0.5) / (count + 0.5));
    return { expression: quoted(words), stems, passages: count, weight };
  }

  #count(stem: string): number {
    const known = this.#counts.get(stem);
    if (known !== undefined) return known;
    const count = this.#statements.count.get(stem) ?? 0;
    if (this.#counts.size > 20_000) this.#counts.clear();
    // A word without a passage is looked up again: the next passage may have it.
    if (count > 0) this.#counts.set(stem, count);
    return count;
  }

  /** The words of each text in the index's form. */
  #stemsOf(texts: readonly string[]): Set<string>[] {
    const { probe, probeWords, emptyProbe } = this.#statements;
    const stems = texts.map(() => new Set<string>());
    this.#transaction(() => {
      texts.forEach((text, index) => probe.run(index + 1, text));
      for (const [text, stem] of probeWords.iterate()) stems[text - 1]!.add(stem);
      emptyProbe.run();
    });
    return stems;
  }
}

/** As many of the rarest words as have no more than this many passages together, and at least one. */
function rarest(words: readonly QueryTerm[], maxRanked: number): QueryTerm[] {
  let ranked = 0;
  return words.filter((word, index) => (ranked += word.passages) <= maxRanked || index === 0);
}

/**
 * `rare OR (rare AND other)` finds the passages with a rare word and ranks them by all words: terms that FTS5 doesn't match in the
 * second half add nothing to a rank.
 */
function rankingExpression(rare: readonly QueryTerm[], others: readonly QueryTerm[], passages: number): string {
  const common = Math.max(fewPassages, passages * commonShare);
  const telling = others.filter((word) => word.passages <= common);
  const anyOf = (some: readonly QueryTerm[]) => some.map(({ expression }) => expression).join(' OR ');
  return telling.length === 0 ? anyOf(rare) : `(${anyOf(rare)}) OR ((${anyOf(rare)}) AND (${anyOf(telling)}))`;
}

function wordStatements(database: Database.Database) {
  return {
    insert: database.prepare<[number, string, string]>('INSERT INTO words (rowid, text, heading) VALUES (?, ?, ?)'),
    remove: database.prepare<[number]>('DELETE FROM words WHERE rowid = ?'),
    clear: database.prepare("INSERT INTO words (words) VALUES ('delete-all')"),
    count: database.prepare<[string], number>('SELECT doc FROM word_counts WHERE term = ?').pluck(),
    // The inner limit bounds the work of a query with nothing but frequent words.
    ranked: database
      .prepare<[string, number, number], [number, number]>(
        `SELECT id, rank FROM (
          SELECT rowid AS id, bm25(words, 1.0, 0.5) AS rank FROM words WHERE words MATCH ? AND is_allowed(rowid) LIMIT ?
        ) ORDER BY rank LIMIT ?`,
      )
      .raw(),
    probe: database.prepare<[number, string]>('INSERT INTO temp.probe (rowid, text) VALUES (?, ?)'),
    probeWords: database.prepare<[], [number, string]>('SELECT doc, term FROM temp.probe_words').raw(),
    emptyProbe: database.prepare("INSERT INTO temp.probe (probe) VALUES ('delete-all')"),
  };
}
