import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKnowledgeIndex } from '../../../../electron/knowledge/index/create-knowledge-index.ts';
import type { KnowledgeIndex } from '../../../../electron/knowledge/index/knowledge-index.ts';
import { createRetrieval, type Retrieval } from '../../../../electron/knowledge/retrieval/create-retrieval.ts';
import type { TextEmbedder } from '../../../../electron/knowledge/text-embedder.ts';

const { signal } = new AbortController();
const text = 'The harbour master keeps the keys.';
let directory: string;
let index: KnowledgeIndex;
let retrieval: Retrieval;
let log: string[];
let embed: TextEmbedder['embed'];
/** Of the source `paged`. */
const pages = [
  { page: 4, start: 0, end: 120 },
  { page: 5, start: 120, end: 300 },
];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'touchstone-retrieval-'));
  index = createKnowledgeIndex({ directory });
  log = [];
  embed = async (texts) => texts.map(() => Float32Array.of(1, 0));
  retrieval = createRetrieval({
    index,
    embedder: () => ({ model: 'm', embed: (texts, options) => embed(texts, options) }),
    sourceName: (id) => ({ known: 'Harbour rules', paged: 'Lighthouse rules' })[id] ?? null,
    pagesOf: async (id) => (id === 'paged' ? pages : null),
    log: (message) => void log.push(message),
  });
  for (const sourceId of ['known', 'deleted']) {
    const source = { sourceId, dataspaceId: 'd', revision: '1', embeddingModel: 'm' };
    const own = `${text} (${sourceId})`;
    const passage = { text: own, start: 10, end: 10 + own.length, page: 2, heading: 'Keys' };
    await index.begin(source, { signal });
    await index.add({ ...source, first: 0, passages: [passage], vectors: [Float32Array.of(1, 0)] }, { signal });
    await index.finish(source, { signal });
  }
});

afterEach(async () => {
  await index.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 20 });
});

const search = (options = { signal }) =>
  retrieval.search({ dataspaceIds: ['d'], text: 'Who has the keys?', limit: 5 }, options);

test('a match has the name of its source, and matches of a just deleted source are left out', async () => {
  expect(await search()).toEqual({
    passages: [
      {
        sourceId: 'known',
        sourceName: 'Harbour rules',
        text: `${text} (known)`,
        heading: 'Keys',
        page: 2,
        start: 10,
        end: 52,
        relevance: expect.closeTo(1, 1),
        textRank: expect.any(Number),
        textScore: expect.any(Number),
        coverage: 1,
        vectorRank: expect.any(Number),
        similarity: expect.closeTo(1, 2),
      },
    ],
    milliseconds: { embedding: expect.any(Number), search: expect.any(Number) },
    keywordOnlyReason: null,
  });
});

/** One passage that starts on page 4, at offset 100, and goes on with the second sentence on page 5. */
async function addPagedPassage() {
  const source = { sourceId: 'paged', dataspaceId: 'e', revision: '1', embeddingModel: 'm' };
  const own = 'The lamp burns oil. The keeper sleeps by day.';
  const passage = { text: own, start: 100, end: 100 + own.length, page: 4, heading: null };
  await index.begin(source, { signal });
  await index.add({ ...source, first: 0, passages: [passage], vectors: [Float32Array.of(1, 0)] }, { signal });
  await index.finish(source, { signal });
}

test.each([
  ['When does the keeper sleep?', 5],
  ['What does the lamp burn?', 4],
  // No word in common: the meaning decides.
  ['At what hour is he in bed?', 5],
])('cites the page with the sentence about %j of a passage across two pages: %i', async (requested, page) => {
  await addPagedPassage();
  embed = async (texts) =>
    texts.map((each) => (/bed|sleeps/.test(each) ? Float32Array.of(1, 0) : Float32Array.of(0.6, 0.8)));
  const { passages } = await retrieval.search({ dataspaceIds: ['e'], text: requested, limit: 5 }, { signal });
  expect(passages.map((each) => each.page)).toEqual([page]);
});

test("cites the page where a passage starts if its sentences can't be compared", async () => {
  await addPagedPassage();
  let calls = 0;
  embed = async (texts) => {
    calls += 1;
    if (calls > 1) throw new Error('no model');
    return texts.map(() => Float32Array.of(1, 0));
  };
  const query = { dataspaceIds: ['e'], text: 'At what hour is he in bed?', limit: 5 };
  const { passages } = await retrieval.search(query, { signal });
  expect(passages.map((each) => each.page)).toEqual([4]);
  expect(log).toEqual(["the page of a passage couldn't be determined; the page where it starts is cited"]);
});

test('searches a question of two parts whole and in its parts', async () => {
  const embedded: string[] = [];
  embed = async (texts) => {
    embedded.push(...texts);
    return texts.map((each) => (each.startsWith('How') ? Float32Array.of(0, 1) : Float32Array.of(1, 0)));
  };
  const requested = 'Who has the keys, and how deep is the harbour?';
  const { passages } = await retrieval.search({ dataspaceIds: ['d'], text: requested, limit: 5 }, { signal });
  expect(embedded).toEqual([requested, 'Who has the keys', 'how deep is the harbour?']);
  expect(passages).toEqual([expect.objectContaining({ sourceId: 'known', coverage: 1 })]);
});

test('searches by keywords alone if embedding fails, which is reported and logged', async () => {
  embed = () => Promise.reject(new Error('no engine'));
  const outcome = await search();
  expect([outcome.passages, outcome.keywordOnlyReason, log]).toEqual([
    [expect.objectContaining({ sourceId: 'known', textRank: expect.any(Number), vectorRank: null, similarity: null })],
    expect.stringContaining('could not run'),
    [expect.stringContaining('by keywords only')],
  ]);
});

test("a search that is aborted during embedding doesn't fall back to keywords", async () => {
  const stopping = new AbortController();
  embed = (_, options) =>
    new Promise((_resolve, reject) =>
      options.signal.addEventListener('abort', () => reject(options.signal.reason as Error)),
    );
  const stopped = expect(search(stopping)).rejects.toMatchObject({ name: 'AbortError' });
  stopping.abort();
  await stopped;
  expect(log).toEqual([]);
});

test('an excerpt has its position in the source, and is the whole passage if embedding fails', async () => {
  const passage = {
    sourceId: 'known',
    sourceName: 'Rules',
    text: 'It opens at nine. It shuts at five.',
    heading: null,
    relevance: 1,
    start: 100,
    end: 135,
  };
  const about = { text: 'When does it shut?', characters: 20 };
  embed = async (texts) => texts.map((one) => Float32Array.of(Number(one.includes('shut')), 0));
  const excerpt = await retrieval.excerpt(passage, about, { signal });
  embed = () => Promise.reject(new Error('no engine'));
  expect([excerpt, await retrieval.excerpt(passage, about, { signal })]).toEqual([
    { ...passage, text: 'It shuts at five.', start: 118, end: 135 },
    passage,
  ]);
});
