import { createCutter } from '../../../electron/knowledge/cutting/cutter.ts';
import type { IndexedPassage, IndexHit, KnowledgeIndex } from '../../../electron/knowledge/index/knowledge-index.ts';
import type { TextEmbedder } from '../../../electron/knowledge/text-embedder.ts';
import { row, type Row } from '../support/report.ts';
import type { RetrievalQuestion, RetrievalSet } from './corpus.ts';
import { mean, ndcg, recall } from './measures.ts';

const { signal } = new AbortController();
const dataspaceId = 'benchmark';
const depth = 10;
const batchSize = 64;
/** Characters; about what the embedding model reads. */
const longestPassage = 1000;

/** What a search found for a question, by ids of passages. */
export interface Answered {
  readonly question: RetrievalQuestion;
  readonly words: readonly string[];
  readonly meaning: readonly string[];
  readonly hybrid: readonly string[];
  /** The two lists fused by reciprocal rank, as most do; for comparison. */
  readonly byRanks: readonly string[];
  readonly hits: readonly (IndexHit & { readonly id: string })[];
}

type Document = RetrievalSet['passages'][number];

/** A document as sources are cut; short ones are a passage as they stand. */
function cut({ title, text }: Document): IndexedPassage[] {
  if (text.length <= longestPassage) return [{ text, start: 0, end: text.length, page: null, heading: title }];
  const cutter = createCutter();
  cutter.block('prose', 0, text);
  return cutter
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

/** Indexes every document as a source of its own, so that its id is told by its source. */
export async function indexSet(set: RetrievalSet, index: KnowledgeIndex, embedder: TextEmbedder): Promise<void> {
  for (let first = 0; first < set.passages.length; first += batchSize) {
    const documents = set.passages.slice(first, first + batchSize).map((document) => ({
      id: document.id,
      passages: cut(document),
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

/** Asks every question three times: by words, by meaning and by both. */
export async function askAll(set: RetrievalSet, index: KnowledgeIndex, embedder: TextEmbedder): Promise<Answered[]> {
  const answered: Answered[] = [];
  const vectors = await embedder.embed(
    set.questions.map(({ text }) => text),
    { signal },
  );
  for (const [place, question] of set.questions.entries()) {
    const embedding = { model: embedder.model, vector: vectors[place]! };
    const ask = (text: string, asked: typeof embedding | null) =>
      index.search({ dataspaceIds: [dataspaceId], text, embedding: asked, limit: 100 }, { signal });
    // A document is as good as its best passage.
    const ids = (hits: readonly IndexHit[]) => [...new Set(hits.map(({ sourceId }) => sourceId))];
    const hybrid = await ask(question.text, embedding);
    const words = ids(await ask(question.text, null));
    const meaning = ids(await ask('', embedding));
    answered.push({
      question,
      words,
      meaning,
      byRanks: fuseByRanks([words, meaning]),
      hybrid: ids(hybrid),
      hits: hybrid.map((hit) => ({ ...hit, id: hit.sourceId })),
    });
  }
  return answered;
}

/** Reciprocal rank fusion with its usual constant. */
function fuseByRanks(lists: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    list.forEach((id, place) => scores.set(id, (scores.get(id) ?? 0) + 1 / (60 + place + 1)));
  }
  return [...scores].toSorted((one, other) => other[1] - one[1]).map(([id]) => id);
}

const ways = [
  ['full text', 'words'],
  ['embeddings', 'meaning'],
  ['reciprocal ranks', 'byRanks'],
  ['hybrid', 'hybrid'],
] as const;

/** Figures of all three ways; hybrid is to be above the better of the others. */
export function qualityRows(
  answered: readonly Answered[],
  of: string,
  { isAimed = false }: { readonly isAimed?: boolean } = {},
): Row[] {
  return [ndcg, recall].flatMap((measure) => {
    const name = measure === ndcg ? 'nDCG@10' : 'recall@10';
    const figures = ways.map(([title, way]) => ({
      title,
      value: mean(answered.map((asked) => measure(asked[way], asked.question.relevant, depth))),
    }));
    const better = Math.max(figures[0]!.value, figures[1]!.value);
    return figures.map(({ title, value }) =>
      row(`${name}, ${title}, ${of}`, value, '', isAimed && title === 'hybrid' ? { atLeast: better } : {}),
    );
  });
}
