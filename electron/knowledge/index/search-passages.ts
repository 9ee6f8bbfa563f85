import type { IndexHit, IndexQuery } from './knowledge-index.ts';
import { type PassageStore, plainPassage, type StoredPassage } from './passage-store.ts';
import type { VectorStore } from './vector-store.ts';
import type { QueryTerm, WordSearch } from './word-search.ts';

interface Segment {
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Two passages of a source that share more than this part of the shorter one are duplicates. */
const sharedPart = 0.5;

function isSame(one: Segment, other: Segment): boolean {
  if (one.source !== other.source) return one.text === other.text;
  const shared = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return shared > sharedPart * Math.min(one.end - one.start, other.end - other.start);
}

/**
 * The first passages without duplicates. Among equal ones, a passage of the source with fewer hits so far comes first, so that the
 * same file under two names, and overlapping neighbours, don't displace others.
 */
export function distinctChunks<Item extends { readonly relevance: number }>(
  items: Iterable<Item & Segment>,
  limit: number,
): (Item & Segment)[] {
  const chosen: (Item & Segment)[] = [];
  const ofSource = new Map<number, number>();
  for (const equals of groupsOfEquals(items)) {
    const waiting = [...equals];
    while (waiting.length > 0 && chosen.length < limit) {
      const fewest = Math.min(...waiting.map(({ source }) => ofSource.get(source) ?? 0));
      const next = waiting.findIndex(({ source }) => (ofSource.get(source) ?? 0) === fewest);
      const [item] = waiting.splice(next, 1);
      if (chosen.some((other) => isSame(item!, other))) continue;
      chosen.push(item!);
      ofSource.set(item!.source, fewest + 1);
    }
    if (chosen.length >= limit) break;
  }
  return chosen;
}

function* groupsOfEquals<Item extends { readonly relevance: number }>(items: Iterable<Item>): Generator<Item[]> {
  let group: Item[] = [];
  for (const item of items) {
    if (group.length > 0 && group[0]!.relevance !== item.relevance) {
      yield group;
      group = [];
    }
    group.push(item);
  }
  if (group.length > 0) yield group;
}

/**
 * Coefficients of a logistic regression, trained on the development half of our own questions (`npm run benchmark -- retrieval
 * --learn`). It predicts whether a passage, of any length, contains the answer, from its similarity and the share of the query's
 * words that it contains. With the square, half of the words count for a quarter: some words in common occur everywhere.
 */
const both = { constant: -7, similarity: 16.1, coverage: 6.4 };
const keywordsOnly = { constant: -2.5, coverage: 6.5 };

/**
 * The probability that a passage contains the answer, 0 to 1, trained on everyday questions that avoid the words of the answer.
 * `similarity` is the cosine, null without vectors to compare; `coverage` is the share of the weight of the query's words. As a
 * rule of thumb, a passage above 0.5 is most likely about the subject, and one below 0.1 hardly is.
 */
function relevanceOf({ similarity, coverage }: { similarity: number | null; coverage: number }): number {
  const squaredCoverage = coverage * coverage;
  const evidence =
    similarity === null
      ? keywordsOnly.constant + keywordsOnly.coverage * squaredCoverage
      : both.constant + both.similarity * similarity + both.coverage * squaredCoverage;
  return 1 / (1 + Math.exp(-evidence));
}

/** Hits of both lists that are read before their passages are scored, for the query and its parts together. */
const listDepth = 60;
/** Hits of a list that are read if copies of the same texts fill its beginning. */
const depthBehindCopies = 1000;

/** The passages that a search may find. */
export interface SearchScope {
  readonly isAllowed: (id: number) => boolean;
  /** The same, if they have a vector of the query's model. */
  readonly isComparable: (id: number) => boolean;
}

export interface SearchParts extends SearchScope {
  readonly store: PassageStore;
  readonly words: WordSearch;
  /** The number of passages. */
  readonly passages: number;
  /** Null if the query can be compared with none. */
  readonly vectors: VectorStore | null;
}

/** A hit with the number of its source. */
type Hit = Omit<IndexHit, 'sourceId'> & { readonly source: number };

function ranksOf(ids: readonly number[]): Map<number, number> {
  return new Map(ids.map((id, index) => [id, index + 1]));
}

function wholeText({ heading, text }: StoredPassage): string {
  return heading === null ? text : `${heading}\n${text}`;
}

/** Reads each passage once. */
function createReader({ read }: PassageStore): (id: number) => StoredPassage {
  const known = new Map<number, StoredPassage>();
  return (id) => {
    const passage = known.get(id) ?? read(id);
    known.set(id, passage);
    return passage;
  };
}

/** The whole query or a part of it. */
interface Question {
  readonly words: readonly QueryTerm[];
  /** Null if there is nothing to compare it with. */
  readonly vector: Float32Array | null;
  /** The share of the search's work that it may use. */
  readonly share: number;
}

/**
 * The first hits of a list. If fewer than half of them, or than `limit`, have different texts, it is read on, without further copies, so
 * that a text in many sources doesn't displace all others.
 */
function firstHits<Item>(
  find: (count: number) => Item[],
  textOf: (item: Item) => string,
  { depth, limit }: { readonly depth: number; readonly limit: number },
): Item[] {
  const first = find(depth);
  const texts = new Set(first.map(textOf));
  if (first.length < depth || texts.size >= Math.max(depth / 2, limit)) return first;
  const others = find(depthBehindCopies).filter((item) => {
    if (texts.size >= depth) return false;
    const text = textOf(item);
    return !texts.has(text) && texts.add(text);
  });
  return [...first, ...others];
}

/** The passages of both lists, scored one by one by meaning and words together. */
function judge(parts: SearchParts, { words, vector, share }: Question, limit: number): Hit[] {
  const { store, isAllowed, passages } = parts;
  const vectors = vector && parts.vectors;
  const depths = { depth: Math.max(Math.ceil(listDepth * share), limit), limit };
  const read = createReader(store);
  const byWords = firstHits(
    (count) => parts.words.search(words, { count, isAllowed, passages, share }),
    ({ id }) => read(id).text,
    depths,
  );
  const nearest = (count: number) => vectors?.nearest(vector!, count, parts.isComparable) ?? [];
  const byMeaning = firstHits(nearest, ({ slot }) => read(slot).text, depths);
  const textRanks = ranksOf(byWords.map(({ id }) => id));
  const vectorRanks = ranksOf(byMeaning.map(({ slot }) => slot));
  const scores = new Map(byWords.map(({ id, score }) => [id, score]));
  const found = [...new Set([...textRanks.keys(), ...vectorRanks.keys()])].map(read);
  const coverage = parts.words.coverage(words, found.map(wholeText));
  return found.map((passage, index) => {
    const { id, source, position } = passage;
    const similarity = vectors && parts.isComparable(id) ? vectors.similarity(id, vector!) : null;
    const evidence = { similarity, coverage: coverage[index]! };
    return {
      ...plainPassage(passage),
      ...evidence,
      source,
      position,
      textRank: textRanks.get(id) ?? null,
      textScore: scores.get(id) ?? null,
      vectorRank: vectorRanks.get(id) ?? null,
      relevance: relevanceOf(evidence),
    };
  });
}

/** Each passage once, with its scores for the query part that it fits best. */
function bestOfEach(hits: readonly Hit[]): Hit[] {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const key = `${hit.source}/${hit.position}`;
    const other = best.get(key);
    if (!other || hit.relevance > other.relevance) best.set(key, hit);
  }
  return [...best.values()];
}

/** The best passages for a query, best first. */
export function searchPassages(query: IndexQuery, parts: SearchParts): Hit[] {
  const { embedding, limit } = query;
  const queries = [{ text: query.text, vector: embedding?.vector ?? null }, ...(query.parts ?? [])];
  const hits = queries.flatMap(({ text, vector }) =>
    judge(parts, { words: parts.words.words(text, parts.passages), vector, share: 1 / queries.length }, limit),
  );
  const each = queries.length === 1 ? hits : bestOfEach(hits);
  // Without vectors, the rank by keywords is more precise. The hits of one query are already in that order.
  const isRanked = !parts.vectors && queries.length === 1;
  const ranked = isRanked ? each : each.toSorted((one, other) => other.relevance - one.relevance);
  return distinctChunks(ranked, limit);
}
