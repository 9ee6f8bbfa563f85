import { distinctPieces } from './distinct-pieces.ts';
import type { IndexHit, IndexQuery } from './knowledge-index.ts';
import { plainPassage, type PassageStore, type StoredPassage } from './passage-store.ts';
import { relevanceOf } from './relevance.ts';
import type { VectorStore } from './vector-store.ts';
import type { QuestionWord, WordSearch } from './word-search.ts';

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

function placesOf(ids: readonly number[]): Map<number, number> {
  return new Map(ids.map((id, index) => [id, index + 1]));
}

function wholeText({ heading, text }: StoredPassage): string {
  return heading === null ? text : `${heading}\n${text}`;
}

/** What is asked, whole or in part. */
interface Question {
  readonly words: readonly QuestionWord[];
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
  const textRanks = placesOf(byWords.map(({ id }) => id));
  const vectorRanks = placesOf(byMeaning.map(({ slot }) => slot));
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

/** Each passage once, as it is for the question that it fits best. */
function bestOfEach(hits: readonly Hit[]): Hit[] {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const place = `${hit.source}/${hit.position}`;
    const other = best.get(place);
    if (!other || hit.relevance > other.relevance) best.set(place, hit);
  }
  return [...best.values()];
}

/** The best passages for a question, best first. */
export function searchPassages(query: IndexQuery, parts: SearchParts): Hit[] {
  const { embedding, limit } = query;
  const asked = [{ text: query.text, vector: embedding?.vector ?? null }, ...(query.parts ?? [])];
  const hits = asked.flatMap(({ text, vector }) =>
    judge(parts, { words: parts.words.words(text, parts.passages), vector, share: 1 / asked.length }, limit),
  );
  const each = asked.length === 1 ? hits : bestOfEach(hits);
  // Without vectors the rank by words tells more, in which the hits of one question are already.
  const isRanked = !parts.vectors && asked.length === 1;
  const ranked = isRanked ? each : each.toSorted((one, other) => other.relevance - one.relevance);
  return distinctPieces(ranked, limit);
}
