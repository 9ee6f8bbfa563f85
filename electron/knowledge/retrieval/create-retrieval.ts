import type { Citation } from '../../../shared/contract/completions.ts';
import type { PassageReference } from '../../../shared/contract/grounding.ts';
import type { Log } from '../../log.ts';
import { excerptOf, matchingSentence } from './excerpt.ts';
import { questionParts } from './question-parts.ts';
import type { IndexedPassage, IndexHit, KnowledgeIndex } from '../index/knowledge-index.ts';
import type { SourcePage } from '../parsing/parsed-source.ts';
import type { TextEmbedder } from '../text-embedder.ts';

/** A passage without its number, which it gets where it is given or listed. */
export interface FoundPassage extends Omit<Citation, 'index'> {
  readonly heading: string | null;
}

/** A passage that a search has found, with what its place came from. */
export interface RankedPassage
  extends FoundPassage, Pick<IndexHit, 'textRank' | 'textScore' | 'coverage' | 'vectorRank' | 'similarity'> {}

export interface SearchOutcome {
  /** Best first. */
  readonly passages: readonly RankedPassage[];
  readonly milliseconds: { readonly embedding: number; readonly search: number };
  /** Why no embedding of the question could be made; null when there is one. */
  readonly wordsAloneBecause: string | null;
}

export interface Retrieval {
  /** The passages of these dataspaces that answer a text best, by words and by meaning; by words alone when embeddings cannot be made. */
  search(
    query: { readonly dataspaceIds: readonly string[]; readonly text: string; readonly limit: number },
    options: { readonly signal: AbortSignal },
  ): Promise<SearchOutcome>;
  /** The part of a passage that is nearest to a question, within about so many characters; the whole one when embeddings cannot be made. */
  excerpt<Passage extends FoundPassage>(
    passage: Passage,
    about: { readonly text: string; readonly characters: number },
    options: { readonly signal: AbortSignal },
  ): Promise<Passage>;
  /** The passages that hold these places; null where there is none any more. */
  read(
    references: readonly PassageReference[],
    options: { readonly signal: AbortSignal },
  ): Promise<(FoundPassage | null)[]>;
}

export interface RetrievalOptions {
  readonly index: KnowledgeIndex;
  /** The present one. */
  readonly embedder: () => TextEmbedder;
  /** Null for a source that was deleted a moment ago. */
  readonly sourceName: (sourceId: string) => string | null;
  /** The pages of a source, in order; null for one without pages. */
  readonly pagesOf: (sourceId: string) => Promise<readonly SourcePage[] | null>;
  readonly log: Log;
}

function citedPassage(
  { sourceId, text, heading, page, start, end }: IndexedPassage & { sourceId: string },
  sourceName: string,
  relevance: number,
): FoundPassage {
  return { sourceId, sourceName, text, heading, relevance, ...(page === null ? {} : { page }), start, end };
}

/** Passages over two pages that are looked at sentence by sentence, as each may take an embedding of a dozen sentences. */
const maxSplitPassages = 8;

/** A found passage as it is cited. */
export function toCitation(passage: Omit<FoundPassage, 'heading'>, index: number): Citation {
  const { sourceId, sourceName, text, relevance, page, start, end } = passage;
  return { index, sourceId, sourceName, text, relevance, ...(page === undefined ? {} : { page }), start, end };
}

export function createRetrieval({ index, embedder, sourceName, pagesOf, log }: RetrievalOptions): Retrieval {
  /** The question as it is searched: whole and in its parts, with their vectors. */
  async function embedded(text: string, signal: AbortSignal) {
    const { model, embed } = embedder();
    const parts = questionParts(text);
    try {
      const [vector, ...vectors] = await embed([text, ...parts], { signal, isQuestion: true });
      const withVectors = parts.map((part, place) => ({ text: part, vector: vectors[place]! }));
      return { question: { text, embedding: { model, vector: vector! }, parts: withVectors }, failure: null };
    } catch (error) {
      signal.throwIfAborted();
      log('a question could not be embedded and is searched by its words alone', error);
      const withoutVectors = parts.map((part) => ({ text: part, vector: null }));
      const failure = `The embedding model ${model} could not run.`;
      return { question: { text, embedding: null, parts: withoutVectors }, failure };
    }
  }

  /** The passages, each with the page that holds the sentence asked about: one that starts at the foot of a page says little there. */
  async function withPages(passages: readonly RankedPassage[], question: string, signal: AbortSignal) {
    const known = new Map<string, ReturnType<typeof pagesOf>>();
    const result: RankedPassage[] = [];
    let split = 0;
    for (const passage of passages) {
      const { sourceId, text, start, end } = passage;
      if (passage.page !== undefined && !known.has(sourceId)) known.set(sourceId, pagesOf(sourceId));
      const touched = (await known.get(sourceId))?.filter((page) => page.start < end && page.end > start) ?? [];
      if (touched.length < 2 || split === maxSplitPassages) {
        result.push(passage);
        continue;
      }
      split += 1;
      const sentence = await matchingSentence(text, question, { embedder: embedder(), signal });
      const page = touched.findLast((each) => each.start <= start + sentence.start)?.page ?? passage.page;
      result.push({ ...passage, page: page! });
    }
    return result;
  }

  return {
    async search({ dataspaceIds, text, limit }, { signal }) {
      const begun = performance.now();
      const { question, failure } = await embedded(text, signal);
      const searchBegun = performance.now();
      const hits = await index.search({ dataspaceIds, ...question, limit }, { signal });
      const passages = hits.flatMap((hit): RankedPassage[] => {
        const name = sourceName(hit.sourceId);
        if (name === null) return [];
        const { textRank, textScore, coverage, vectorRank, similarity } = hit;
        const ranks = { textRank, textScore, coverage, vectorRank, similarity };
        return [{ ...citedPassage(hit, name, Number(hit.relevance.toFixed(3))), ...ranks }];
      });
      const cited = await withPages(passages, text, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        log("the page of a passage couldn't be determined; the page where it starts is cited", error);
        return passages;
      });
      const milliseconds = { embedding: searchBegun - begun, search: performance.now() - searchBegun };
      return { passages: cited, milliseconds, wordsAloneBecause: failure };
    },
    async excerpt(passage, { text, characters }, { signal }) {
      try {
        const span = await excerptOf(passage.text, text, characters, { embedder: embedder(), signal });
        const start = passage.start + span.start;
        return { ...passage, text: passage.text.slice(span.start, span.end), start, end: passage.start + span.end };
      } catch (error) {
        signal.throwIfAborted();
        log('a passage could not be shortened and is given whole', error);
        return passage;
      }
    },
    async read(references, options) {
      const found = await index.read(references, options);
      return found.map((passage, place) => {
        const { sourceId } = references[place]!;
        const name = sourceName(sourceId);
        // Whoever names a passage finds it relevant.
        return passage && name !== null ? citedPassage({ ...passage, sourceId }, name, 1) : null;
      });
    },
  };
}
