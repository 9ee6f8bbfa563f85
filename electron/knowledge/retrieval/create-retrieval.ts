import type { Citation } from '../../../shared/contract/completions.ts';
import type { PassageReference } from '../../../shared/contract/grounding.ts';
import type { Log } from '../../log.ts';
import { queryParts } from './query-parts.ts';
import type { IndexedPassage, IndexHit, KnowledgeIndex } from '../index/knowledge-index.ts';
import type { SourcePage } from '../parsing/parsed-source.ts';
import type { TextEmbedder } from '../text-embedder.ts';
import { sentencesOf } from '../chunking/sentences.ts';
import { stopWords, tokensOf } from '../index/terms.ts';

/** A part of a passage's text; both ends count from the beginning of the text. */
interface TextSpan {
  readonly start: number;
  readonly end: number;
}

function dotProduct(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * other[index]!, 0);
}

/** The weight of matching all words of the query, relative to similarity. */
const wordsWeight = 0.43;

/** The square of the share of the query's words that each text contains. */
function coverageOf(question: string, texts: readonly string[]): number[] {
  const terms = [...tokensOf(question)].filter((word) => !stopWords.has(word));
  return texts.map((text) => {
    const coverage = tokensOf(text);
    return (terms.filter((word) => coverage.has(word)).length / Math.max(1, terms.length)) ** 2;
  });
}

/** Extends a span by its neighbours within the limit, first backwards: the sentence before says what "it" is. */
function widened(sentences: readonly TextSpan[], best: number, characters: number): TextSpan {
  let first = best;
  let last = best;
  const fits = (from: number, to: number) =>
    sentences[from] !== undefined &&
    sentences[to] !== undefined &&
    sentences[to].end - sentences[from].start <= characters;
  for (;;) {
    if (fits(first - 1, last)) first -= 1;
    else if (fits(first, last + 1)) last += 1;
    else return { start: sentences[first]!.start, end: sentences[last]!.end };
  }
}

function spansOf(text: string): TextSpan[] {
  return [...sentencesOf(text)].map((part) => ({ start: part.start, end: part.start + part.text.length }));
}

interface EmbeddingOptions {
  readonly embedder: TextEmbedder;
  readonly signal: AbortSignal;
}

/** The score of each sentence for a query, by meaning and words. */
async function scoresOf(question: string, texts: readonly string[], { embedder, signal }: EmbeddingOptions) {
  const [terms, ...vectors] = await embedder.embed([question, ...texts], { signal });
  const coverage = coverageOf(question, texts);
  return vectors.map((vector, index) => dotProduct(terms!, vector) + wordsWeight * coverage[index]!);
}

const indexOfBest = (scores: readonly number[]) => scores.indexOf(Math.max(...scores));

/**
 * The sentence of a text that a query is about: the one with more of its words than every other, otherwise the nearest by meaning.
 * Rejects with an `AbortError` after an abort.
 */
async function matchingSentence(text: string, question: string, options: EmbeddingOptions): Promise<TextSpan> {
  const sentences = spansOf(text);
  if (sentences.length < 2) return { start: 0, end: text.length };
  const texts = sentences.map(({ start, end }) => text.slice(start, end));
  const coverage = coverageOf(question, texts);
  const [first = 0, second = 0] = coverage.toSorted((one, other) => other - one);
  return sentences[indexOfBest(first > second ? coverage : await scoresOf(question, texts, options))]!;
}

/**
 * The sentences of a text that are nearest to a query in meaning and words, adjacent and within so many characters; a single
 * sentence may be longer. Rejects with an `AbortError` after an abort.
 */
export async function excerptOf(
  text: string,
  question: string,
  characters: number,
  options: EmbeddingOptions,
): Promise<TextSpan> {
  const sentences = spansOf(text);
  if (text.length <= characters || sentences.length < 2) return { start: 0, end: text.length };
  const texts = sentences.map(({ start, end }) => text.slice(start, end));
  return widened(sentences, indexOfBest(await scoresOf(question, texts, options)), characters);
}

/** A passage without its number, which it gets later. */
export interface MatchedPassage extends Omit<Citation, 'index'> {
  readonly heading: string | null;
}

/** A passage of a search, with the values that determine its rank. */
export interface RankedPassage
  extends MatchedPassage, Pick<IndexHit, 'textRank' | 'textScore' | 'coverage' | 'vectorRank' | 'similarity'> {}

export interface SearchOutcome {
  /** Best first. */
  readonly passages: readonly RankedPassage[];
  readonly milliseconds: { readonly embedding: number; readonly search: number };
  /** Why the query couldn't be embedded; null if it was. */
  readonly keywordOnlyReason: string | null;
}

export interface Retrieval {
  /** The best passages of these dataspaces by keywords and meaning, or only by keywords if the query can't be embedded. */
  search(
    query: { readonly dataspaceIds: readonly string[]; readonly text: string; readonly limit: number },
    options: { readonly signal: AbortSignal },
  ): Promise<SearchOutcome>;
  /** The best part of a passage for a query, with about this many characters. The whole passage if embedding fails. */
  excerpt<Passage extends MatchedPassage>(
    passage: Passage,
    about: { readonly text: string; readonly characters: number },
    options: { readonly signal: AbortSignal },
  ): Promise<Passage>;
  /** The referenced passages; null for those that no longer exist. */
  read(
    references: readonly PassageReference[],
    options: { readonly signal: AbortSignal },
  ): Promise<(MatchedPassage | null)[]>;
}

export interface RetrievalOptions {
  readonly index: KnowledgeIndex;
  /** The current embedder. */
  readonly embedder: () => TextEmbedder;
  /** Null for a source that was just deleted. */
  readonly sourceName: (sourceId: string) => string | null;
  /** The pages of a source, in order; null for one without pages. */
  readonly pagesOf: (sourceId: string) => Promise<readonly SourcePage[] | null>;
  readonly log: Log;
}

function citedPassage(
  { sourceId, text, heading, page, start, end }: IndexedPassage & { sourceId: string },
  sourceName: string,
  relevance: number,
): MatchedPassage {
  return { sourceId, sourceName, text, heading, relevance, ...(page === null ? {} : { page }), start, end };
}

/** Max passages across two pages whose sentences are scored, because each can need a dozen embeddings. */
const maxSplitPassages = 8;

/** Turns a matched passage into a citation. */
export function toCitation(passage: Omit<MatchedPassage, 'heading'>, index: number): Citation {
  const { sourceId, sourceName, text, relevance, page, start, end } = passage;
  return { index, sourceId, sourceName, text, relevance, ...(page === undefined ? {} : { page }), start, end };
}

/** The whole query and its parts, with their vectors. */
async function embedQuestion(
  text: string,
  { embedder: { model, embed }, log, signal }: EmbeddingOptions & Pick<RetrievalOptions, 'log'>,
) {
  const parts = queryParts(text);
  try {
    const [vector, ...vectors] = await embed([text, ...parts], { signal, isQuestion: true });
    const withVectors = parts.map((part, position) => ({ text: part, vector: vectors[position]! }));
    return { question: { text, embedding: { model, vector: vector! }, parts: withVectors }, failure: null };
  } catch (error) {
    signal.throwIfAborted();
    log('a query could not be embedded and is searched by keywords only', error);
    const withoutVectors = parts.map((part) => ({ text: part, vector: null }));
    const failure = `The embedding model ${model} could not run.`;
    return { question: { text, embedding: null, parts: withoutVectors }, failure };
  }
}

function rankedPassage(hit: IndexHit, sourceName: string): RankedPassage {
  const { textRank, textScore, coverage, vectorRank, similarity } = hit;
  const ranks = { textRank, textScore, coverage, vectorRank, similarity };
  return { ...citedPassage(hit, sourceName, Number(hit.relevance.toFixed(3))), ...ranks };
}

/** The passages, each with the page of the sentence that answers: a passage that starts at the foot of a page has little text there. */
async function withPages(
  passages: readonly RankedPassage[],
  question: string,
  { embedder, pagesOf, signal }: EmbeddingOptions & Pick<RetrievalOptions, 'pagesOf'>,
) {
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
    const sentence = await matchingSentence(text, question, { embedder, signal });
    const page = touched.findLast((each) => each.start <= start + sentence.start)?.page ?? passage.page;
    result.push({ ...passage, page: page! });
  }
  return result;
}

export function createRetrieval({ index, embedder, sourceName, pagesOf, log }: RetrievalOptions): Retrieval {
  return {
    async search({ dataspaceIds, text, limit }, { signal }) {
      const startedAt = performance.now();
      const { question, failure } = await embedQuestion(text, { embedder: embedder(), log, signal });
      const searchStartedAt = performance.now();
      const hits = await index.search({ dataspaceIds, ...question, limit }, { signal });
      const passages = hits.flatMap((hit) => {
        const name = sourceName(hit.sourceId);
        return name === null ? [] : [rankedPassage(hit, name)];
      });
      const cited = await withPages(passages, text, { embedder: embedder(), pagesOf, signal }).catch(
        (error: unknown) => {
          signal.throwIfAborted();
          log("the page of a passage couldn't be determined; the page where it starts is cited", error);
          return passages;
        },
      );
      const milliseconds = { embedding: searchStartedAt - startedAt, search: performance.now() - searchStartedAt };
      return { passages: cited, milliseconds, keywordOnlyReason: failure };
    },
    async excerpt(passage, { text, characters }, { signal }) {
      try {
        const span = await excerptOf(passage.text, text, characters, { embedder: embedder(), signal });
        const start = passage.start + span.start;
        return { ...passage, text: passage.text.slice(span.start, span.end), start, end: passage.start + span.end };
      } catch (error) {
        signal.throwIfAborted();
        log('a passage could not be shortened and is used whole', error);
        return passage;
      }
    },
    async read(references, options) {
      const found = await index.read(references, options);
      return found.map((passage, position) => {
        const { sourceId } = references[position]!;
        const name = sourceName(sourceId);
        // The user selected the passage, so it counts as relevant.
        return passage && name !== null ? citedPassage({ ...passage, sourceId }, name, 1) : null;
      });
    },
  };
}
