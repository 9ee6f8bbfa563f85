// @module-tag slow
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Database from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { startKnowledge } from '../../support/knowledge-world.ts';

/** Holds up whoever passes, until it is opened; `reached` resolves with the first one. */
function gate() {
  const opened = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const pass = async (_what: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
    reached.resolve();
    signal.throwIfAborted();
    const left = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => left.reject(signal.reason), { once: true });
    await Promise.race([opened.promise, left.promise]);
  };
  return { pass, open: () => opened.resolve(), reached: reached.promise };
}

const manyLines = (word: string) => Array.from({ length: 100 }, (_, line) => `${word} line${line}`).join('\n');

describe('a source', () => {
  test.each(['NFC', 'NFD'])('is listed by a part of its name, in any case and Unicode form (%s)', async (form) => {
    const world = await startKnowledge();
    const { id, dataspaceId } = await world.add('Übersicht'.normalize(form), 'Ravens are black');
    await world.settled(id);
    const range = { dataspaceId, offset: 0, limit: 10, status: null };
    const totals = ['Übersicht', 'ÜBER', 'Unter'].map(
      (text) => world.knowledge.sources.range({ ...range, text }).total,
    );
    expect(totals).toEqual([1, 1, 0]);
  });

  test('goes from Processing to Ready, and its text is then found', async () => {
    const held = gate();
    const world = await startKnowledge({ beforeReading: held.pass });
    const { id, createdAt, dataspaceId } = await world.add('Ravens', 'Ravens are black\nSwans are white');
    const expected = {
      id,
      name: 'Ravens',
      fileName: 'Ravens.txt',
      mediaType: 'text/plain',
      bytes: 32,
      failureReason: null,
      dataspaceId,
      createdAt,
    };
    expect(world.knowledge.sources.read(id)).toEqual({ ...expected, status: 'Processing' });
    expect(await world.found('swans')).toEqual([]);
    held.open();
    expect(await world.settled(id)).toEqual({ ...expected, status: 'Ready' });
    expect(await world.found('swans')).toEqual(['Swans are white']);
    expect(world.knowledge.sources.detail(id)).toMatchObject({
      progress: null,
      passages: 2,
      pages: null,
      characters: 32,
      embeddingModel: 'letters/1',
      isOutdated: false,
    });
    expect(readFileSync(join(world.directory, 'sources', id, 'original'), 'utf8')).toBe(
      'Ravens are black\nSwans are white',
    );
  });

  test('is added to the dataspace Default, which is created once', async () => {
    const world = await startKnowledge();
    const [one, other] = [await world.add('One', 'one'), await world.add('Other', 'other')];
    expect(world.knowledge.dataspaces.summaries()).toMatchObject([{ name: 'Default', sources: 2 }]);
    expect(one.dataspaceId).toBe(other.dataspaceId);
  });

  test("that can't be read fails with the reason, and the next one is read", async () => {
    const world = await startKnowledge({
      beforeReading: async ({ fileName }) => {
        if (fileName === 'Locked.txt') throw new AppError('invalid_request', 'The file is encrypted.');
        if (fileName === 'Odd.txt') throw new TypeError('secret detail');
      },
    });
    const [locked, odd, plain] = [
      await world.add('Locked', 'x'),
      await world.add('Odd', 'x'),
      await world.add('Plain', 'x'),
    ];
    expect(await world.settled(locked.id)).toMatchObject({ status: 'Failed', failureReason: 'The file is encrypted.' });
    expect(await world.settled(odd.id)).toMatchObject({
      status: 'Failed',
      failureReason: expect.not.stringContaining('secret'),
    });
    expect(await world.settled(plain.id)).toMatchObject({ status: 'Ready', failureReason: null });
    expect(world.log).toEqual([expect.stringContaining('secret detail')]);
  });

  test.each([
    ['an empty file', '', undefined, { status: 400, details: [{ field: 'file' }] }],
    [
      'an unknown dataspace',
      'text',
      'c0ffee00-0000-4000-8000-000000000000',
      { status: 400, details: [{ field: 'dataspaceId' }] },
    ],
    ['a picture', '\x89PNG\r\n\x1a\n', undefined, { status: 415 }],
  ])('is rejected with %s, and leaves nothing behind', async (_what, text, dataspaceId, refusal) => {
    const world = await startKnowledge();
    const bytes = Buffer.from(text, 'latin1').toString('latin1');
    await expect(world.add('Refused', bytes, dataspaceId)).rejects.toMatchObject(refusal);
    expect(world.files()).toEqual(['incoming']);
    expect(world.knowledge.dataspaces.summaries()).toEqual([]);
  });
});

test('a free lane skips a source whose file is still being moved', async () => {
  const world = await startKnowledge();
  await using file = await world.knowledge.sources.incoming();
  await file.receive(Readable.from([Buffer.from('Rooks nest in spring')]));
  const keep = file.keep.bind(file);
  file.keep = async () => {
    // Whatever is known by now would be read before this one, which comes after it.
    const { id } = await world.add('Ravens', 'Ravens are black');
    await world.settled(id);
    await keep();
  };
  const form = { name: 'Rooks', fileName: 'rooks.txt' };
  const { id } = await world.knowledge.sources.create(form, file, { signal: new AbortController().signal });
  expect(await world.settled(id)).toMatchObject({ status: 'Ready', failureReason: null });
  expect(await world.found('rooks')).toContain('Rooks nest in spring');
});

describe('deleting', () => {
  test('removes a source from search and its file from the disk', async () => {
    const world = await startKnowledge();
    const { id } = await world.add('Ravens', 'Ravens are black');
    await world.settled(id);
    await world.knowledge.sources.remove(id);
    expect(await world.found('ravens')).toEqual([]);
    expect(world.files()).toEqual(['incoming']);
    expect(() => world.knowledge.sources.read(id)).toThrow(AppError);
    expect(world.storage.sources.removed()).toEqual([]);
  });

  test.each(['reading', 'embedding'])('works while the source is at the stage %s', async (stage) => {
    const held = gate();
    const world = await startKnowledge(
      stage === 'reading' ? { beforeReading: held.pass } : { beforeEmbedding: held.pass },
    );
    const { id } = await world.add('Ravens', 'Ravens are black');
    await held.reached;
    await world.knowledge.sources.remove(id);
    held.open();
    const { id: next } = await world.add('Swans', 'Swans are white');
    await world.settled(next);
    expect(await world.found('ravens')).toEqual([]);
    expect((await world.index.sources()).map(({ sourceId }) => sourceId)).toEqual([next]);
    expect(world.files().filter((name) => name.startsWith(id))).toEqual([]);
  });

  test('a dataspace deletes its own sources only', async () => {
    const world = await startKnowledge();
    const { id: stored } = world.knowledge.dataspaces.create('Kept');
    const stays = await world.add('Swans', 'Swans are white', stored);
    const goes = await world.add('Ravens', 'Ravens are black');
    await Promise.all([world.settled(stays.id), world.settled(goes.id)]);
    await world.knowledge.dataspaces.remove(goes.dataspaceId);
    expect(await world.found('ravens swans')).toEqual(['Swans are white']);
    expect(world.knowledge.dataspaces.summaries().map(({ name, sources }) => ({ name, sources }))).toEqual([
      { name: 'Kept', sources: 1 },
    ]);
    expect(world.files().filter((name) => name.startsWith(goes.id))).toEqual([]);
  });
});

test('data of a source that a full disk rejected is written later automatically', async () => {
  const world = await startKnowledge();
  const full = () => {
    throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
  };
  vi.spyOn(world.storage.sources, 'complete').mockImplementationOnce(full);
  vi.spyOn(world.storage.sources, 'fail').mockImplementationOnce(full);
  const { id } = await world.add('Ravens', 'Ravens are black');
  expect(await world.settled(id)).toMatchObject({ status: 'Ready', failureReason: null });
  expect(world.log).toEqual([
    expect.stringContaining('could not be indexed'),
    expect.stringContaining('indexing rests for a while'),
  ]);
});

test('a source that fails for lack of space says so', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const world = await startKnowledge({ beforeReading: () => Promise.reject(full) });
  const { id } = await world.add('Ravens', 'Ravens are black');
  expect(await world.settled(id)).toMatchObject({
    status: 'Failed',
    failureReason: expect.stringContaining('The disk is full. Free some space'),
  });
});

describe('stopping and indexing again', () => {
  test('a stopped source has failed with the reason Stopped, and resumes where it was', async () => {
    let batches = 0;
    const held = gate();
    const world = await startKnowledge({
      beforeEmbedding: (texts, options) => ((batches += 1) === 3 ? held.pass(texts, options) : Promise.resolve()),
    });
    const { id } = await world.add('Ravens', manyLines('raven'));
    await held.reached;
    expect(world.knowledge.sources.detail(id).progress).toMatchObject({ stage: 'embedding', passagesTotal: 100 });
    await world.knowledge.sources.stop([id]);
    expect(world.knowledge.sources.read(id)).toMatchObject({ status: 'Failed', failureReason: 'Stopped' });
    expect(await world.found('raven')).toEqual([]);
    const before = world.embedded.length;
    expect(world.knowledge.sources.reindex(id)).toMatchObject({ status: 'Processing', failureReason: null });
    expect(await world.settled(id)).toMatchObject({ status: 'Ready' });
    expect({ before, all: world.embedded.length }).toEqual({ before: 64, all: 100 });
    expect(await world.found('raven')).toHaveLength(100);
  });

  test('a queued source is stopped without being started', async () => {
    const held = gate();
    const world = await startKnowledge({ beforeReading: held.pass });
    const sources = [];
    for (const name of ['First', 'Second', 'Third']) sources.push(await world.add(name, name));
    const [first, second, third] = sources;
    await held.reached;
    expect(world.knowledge.sources.detail(third!.id).progress).toMatchObject({ stage: 'waiting' });
    await world.knowledge.sources.stop([third!.id]);
    held.open();
    await Promise.all([world.settled(first!.id), world.settled(second!.id)]);
    expect(world.knowledge.sources.read(third!.id)).toMatchObject({ status: 'Failed', failureReason: 'Stopped' });
    expect(await world.found('third')).toEqual([]);
  });

  test('a small file does not wait for a large one', async () => {
    const held = gate();
    const world = await startKnowledge({
      beforeReading: (file, options) => (file.fileName === 'Large.txt' ? held.pass(file, options) : Promise.resolve()),
    });
    const large = await world.add('Large', 'large '.repeat(200_000));
    await held.reached;
    const other = await world.add('Large', 'large '.repeat(200_000));
    const small = await world.add('Small', 'small');
    expect(await world.settled(small.id)).toMatchObject({ status: 'Ready' });
    expect(world.knowledge.sources.detail(other.id).progress).toMatchObject({ stage: 'waiting' });
    await world.knowledge.sources.stop([large.id, other.id]);
  });

  test('while a source is indexed again the old passages are still found', async () => {
    const world = await startKnowledge();
    const { id } = await world.add('Ravens', 'Ravens are black');
    await world.settled(id);
    const held = gate();
    world.settings.beforeEmbedding = held.pass;
    world.knowledge.sources.reindex(id);
    await held.reached;
    expect(await world.found('ravens')).toEqual(['Ravens are black']);
    expect(world.knowledge.sources.reindex(id)).toMatchObject({ status: 'Processing' });
    held.open();
    await world.settled(id);
    expect(await world.found('ravens')).toEqual(['Ravens are black']);
  });

  test('another embedding model marks sources, which are indexed again only on request', async () => {
    const world = await startKnowledge();
    const { id, dataspaceId } = await world.add('Ravens', 'Ravens are black');
    await world.settled(id);
    world.settings.embeddingModel = 'letters/2';
    expect(world.knowledge.sources.detail(id)).toMatchObject({ status: 'Ready', isOutdated: true });
    expect(world.knowledge.dataspaces.summaries()).toMatchObject([{ outdated: 1 }]);
    expect(world.knowledge.dataspaces.reindex(dataspaceId, 'outdated')).toMatchObject({ processing: 1 });
    await world.settled(id);
    expect(world.knowledge.sources.detail(id)).toMatchObject({ embeddingModel: 'letters/2', isOutdated: false });
    expect(world.knowledge.dataspaces.reindex(dataspaceId, 'outdated')).toMatchObject({ outdated: 0, processing: 0 });
  });
});

describe('after a restart', () => {
  test('queued and active sources are indexed, each once', async () => {
    const held = gate();
    const world = await startKnowledge({
      beforeEmbedding: (texts, options) => (texts[0] === 'raven line0' ? Promise.resolve() : held.pass(texts, options)),
    });
    const sources = [await world.add('Ravens', manyLines('raven')), await world.add('Swans', 'Swans are white')];
    await expect.poll(() => world.embedded).toHaveLength(32);
    world.settings.beforeEmbedding = async () => {};
    const again = await world.restart();
    for (const { id } of sources) expect(await again.settled(id)).toMatchObject({ status: 'Ready' });
    expect(again.embedded).toHaveLength(100 - 32 + 1);
    expect(await again.found('raven')).toHaveLength(100);
    expect(again.storage.sources.read(sources[0]!.id).attempts).toBe(0);
  });

  test('a lost index is rebuilt, and unknown sources are removed from it', async () => {
    const world = await startKnowledge();
    const { id, dataspaceId } = await world.add('Ravens', 'Ravens are black');
    await world.settled(id);
    await world.index.removeSources([id]);
    const stray = { sourceId: 'stray', dataspaceId, revision: 'one' };
    await world.index.begin({ ...stray, embeddingModel: null }, { signal: new AbortController().signal });
    await world.index.finish(stray, { signal: new AbortController().signal });
    const again = await world.restart();
    await expect.poll(() => again.found('ravens')).toEqual(['Ravens are black']);
    expect((await again.index.sources()).map(({ sourceId }) => sourceId)).toEqual([id]);
  });

  test.each([
    ['damaged beyond its first pages', (file: string) => writeFileSync(file, readFileSync(file).fill(0xa5, 2 * 4096))],
    ['a folder', (file: string) => (rmSync(file), mkdirSync(join(file, 'folder'), { recursive: true }))],
  ])('rebuilds an index that is %s from the sources', async (_how, spoil) => {
    const world = await startKnowledge();
    const { id } = await world.add('Ravens', manyLines('raven'));
    await world.settled(id);
    const after = await world.restart(() => spoil(join(world.directory, 'knowledge.sqlite')));
    await vi.waitFor(async () => expect(await after.found('raven')).toHaveLength(100), {
      timeout: 60_000,
      interval: 50,
    });
    expect(after.knowledge.sources.read(id)).toMatchObject({ status: 'Ready', failureReason: null });
  });

  test('a source that ends the process repeatedly fails', async () => {
    const world = await startKnowledge({ beforeReading: gate().pass });
    const { id } = await world.add('Ravens', 'Ravens are black');
    await world.knowledge.close();
    world.storage.sources.setAttempts(id, 10);
    const again = await world.restart();
    expect(await again.settled(id)).toMatchObject({
      status: 'Failed',
      failureReason: expect.stringContaining('stopped several times'),
    });
  });
});

test('reads the extracted text in parts that never split a character', async () => {
  const world = await startKnowledge();
  const text = 'Käse 🧀 und Wein';
  const { id } = await world.add('Cheese', text);
  await world.settled(id);
  const part = (start: number, end: number) => world.knowledge.sources.text(id, { start, end });
  expect(await part(0, 1000)).toEqual({ text, start: 0, end: text.length, characters: text.length, pages: null });
  expect(await part(5, 7)).toMatchObject({ text: '🧀', start: 5, end: 7 });
  expect(await part(2, 6)).toMatchObject({ text: 'se ', start: 2, end: 5 });
  expect(await part(6, 11)).toMatchObject({ text: ' und', start: 7, end: 11 });
  expect(await part(400, 500)).toMatchObject({ text: '', start: text.length, end: text.length });
});

test('subscribers see every source until it is ready, and its removal', async () => {
  const held = gate();
  const world = await startKnowledge({ beforeEmbedding: held.pass });
  const seen: string[] = [];
  const missing = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<void>();
  world.knowledge.subscribe((changes) => {
    const { sources, removedSourceIds, dataspaces } = world.knowledge.describe(changes);
    for (const { status, progress } of sources) seen.push(`${status} ${progress?.stage ?? ''}`.trim());
    if (sources.some(({ progress }) => progress?.stage === 'embedding')) reported.resolve();
    if (removedSourceIds.length > 0 && dataspaces[0]?.sources === 0) missing.resolve();
  });
  const { id } = await world.add('Ravens', 'Ravens are black');
  await reported.promise;
  held.open();
  await world.settled(id);
  await world.knowledge.sources.remove(id);
  await missing.promise;
  expect(seen).toContain('Processing embedding');
  expect(seen.at(-1)).toBe('Ready');
});
