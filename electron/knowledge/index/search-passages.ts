import { distinctPieces } from './distinct-pieces.ts';
import type { IndexHit, IndexQuery } from './knowledge-index.ts';
import { plainPassage, type PassageStore, type StoredPassage } from './passage-store.ts';
import { relevanceOf } from './relevance.ts';
import type { VectorStore } from './vector-store.ts';
import type { QuestionWord, WordSearch } from './word-search.ts';

/** How far both lists are read before their passages are judged. */
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

/** The passages of both lists, judged one by one by meaning and words together. */
function judge(parts: SearchParts, { embedding, limit }: IndexQuery, words: readonly QuestionWord[]): Hit[] {
  const { store, vectors } = parts;
  const depth = Math.max(listDepth, limit);
  const byWords = parts.words.search(words, depth, parts.isAllowed, parts.passages);
  const byMeaning = vectors?.nearest(embedding!.vector, depth, parts.isComparable) ?? [];
  const textRanks = placesOf(byWords.map(({ id }) => id));
  const vectorRanks = placesOf(byMeaning.map(({ slot }) => slot));
  const scores = new Map(byWords.map(({ id, score }) => [id, score]));
  const found = [...new Set([...textRanks.keys(), ...vectorRanks.keys()])].map(store.read);
  const coverage = parts.words.coverage(words, found.map(wholeText));
  return found.map((passage, index) => {
    const { id, source, position } = passage;
    const similarity = vectors && parts.isComparable(id) ? vectors.similarity(id, embedding!.vector) : null;
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

/** The best passages for a question, best first. */
export function searchPassages(query: IndexQuery, parts: SearchParts): Hit[] {
  const hits = judge(parts, query, parts.words.words(query.text, parts.passages));
  // Without vectors the rank by words tells more, in which the hits are already.
  const ranked = parts.vectors ? hits.toSorted((one, other) => other.relevance - one.relevance) : hits;
  return distinctPieces(ranked, query.limit);
}
