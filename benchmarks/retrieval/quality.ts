import { createChunker } from '../../electron/knowledge/chunking/chunker.ts';
import { target } from '../../electron/knowledge/chunking/passage-builder.ts';
import type {
  IndexedPassage,
  IndexHit,
  IndexQuery,
  KnowledgeIndex,
} from '../../electron/knowledge/index/knowledge-index.ts';
import { queryParts } from '../../electron/knowledge/retrieval/query-parts.ts';
import type { TextEmbedder } from '../../electron/knowledge/text-embedder.ts';
import { row, type Row } from '../support/report.ts';
import type { RetrievalQuestion, RetrievalSet } from './corpus.ts';
import { mean, ndcg, recall } from './measures.ts';

const { signal } = new AbortController();
const dataspaceId = 'benchmark';
const depth = 10;
/** The playground's number of hits, so that the lists are read as far. */
const hitsRequested = 20;
const batchSize = 64;
/** A hit with more than this share of an answer contains it. */
const maxAnswerShare = 0.6;

/** The hits of a search, by IDs of passages. */
export interface Answered {
  readonly question: RetrievalQuestion;
  readonly words: readonly string[];
  readonly meaning: readonly string[];
  readonly hybrid: readonly string[];
  /** The two lists combined by reciprocal rank fusion, the usual method; for comparison. */
  readonly byRanks: readonly string[];
  readonly hits: readonly JudgedHit[];
}

export interface JudgedHit extends IndexHit {
  /** IDs of the answers that it contains. */
  readonly answers: readonly string[];
}

type Document = RetrievalSet['passages'][number];

/** Chunks a document like a source; a short one is a single passage. */
function chunk({ title, text }: Document): IndexedPassage[] {
  if (text.length <= target.characters) return [{ text, start: 0, end: text.length, page: null, heading: title }];
  const chunker = createChunker();
  let reached = 0;
  for (const paragraph of text.split('\n\n')) {
    chunker.block('prose', reached, paragraph);
    reached += paragraph.length + 2;
  }
  return chunker
    .finish()
    .map(({ start, end }) => ({ text: text.slice(start, end), start, end, page: null, heading: title }));
}

async function indexDocument(
  { id, passages }: { id: string; passages: readonly IndexedPassage[] },
  vectors: readonly Float32Array[],
  index: KnowledgeIndex,
  model: string,
): Promise<void> {
  const source = { sourceId: id, dataspaceId, revision: '1', embeddingModel: model };
  await index.begin(source, { signal });
  await index.add({ ...source, first: 0, passages, vectors }, { signal });
  await index.finish(source, { signal });
}

/** Indexes every document as a separate source, so that a source identifies a document. */
export async function indexSet(set: RetrievalSet, index: KnowledgeIndex, embedder: TextEmbedder): Promise<void> {
  for (let first = 0; first < set.passages.length; first += batchSize) {
    const documents = set.passages.slice(first, first + batchSize).map((document) => ({
      id: document.id,
      passages: chunk(document),
    }));
    const texts = documents.flatMap(({ passages }) =>
      passages.map(({ heading, text }) => (heading === null ? text : `${heading}\n${text}`)),
    );
    const vectors = await embedder.embed(texts, { signal });
    let taken = 0;
    for (const document of documents) {
      const own = vectors.slice(taken, (taken += document.passages.length));
      await indexDocument(document, own, index, embedder.model);
    }
  }
}

/** Returns the answers to a question that a hit contains. */
function judgeOf({ locations }: RetrievalSet, { relevant }: RetrievalQuestion): (hit: IndexHit) => JudgedHit {
  const isIn = ({ sourceId, start, end }: IndexHit, answer: string) => {
    const location = locations?.get(answer);
    if (!location) return sourceId === answer;
    const shared = Math.min(end, location.end) - Math.max(start, location.start);
    return sourceId === location.within && shared > maxAnswerShare * (location.end - location.start);
  };
  return (hit) => ({ ...hit, answers: [...relevant.keys()].filter((answer) => isIn(hit, answer)) });
}

/** The answers in the order in which they are found, and other hits: a document if answers are whole documents, otherwise a passage. */
function idsOf({ locations }: RetrievalSet, hits: readonly JudgedHit[]): string[] {
  const idOf = ({ sourceId, start }: IndexHit) => (locations ? `${sourceId} at ${start}` : sourceId);
  return [...new Set(hits.flatMap((hit) => (hit.answers.length > 0 ? hit.answers : [idOf(hit)])))];
}

/** Runs every query three times: by words, by meaning and by both. */
export async function askAll(set: RetrievalSet, index: KnowledgeIndex, embedder: TextEmbedder): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const question of set.questions) {
    const partTexts = queryParts(question.text);
    const [vector, ...vectors] = await embedder.embed([question.text, ...partTexts], { signal });
    const embedding = { model: embedder.model, vector: vector! };
    const parts = partTexts.map((text, location) => ({ text, vector: vectors[location]! }));
    const ask = async (query: Pick<IndexQuery, 'text' | 'embedding' | 'parts'>) => {
      const hits = await index.search({ dataspaceIds: [dataspaceId], ...query, limit: hitsRequested }, { signal });
      return hits.map(judgeOf(set, question));
    };
    const hits = await ask({ text: question.text, embedding, parts });
    const words = idsOf(
      set,
      await ask({
        text: question.text,
        embedding: null,
        parts: parts.map(({ text }) => ({ text, vector: null })),
      }),
    );
    const meaning = idsOf(
      set,
      await ask({ text: '', embedding, parts: parts.map((part) => ({ vector: part.vector, text: '' })) }),
    );
    answered.push({
      question,
      words,
      meaning,
      byRanks: fuseByRanks([words, meaning]),
      hybrid: idsOf(set, hits),
      hits,
    });
  }
  return answered;
}

/** The relevance of the best passage for a query; 0 if there is none. */
export async function bestRelevance(text: string, index: KnowledgeIndex, embedder: TextEmbedder): Promise<number> {
  const [vector] = await embedder.embed([text], { signal });
  const embedding = { model: embedder.model, vector: vector! };
  const hits = await index.search({ dataspaceIds: [dataspaceId], text, embedding, limit: 1 }, { signal });
  return hits[0]?.relevance ?? 0;
}

/** Reciprocal rank fusion with its usual constant. */
function fuseByRanks(lists: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    list.forEach((id, location) => scores.set(id, (scores.get(id) ?? 0) + 1 / (60 + location + 1)));
  }
  return [...scores].toSorted((one, other) => other[1] - one[1]).map(([id]) => id);
}

const ways = [
  ['full text', 'words'],
  ['embeddings', 'meaning'],
  ['reciprocal ranks', 'byRanks'],
  ['hybrid', 'hybrid'],
] as const;

/** Figures of all three ways; hybrid should be above the better of the others. */
export function qualityRows(
  answered: readonly Answered[],
  of: string,
  { isAimed = false }: { readonly isAimed?: boolean } = {},
): Row[] {
  return [ndcg, recall].flatMap((measure) => {
    const name = measure === ndcg ? 'nDCG@10' : 'recall@10';
    const figures = ways.map(([title, way]) => ({
      title,
      value: mean(answered.map((one) => measure(one[way], one.question.relevant, depth))),
    }));
    const better = Math.max(figures[0]!.value, figures[1]!.value);
    return figures.map(({ title, value }) =>
      row(`${name}, ${title}, ${of}`, value, '', isAimed && title === 'hybrid' ? { min: better } : {}),
    );
  });
}
