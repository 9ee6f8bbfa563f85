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
 * The first passages without duplicates. Of equally good ones the source comes first that has had fewer: the same file under two
 * names, and neighbours that overlap, do not push others out.
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
 * Coefficients of a logistic regression, learned from the development half of our own questions (`npm run benchmark -- retrieval --learn`):
 * whether a passage holds the answer, be it short or a chunk of a document, from how near it is in meaning and how much of the
 * question's words it holds. The square makes half of the words count for a quarter: some words in common are found everywhere.
 */
const both = { constant: -7, similarity: 16.1, coverage: 6.4 };
const keywordsOnly = { constant: -2.5, coverage: 6.5 };

/**
 * How likely a passage holds what was asked, 0 to 1, as it was with everyday questions that avoid the words of the answer.
 * `similarity` is the cosine, null when there are no vectors to compare; `coverage` is the share of the weight of the question's
 * words. As a rule of thumb: above 0.5 it most likely speaks of the matter, below 0.1 it hardly does.
 */
function relevanceOf({ similarity, coverage }: { similarity: number | null; coverage: number }): number {
  const squaredCoverage = coverage * coverage;
  const evidence =
    similarity === null
      ? keywordsOnly.constant + keywordsOnly.coverage * squaredCoverage
      : both.constant + both.similarity * similarity + both.coverage * squaredCoverage;
  return 1 / (1 + Math.exp(-evidence));
}

/** How far both lists are read before their passages are judged, for all that is asked together. */
const listDepth = 60;

/** Which passages a search may find. */
export interface SearchScope {
  readonly isAllowed: (id: number) => boolean;
  /** The same, and with a vector of the question's model. */
  readonly isComparable: (id: number) => boolean;
}

export interface SearchParts extends SearchScope {
  readonly store: PassageStore;
  readonly words: WordSearch;
  /** How many passages there are. */
  readonly passages: number;
  /** Null when there are none that the question could be compared with. */
  readonly vectors: VectorStore | null;
}

/** A hit that names its source by its number. */
type Hit = Omit<IndexHit, 'sourceId'> & { readonly source: number };

function ranksOf(ids: readonly number[]): Map<number, number> {
  return new Map(ids.map((id, index) => [id, index + 1]));
}

function wholeText({ heading, text }: StoredPassage): string {
  return heading === null ? text : `${heading}\n${text}`;
}

/** What is asked, whole or in part. */
interface Question {
  readonly words: readonly QueryTerm[];
  /** Null when there is nothing to compare it with. */
  readonly vector: Float32Array | null;
  /** What part of the work of a search it may take. */
  readonly share: number;
}

/** The passages of both lists, judged one by one by meaning and words together. */
function judge(parts: SearchParts, { words, vector, share }: Question, limit: number): Hit[] {
  const { store, isAllowed, passages } = parts;
  const vectors = vector && parts.vectors;
  const depth = Math.max(Math.ceil(listDepth * share), limit);
  const byWords = parts.words.search(words, { count: depth, isAllowed, passages, share });
  const byMeaning = vectors?.nearest(vector!, depth, parts.isComparable) ?? [];
  const textRanks = ranksOf(byWords.map(({ id }) => id));
  const vectorRanks = ranksOf(byMeaning.map(({ slot }) => slot));
  const scores = new Map(byWords.map(({ id, score }) => [id, score]));
  const found = [...new Set([...textRanks.keys(), ...vectorRanks.keys()])].map(store.read);
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

/** The best passages for a question, best first. */
export function searchPassages(query: IndexQuery, parts: SearchParts): Hit[] {
  const { embedding, limit } = query;
  const queries = [{ text: query.text, vector: embedding?.vector ?? null }, ...(query.parts ?? [])];
  const hits = queries.flatMap(({ text, vector }) =>
    judge(parts, { words: parts.words.words(text, parts.passages), vector, share: 1 / queries.length }, limit),
  );
  const each = queries.length === 1 ? hits : bestOfEach(hits);
  // Without vectors the rank by words tells more, in which the hits of one question are already.
  const isRanked = !parts.vectors && queries.length === 1;
  const ranked = isRanked ? each : each.toSorted((one, other) => other.relevance - one.relevance);
  return distinctChunks(ranked, limit);
}
