import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createKnowledgeIndex } from '../../../../electron/knowledge/index/create-knowledge-index.ts';
import { IndexEngine } from '../../../../electron/knowledge/index/index-engine.ts';
import { indexFile } from '../../../../electron/knowledge/index/passage-store.ts';
import type { PassageBatch } from '../../../../electron/knowledge/index/knowledge-index.ts';
import { wordsInFiles } from '../../../support/words-in-files.ts';
import { temporaryDirectory } from '../../storage/test-storage.ts';

const { signal } = new AbortController();
const patience = { timeout: 60_000, interval: 100 };

/** Words of which none begins as another one does: only such a word stands whole in the index. */
const removed = ['quagmirenine', 'xylophoneseven'];
const stored = ['jackdawthree', 'kettledrumfiv'];
const all = [...removed, ...stored];

/** A source of passages that each have a word in their text and one in their heading. */
function batchOf(sourceId: string, [word, headed]: readonly string[], passages: number): PassageBatch {
  return {
    sourceId,
    revision: '1',
    first: 0,
    passages: Array.from({ length: passages }, (_, position) => ({
      text: `${word} ${Array.from({ length: 60 }, (_word, number) => `${word}${position}x${number}`).join(' ')}`,
      start: position * 1000,
      end: position * 1000 + 900,
      page: null,
      heading: headed!,
    })),
    vectors: null,
  };
}

const source = (sourceId: string) => ({ sourceId, dataspaceId: 'd', revision: '1', embeddingModel: null });

test.each([
  ['some sources', ['old'], stored],
  ['all sources', ['old', 'young'], []],
])('after the removal of %s no file contains their words, while the index is in use', async (_, ids, left) => {
  const directory = temporaryDirectory();
  const index = createKnowledgeIndex({ directory });
  onTestFinished(() => index.close());
  for (const [id, words] of [['old', removed] as const, ['young', stored] as const]) {
    await index.begin(source(id), { signal });
    await index.add(batchOf(id, words, 30), { signal });
    await index.finish(source(id), { signal });
  }
  expect(await wordsInFiles(directory, all)).toEqual(all);
  await index.removeSources(ids);
  await vi.waitFor(async () => expect(await wordsInFiles(directory, all)).toEqual(left), patience);
  const hits = await index.search({ dataspaceIds: ['d'], text: stored[0]!, embedding: null, limit: 50 }, { signal });
  expect(hits).toHaveLength(left.length === 0 ? 0 : 30);
});

test('an interrupted erasure continues at the next start', async () => {
  const directory = temporaryDirectory();
  const engine = new IndexEngine(directory);
  for (const [id, words] of [['old', removed] as const, ['young', stored] as const]) {
    engine.begin(source(id));
    engine.add(batchOf(id, words, 400));
    engine.finish(source(id));
  }
  engine.removeSources(['old']);
  while (engine.purge());
  expect(engine.erase()).toBe(true);
  engine.close();
  expect(await wordsInFiles(directory, all)).toEqual(all);

  const index = createKnowledgeIndex({ directory });
  onTestFinished(() => index.close());
  expect(await index.sources()).toMatchObject([{ sourceId: 'young', passages: 400 }]);
  await vi.waitFor(async () => expect(await wordsInFiles(directory, all)).toEqual(stored), patience);
});

test('a search works while nothing can be deleted, as on a full disk, and the deletion continues later', async () => {
  const directory = temporaryDirectory();
  const engine = new IndexEngine(directory);
  for (const [id, words] of [['old', removed] as const, ['young', stored] as const]) {
    engine.begin(source(id));
    engine.add(batchOf(id, words, 3));
    engine.finish(source(id));
  }
  engine.removeSources(['old']);
  engine.close();
  const file = new Database(indexFile(directory));
  onTestFinished(() => void file.close());
  file.exec("CREATE TRIGGER full BEFORE DELETE ON passages BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END");
  const passages = file.prepare('SELECT count(*) FROM passages').pluck();

  const index = createKnowledgeIndex({ directory });
  onTestFinished(() => index.close());
  const search = () => index.search({ dataspaceIds: ['d'], text: stored[0]!, embedding: null, limit: 50 }, { signal });
  for (let count = 0; count < 20; count += 1) expect(await search()).toHaveLength(3);
  expect(passages.get()).toBe(6);
  file.exec('DROP TRIGGER full');
  await vi.waitFor(async () => {
    await search();
    expect(passages.get()).toBe(3);
  }, patience);
});
