// @module-tag slow
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKnowledgeIndex } from '../../../../electron/knowledge/index/create-knowledge-index.ts';
import { indexFile } from '../../../../electron/knowledge/index/passage-store.ts';
import type { IndexedPassage, KnowledgeIndex } from '../../../../electron/knowledge/index/knowledge-index.ts';

const { signal } = new AbortController();
const model = 'test/4';
let directory: string;
let index: KnowledgeIndex;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'touchstone-index-'));
  index = createKnowledgeIndex({ directory });
});

afterEach(async () => {
  await index.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 20 });
});

async function reopen(): Promise<void> {
  await index.close();
  index = createKnowledgeIndex({ directory });
}

function passagesOf(texts: readonly string[]): IndexedPassage[] {
  return texts.map((text, offset) => ({
    text,
    start: offset * 1000,
    end: offset * 1000 + text.length,
    page: null,
    heading: null,
  }));
}

/** A direction of its own for each number. */
function vector(offset: number): Float32Array {
  const angle = offset / 10;
  return Float32Array.of(Math.cos(angle), Math.sin(angle), 0, 0);
}

interface Written {
  readonly sourceId?: string;
  readonly dataspaceId?: string;
  readonly revision?: string;
  readonly embeddingModel?: string | null;
}

async function write(texts: readonly string[], written: Written = {}, isFinished = true): Promise<void> {
  const source = { sourceId: 'a', dataspaceId: 'd', revision: '1', embeddingModel: model, ...written };
  await index.begin(source, { signal });
  const vectors = source.embeddingModel === null ? null : texts.map((_, offset) => vector(offset));
  await index.add({ ...source, first: 0, passages: passagesOf(texts), vectors }, { signal });
  if (isFinished) await index.finish(source, { signal });
}

const byWords = async (text: string, dataspaceIds = ['d'], limit = 10) =>
  (await index.search({ dataspaceIds, text, embedding: null, limit }, { signal })).map((hit) => hit.text);

const byMeaning = async (offset: number, embeddingModel = model) =>
  (
    await index.search(
      { dataspaceIds: ['d'], text: '', embedding: { model: embeddingModel, vector: vector(offset) }, limit: 3 },
      { signal },
    )
  ).map((hit) => hit.text);

describe('a source', () => {
  test('is found by words and by meaning once it is finished, and not before', async () => {
    await write(['the red fox', 'a blue whale'], {}, false);
    const before = [await byWords('fox'), await byMeaning(0)];
    await index.finish({ sourceId: 'a', revision: '1' }, { signal });
    expect({ before, after: [await byWords('fox'), await byMeaning(0)] }).toEqual({
      before: [[], []],
      after: [['the red fox'], ['the red fox', 'a blue whale']],
    });
  });

  test('is replaced in one step: until a new revision is finished, searches find the old one', async () => {
    await write(['the red fox']);
    await write(['the red panda'], { revision: '2' }, false);
    const during = await byWords('red');
    await index.finish({ sourceId: 'a', revision: '2' }, { signal });
    expect({ during, after: await byWords('red'), fox: await byWords('fox') }).toEqual({
      during: ['the red fox'],
      after: ['the red panda'],
      fox: [],
    });
  });

  test('is found by words that were searched before it had them', async () => {
    await write(Array.from({ length: 40 }, (_, number) => `Passage ${number} about the weather.`));
    expect([await byWords('fox'), await byWords('panda')]).toEqual([[], []]);
    await write(['the red fox'], { sourceId: 'b' });
    expect(await byWords('fox')).toEqual(['the red fox']);
    await write(['the red panda'], { sourceId: 'b', revision: '2' });
    expect(await byWords('panda')).toEqual(['the red panda']);
  });

  test('resumes where it was interrupted, also after a restart, and writes nothing twice', async () => {
    await write(['one fish', 'two fish'], {}, false);
    await reopen();
    const source = { sourceId: 'a', dataspaceId: 'd', revision: '1', embeddingModel: model };
    const opened = await index.begin(source, { signal });
    const passages = passagesOf(['one fish', 'two fish', 'red fish']);
    await index.add(
      { ...source, first: 0, passages, vectors: passages.map((_, offset) => vector(offset)) },
      { signal },
    );
    expect({ opened, finished: await index.finish(source, { signal }), found: await byWords('fish') }).toEqual({
      opened: { passages: 2 },
      finished: { passages: 3 },
      found: ['one fish', 'two fish', 'red fish'],
    });
  });

  test('disappears at once when it is removed, and so does its dataspace, with unfinished revisions', async () => {
    await write(['apple'], { sourceId: 'a' });
    await write(['apple tree'], { sourceId: 'b' });
    await write(['apple pie'], { sourceId: 'c', dataspaceId: 'e' });
    await write(['apple juice'], { sourceId: 'f', dataspaceId: 'e' }, false);
    await index.removeSources(['a', 'unknown']);
    const withoutSource = await byWords('apple', ['d', 'e']);
    await index.removeDataspace('e');
    const left = await index.sources();
    await reopen();
    expect({ withoutSource, left, reopened: await index.sources(), found: await byWords('apple', ['d', 'e']) }).toEqual(
      {
        withoutSource: ['apple tree', 'apple pie'],
        left: [expect.objectContaining({ sourceId: 'b', isFinished: true, passages: 1 })],
        reopened: left,
        found: ['apple tree'],
      },
    );
  });

  test('cannot be written to after it was removed', async () => {
    await write(['apple'], {}, false);
    await index.removeSources(['a']);
    await expect(
      index.add(
        { sourceId: 'a', revision: '1', first: 1, passages: passagesOf(['pear']), vectors: [vector(0)] },
        { signal },
      ),
    ).rejects.toThrow('not open');
  });

  test.each([
    ['of another length', Float32Array.of(1, 0, 0)],
    ['with something else than numbers', Float32Array.of(Number.NaN, 0, 0, 0)],
  ])('rejects a vector %s completely, and can be written again', async (_, wrong) => {
    await write(['apple'], { sourceId: 'other' });
    const source = { sourceId: 'a', dataspaceId: 'd', revision: '1', embeddingModel: model };
    await index.begin(source, { signal });
    const passages = passagesOf(['pear', 'plum']);
    await expect(index.add({ ...source, first: 0, passages, vectors: [vector(0), wrong] }, { signal })).rejects.toThrow(
      'A vector has',
    );
    await index.add({ ...source, first: 0, passages, vectors: [vector(0), vector(1)] }, { signal });
    await index.finish(source, { signal });
    expect([await byWords('apple pear plum'), await byMeaning(1)]).toEqual([
      expect.arrayContaining(['apple', 'pear', 'plum']),
      ['plum', 'apple', 'pear'],
    ]);
  });

  test.each([false, true])(
    'with longer vectors than others of its model is found by meaning (restarted: %s)',
    async (isRestarted) => {
      await write(['apple'], { sourceId: 'other' });
      const source = { sourceId: 'a', dataspaceId: 'd', revision: '1', embeddingModel: model };
      await index.begin(source, { signal });
      const longVector = Float32Array.of(0, 0, 0, 0, 1, 0);
      await index.add({ ...source, first: 0, passages: passagesOf(['pear']), vectors: [longVector] }, { signal });
      await index.finish(source, { signal });
      if (isRestarted) await reopen();
      const query = { dataspaceIds: ['d'], text: '', embedding: { model, vector: longVector }, limit: 3 };
      const hits = await index.search(query, { signal });
      expect([hits.map(({ text }) => text), await byMeaning(0)]).toEqual([['pear'], ['apple']]);
    },
  );

  test('lists its passages page by page and by position', async () => {
    await write(['one', 'two', 'three']);
    const page = await index.passages({ sourceId: 'a', first: 1, limit: 5 }, { signal });
    const read = await index.read(
      [
        { sourceId: 'a', start: 1000, end: 1003 },
        { sourceId: 'a', start: 1001, end: 1002 },
        { sourceId: 'a', start: 1001, end: 1004 },
        { sourceId: 'b', start: 0, end: 3 },
      ],
      { signal },
    );
    const two = { text: 'two', start: 1000, end: 1003, page: null, heading: null };
    expect({ page, read }).toEqual({
      page: [
        { position: 1, text: 'two', start: 1000, end: 1003, page: null, heading: null },
        { position: 2, text: 'three', start: 2000, end: 2005, page: null, heading: null },
      ],
      read: [two, two, null, null],
    });
  });
});

describe('a search', () => {
  test('covers only its dataspaces', async () => {
    await write(['apple'], { sourceId: 'a', dataspaceId: 'd' });
    await write(['apple pie'], { sourceId: 'b', dataspaceId: 'e' });
    expect([await byWords('apple', ['e']), await byWords('apple', []), await byWords('apple', ['nowhere'])]).toEqual([
      ['apple pie'],
      [],
      [],
    ]);
  });

  test('finds passages by words that another dataspace has often, or that are rarer in it', async () => {
    const often = (count: number, text: string) => Array.from({ length: count }, (_, number) => `${text} ${number}`);
    const elsewhere = [...often(8500, 'invoice of the customer'), ...often(4500, 'the courier')];
    await write(elsewhere, { sourceId: 'a', dataspaceId: 'large', embeddingModel: null });
    await write(['the invoice of a customer'], { sourceId: 'b', embeddingModel: null });
    const found = await Promise.all(['invoice', 'invoice customer', 'invoice courier'].map((text) => byWords(text)));
    expect(found.map((texts) => texts.length)).toEqual([1, 1, 1]);
  });

  test('compares only vectors of its own model, and finds the others by keywords', async () => {
    await write(['apple'], { sourceId: 'a', embeddingModel: 'other/4' });
    await write(['pear'], { sourceId: 'b', embeddingModel: null });
    expect([await byMeaning(0), await byMeaning(0, 'other/4'), await byWords('apple pear')]).toEqual([
      [],
      ['apple'],
      expect.arrayContaining(['apple', 'pear']),
    ]);
  });

  test.each([
    ['the endings of English words', 'running databases', 'He runs a database'],
    ['accents and capitals', 'RESUME cafe', 'A résumé for the café'],
    ['codes as they are written', 'Where is AX-200.7?', 'Order number AX-200.7 was sent'],
    ['Chinese without spaces', '东京的天气', '我想知道东京的天气怎么样'],
    ['Thai without spaces', 'ภาษาไทย', 'ฉันเรียนภาษาไทยทุกวัน'],
    ['a Latin name within Chinese', '如何设置DKIM记录', 'DKIM 的配置在域名面板里完成'],
    ['Korean in another Unicode form', '한국어'.normalize('NFD'), '이것은 한국어 문장'],
    ['Cyrillic in another Unicode form', 'йод'.normalize('NFD'), 'йод и соль'],
    ['full-width letters', 'ABC', 'Ｔｈｅ ＡＢＣ ｔｅａｍ'],
    ['half-width katakana', 'コーヒー', '熱いｺｰﾋｰを飲む'],
    ['Arabic with vowels', 'محمد', 'هذا مُحَمَّد هنا'],
    ['Hebrew with vowels', 'חתול', 'זה חָתוּל קטן'],
    ['a part of a Hebrew compound', 'ספר', 'זה בית־ספר גדול'],
    ['Greek capitals', 'ΟΔΟΣ', 'η οδός αυτή'],
  ])('finds %s by keywords', async (_, question, passage) => {
    await write(['Nothing of the kind', passage, 'Something else entirely']);
    expect(await byWords(question)).toEqual([passage]);
  });

  test('finds Thai words by adjacent letters, not by single ones', async () => {
    await write(['นักเรียนไปเที่ยว', 'ขายที่ดินแปลงนี้']);
    expect(await byWords('ที่ดิน')).toEqual(['ขายที่ดินแปลงนี้']);
  });

  test('reads any input as plain words', async () => {
    await write(['the red fox']);
    const typed = [
      '"',
      'a AND',
      'NEAR(',
      '(((',
      'title:',
      '*',
      '-',
      '^x OR',
      "'; DROP TABLE passages; --",
      '\u0000',
      '🦊',
      '',
    ];
    for (const text of typed) {
      expect([text, await byWords(`${text} fox`)]).toEqual([text, ['the red fox']]);
      await expect(byWords(text)).resolves.toBeInstanceOf(Array);
    }
  });

  test("ranks rare words above frequent ones, and returns the share of the query's words in a passage", async () => {
    await write([...Array.from({ length: 30 }, (_, offset) => `the pump number ${offset}`), 'the pump gasket']);
    const [first, second] = await index.search(
      { dataspaceIds: ['d'], text: 'Which gasket has the pump?', embedding: null, limit: 2 },
      { signal },
    );
    expect([first, second]).toEqual([
      expect.objectContaining({
        text: 'the pump gasket',
        textRank: 1,
        vectorRank: null,
        coverage: 1,
        similarity: null,
      }),
      expect.objectContaining({ textRank: 2, coverage: expect.closeTo(0.01, 1) }),
    ]);
  });

  test('finds other passages behind many copies of one', async () => {
    for (let copy = 0; copy < 130; copy += 1) await write(['The pump gasket leaks.'], { sourceId: `copy ${copy}` });
    const other = 'The gasket of the pump is replaced every year by the people who look after the machines.';
    await write(['nothing of this kind', other], { sourceId: 'manual' });
    expect(await byWords('pump gasket')).toEqual(['The pump gasket leaks.', other]);
    expect(await byMeaning(0)).toEqual(['The pump gasket leaks.', 'nothing of this kind', other]);
  });

  test('finds the answer to one of several questions as well as for that question alone, each passage once', async () => {
    await write(['the gasket of the pump', 'the ferry leaves at nine', 'a blue whale']);
    const ask = async (text: string, offset: number, parts: { text: string; vector: Float32Array }[] = []) => {
      const embedding = { model, vector: vector(offset) };
      const hits = await index.search({ dataspaceIds: ['d'], text, embedding, parts, limit: 5 }, { signal });
      return hits.map((hit) => ({ text: hit.text, coverage: hit.coverage, relevance: hit.relevance }));
    };
    const [whichGasket] = await ask('Which gasket?', 0);
    const [whenFerry] = await ask('When does the ferry leave?', 1);
    const inTwoParts = await ask('Which gasket, and when does the ferry leave?', 12, [
      { text: 'Which gasket?', vector: vector(0) },
      { text: 'When does the ferry leave?', vector: vector(1) },
    ]);
    expect(inTwoParts).toHaveLength(3);
    expect(inTwoParts).toEqual(expect.arrayContaining([whichGasket, whenFerry]));
  });

  test('finds the answer to one of several questions by keywords alone', async () => {
    await write(['the gasket of the pump', 'the ferry leaves at nine'], { embeddingModel: null });
    const parts = ['Which gasket?', 'When does the ferry leave?'].map((text) => ({ text, vector: null }));
    const hits = await index.search(
      { dataspaceIds: ['d'], text: 'Which gasket, and when does the ferry leave?', embedding: null, parts, limit: 5 },
      { signal },
    );
    expect(hits.map(({ coverage }) => coverage)).toEqual([1, 1]);
  });

  test('ignores function words, also those with an apostrophe', async () => {
    await write(["What's new? It doesn't matter, I'm told.", 'The ferry leaves at nine.']);
    const [first, ...others] = await index.search(
      { dataspaceIds: ['d'], text: "What's the time, doesn't the ferry leave? I'm late", embedding: null, limit: 5 },
      { signal },
    );
    expect([first?.text, others]).toEqual(['The ferry leaves at nine.', []]);
  });

  test('of only function words still searches for them', async () => {
    await write(['to be or not to be', 'something else']);
    expect(await byWords('to be or not to be')).toEqual(['to be or not to be']);
  });

  test('of only function words finds nothing relevant', async () => {
    await write(['to be or not to be', 'something else']);
    const [hit] = await index.search(
      { dataspaceIds: ['d'], text: 'to be or not to be', embedding: null, limit: 1 },
      { signal },
    );
    expect(hit).toMatchObject({ coverage: 0, relevance: expect.closeTo(0.076, 3) });
  });

  test('combines both lists', async () => {
    await write(['apple', 'banana', 'cherry']);
    const hits = await index.search(
      { dataspaceIds: ['d'], text: 'cherry', embedding: { model, vector: vector(2) }, limit: 3 },
      { signal },
    );
    expect(hits.map(({ text, textRank, vectorRank }) => ({ text, textRank, vectorRank }))).toEqual([
      { text: 'cherry', textRank: 1, vectorRank: 1 },
      { text: 'banana', textRank: null, vectorRank: 2 },
      { text: 'apple', textRank: null, vectorRank: 3 },
    ]);
  });

  test('does nothing if it is aborted while it is queued', async () => {
    const controller = new AbortController();
    const search = index.search({ dataspaceIds: ['d'], text: 'x', embedding: null, limit: 1 }, controller);
    controller.abort();
    await expect(search).rejects.toMatchObject({ name: 'AbortError' });
    await expect(
      index.search({ dataspaceIds: ['d'], text: 'x', embedding: null, limit: 1 }, controller),
    ).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the file', () => {
  test('reuses the space of removed passages, and finds the new ones correctly', async () => {
    for (let round = 0; round < 5; round += 1) {
      const texts = Array.from({ length: 300 }, (_, offset) => `round${round} place${offset}`);
      await write(texts, { revision: String(round) });
      await reopen();
    }
    expect([await byWords('round4 place250'), await byWords('round3'), await index.sources()]).toEqual([
      expect.arrayContaining(['round4 place250']),
      [],
      [expect.objectContaining({ revision: '4', passages: 300 })],
    ]);
  });

  test('accepts new sources after everything was removed', async () => {
    await write(['the red fox', 'a blue whale']);
    for (const revision of ['2', '3']) {
      await index.removeDataspace('d');
      await write(['the red fox'], { revision });
      expect([await byWords('fox whale'), await byMeaning(0)]).toEqual([['the red fox'], ['the red fox']]);
    }
  });

  test("is rebuilt if it can't be read", async () => {
    await write(['apple']);
    await index.close();
    writeFileSync(indexFile(directory), 'no database at all, but long enough to have a header of one'.repeat(100));
    index = createKnowledgeIndex({ directory });
    expect(await index.sources()).toEqual([]);
    await write(['pear']);
    expect(await byWords('pear')).toEqual(['pear']);
  });
});
