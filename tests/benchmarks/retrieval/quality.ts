import type { IndexHit, KnowledgeIndex } from '../../../electron/knowledge/index/knowledge-index.ts';
import type { TextEmbedder } from '../../../electron/knowledge/text-embedder.ts';
import { row, type Row } from '../support/report.ts';
import type { RetrievalQuestion, RetrievalSet } from './corpus.ts';
import { mean, ndcg, recall } from './measures.ts';

const { signal } = new AbortController();
const dataspaceId = 'benchmark';
const depth = 10;
const batchSize = 64;

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

/** Indexes every passage as a source of its own, so that its id is told by its source. */
export async function indexSet(set: RetrievalSet, index: KnowledgeIndex, embedder: TextEmbedder): Promise<void> {
  for (let first = 0; first < set.passages.length; first += batchSize) {
    const batch = set.passages.slice(first, first + batchSize);
    const texts = batch.map(({ title, text }) => (title === null ? text : `${title}\n${text}`));
    const vectors = await embedder.embed(texts, { signal });
    for (const [place, { id, title, text }] of batch.entries()) {
      const source = { sourceId: id, dataspaceId, revision: '1', embeddingModel: embedder.model };
      const passage = { text, start: 0, end: text.length, page: null, heading: title };
      await index.begin(source, { signal });
      await index.add({ ...source, first: 0, passages: [passage], vectors: [vectors[place]!] }, { signal });
      await index.finish(source, { signal });
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
    const ids = (hits: readonly IndexHit[]) => hits.map(({ sourceId }) => sourceId);
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
