import { rmSync, statSync } from 'node:fs';
import { target } from '../../electron/knowledge/chunking/passage-builder.ts';
import { createKnowledgeIndex } from '../../electron/knowledge/index/create-knowledge-index.ts';
import { indexFile } from '../../electron/knowledge/index/passage-store.ts';
import type { KnowledgeIndex } from '../../electron/knowledge/index/knowledge-index.ts';
import type { TextEmbedder } from '../../electron/knowledge/text-embedder.ts';
import { everydayText } from '../support/everyday-text.ts';
import { median, percentile, row, type Row } from '../support/report.ts';
import { createRandom, createWriter, type SeededRandom } from '../support/text-writer.ts';

const { signal } = new AbortController();
const dataspaceIds = ['d0', 'd1', 'd2', 'd3'];
const dimensions = 384;
const batchSize = 64;
const batchesOfSource = 8;
const warmUps = 100;
const samples = 400;
const megabyte = 1_048_576;

function unitVector(random: SeededRandom): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random.next() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Fills an index with made-up passages of about 150 words and random vectors. The search scores all of them anyway. */
async function fill(index: KnowledgeIndex, count: number, model: string, random: SeededRandom): Promise<void> {
  const writer = createWriter(random);
  for (let done = 0, number = 0; done < count; number += 1) {
    const source = {
      sourceId: `source-${number}`,
      dataspaceId: dataspaceIds[number % dataspaceIds.length]!,
      revision: '1',
      embeddingModel: model,
    };
    await index.begin(source, { signal });
    for (let first = 0; first < batchSize * batchesOfSource && done < count; first += batchSize, done += batchSize) {
      const passages = Array.from({ length: batchSize }, (_, offset) => {
        const start = (first + offset) * 1000;
        const text = `${writer.answer()} ${writer.answer()}`;
        return { text, start, end: start + text.length, page: null, heading: null };
      });
      await index.add({ ...source, first, passages, vectors: passages.map(() => unitVector(random)) }, { signal });
    }
    await index.finish(source, { signal });
  }
}

interface Timed {
  readonly search: number[];
  readonly whole: number[];
  /** Processor time of each search, in all threads: separates work from waiting on a busy machine. */
  readonly processor: number[];
}

interface SpeedQuery {
  readonly spaces: readonly string[];
  /** Number of queries in each text. */
  readonly parts?: number;
}

async function timeSearches(
  index: KnowledgeIndex,
  embedder: TextEmbedder,
  { spaces, parts: count = 1 }: SpeedQuery,
): Promise<Timed> {
  const writer = createWriter(createRandom(11));
  const search: number[] = [];
  const whole: number[] = [];
  const processor: number[] = [];
  for (let run = 0; run < warmUps + samples; run += 1) {
    const questions = Array.from({ length: count }, () => writer.remark());
    const text = questions.join(' ');
    const startedAt = performance.now();
    const [vector, ...vectors] = await embedder.embed(count === 1 ? [text] : [text, ...questions], { signal });
    const parts = vectors.map((each, number) => ({ text: questions[number]!, vector: each }));
    const embedded = performance.now();
    const usage = process.cpuUsage();
    await index.search(
      { dataspaceIds: spaces, text, embedding: { model: embedder.model, vector: vector! }, parts, limit: 10 },
      { signal },
    );
    if (run < warmUps) continue;
    search.push(performance.now() - embedded);
    whole.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(usage);
    processor.push((user + system) / 1000);
  }
  return { search, whole, processor };
}

/** Embeds and indexes real passages. */
async function indexingRate(index: KnowledgeIndex, embedder: TextEmbedder): Promise<number> {
  const source = { sourceId: 'rate', dataspaceId: 'rate', revision: '1', embeddingModel: embedder.model };
  const count = 512;
  await index.begin(source, { signal });
  const startedAt = performance.now();
  for (let first = 0; first < count; first += batchSize) {
    const texts = Array.from({ length: batchSize }, (_, offset) => everydayText(target.characters, first + offset));
    const vectors = await embedder.embed(texts, { signal });
    const passages = texts.map((text) => ({ text, start: 0, end: text.length, page: null, heading: null }));
    await index.add({ ...source, first, passages, vectors }, { signal });
  }
  await index.finish(source, { signal });
  return (count * 1000) / (performance.now() - startedAt);
}

/** Times, memory and size with so many passages; removes the index from `directory` afterwards. */
export async function speedRows(directory: string, count: number, embedder: TextEmbedder): Promise<Row[]> {
  let index = createKnowledgeIndex({ directory });
  const rate = await indexingRate(index, embedder);
  const filled = performance.now();
  await fill(index, count, embedder.model, createRandom(3));
  const written = (count * 1000) / (performance.now() - filled);
  await index.close();
  const before = process.memoryUsage().rss;
  const opened = performance.now();
  index = createKnowledgeIndex({ directory });
  await index.search({ dataspaceIds, text: 'first', embedding: null, limit: 1 }, { signal });
  const opening = performance.now() - opened;
  const all = await timeSearches(index, embedder, { spaces: dataspaceIds });
  const one = await timeSearches(index, embedder, { spaces: dataspaceIds.slice(0, 1) });
  const twoParts = await timeSearches(index, embedder, { spaces: dataspaceIds, parts: 2 });
  const memory = process.memoryUsage().rss - before;
  await index.close();
  const { size } = statSync(indexFile(directory));
  rmSync(indexFile(directory));
  const named = `${count.toLocaleString('en')} passages`;
  return [
    row(`embedding and indexing, passages of ${target.characters} characters`, rate, '/s', { min: 60 }),
    row('indexing without embedding', written, '/s'),
    row(`${named}: first answer after a start`, opening, 'ms'),
    row(`${named}: search, p50`, median(all.search), 'ms'),
    row(`${named}: search, p99`, percentile(all.search, 0.99), 'ms', { max: 50 }),
    row(`${named}: search in a quarter of them, p99`, percentile(one.search, 0.99), 'ms', { max: 50 }),
    row(`${named}: search for a question of two parts, p50`, median(twoParts.search), 'ms'),
    row(`${named}: search for a question of two parts, p99`, percentile(twoParts.search, 0.99), 'ms', { max: 50 }),
    row(`${named}: search with embedding of the question, p50`, median(all.whole), 'ms'),
    row(`${named}: search with embedding of the question, p99`, percentile(all.whole, 0.99), 'ms'),
    row(`${named}: search, processor time, p50`, median(all.processor), 'ms'),
    row(`${named}: search, processor time, p99`, percentile(all.processor, 0.99), 'ms', { max: 50 }),
    row(`${named}: memory for searching`, memory / megabyte, 'MB', { max: 400 }),
    row(`${named}: file`, size / megabyte, 'MB'),
  ];
}
