// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  followKnowledge,
  listDataspaceSources,
  listDataspaceSummaries,
  listSourcePassages,
  readSourceDetail,
  readSourceText,
  reindexDataspace,
  renameDataspace,
  stopDataspace,
  stopSource,
} from '../../shared/contract/knowledge-window.ts';
import {
  createDataspace,
  createSource,
  deleteDataspace,
  deleteSource,
  searchDataspace,
  type Source,
} from '../../shared/contract/dataspaces.ts';
import { updateSettings } from '../../shared/contract/settings.ts';
import { createClient, type Client } from '../../renderer/host/client.ts';
import { connectByPort } from '../support/port-pair.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
});
afterAll(() => host.close());

const lines = (count: number) => Array.from({ length: count }, (_, line) => `Line ${line} of the text.`).join('\n\n');

const add = (dataspaceId: string, name: string, text: string, fileName = `${name}.txt`): Promise<Source> =>
  client.upload(createSource, { fields: { name, dataspaceId }, file: new File([text], fileName) });

const providerEmbeddings = { kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'scripted/vectors' } as const;

/** Vectors that know one thing: whether a text is about gold. */
function answerVectors(call: ScriptedCall): void {
  const texts = call.body['input'] as string[];
  const data = texts.map((text, index) => ({ index, embedding: /gold|metal/i.test(text) ? [1, 0, 0.1] : [0, 1, 0.1] }));
  call.json(200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } });
}

const ready = (id: string) =>
  expect.poll(async () => (await client.call(readSourceDetail, { parameters: { id } })).status).not.toBe('Processing');

test('lists the sources of a dataspace with counts, and opens a citation at its position', async () => {
  const { id } = await client.call(createDataspace, { body: { name: 'Texts' } });
  const text = lines(200);
  const source = await add(id, 'Many "lines" – ü', text);
  await ready(source.id);
  await ready((await add(id, 'Broken', '%PDF-1.7 broken')).id);
  const { data } = await client.call(listDataspaceSummaries);
  const detail = await client.call(readSourceDetail, { parameters: { id: source.id } });
  expect(data.find((dataspace) => dataspace.id === id)).toMatchObject({
    name: 'Texts',
    sources: 2,
    processing: 0,
    failed: 1,
    outdated: 0,
    bytes: Buffer.byteLength(text) + 15,
    passages: detail.passages,
  });
  const { data: passages, total } = await client.call(listSourcePassages, {
    parameters: { id: source.id },
    query: { offset: 1, limit: 2 },
  });
  expect({ total, positions: passages.map(({ position }) => position) }).toEqual({
    total: detail.passages,
    positions: [1, 2],
  });
  const [passage] = passages;
  const range = { start: passage!.start, end: passage!.end, context: 40 };
  const part = await client.call(readSourceText, { parameters: { id: source.id }, query: range });
  expect(part).toEqual({
    text: text.slice(passage!.start - 40, passage!.end + 40),
    start: passage!.start - 40,
    end: passage!.end + 40,
    characters: text.length,
    pages: null,
  });
});

test('lists sources by range, by part of a name and by status', async () => {
  const { id } = await client.call(createDataspace, { body: { name: 'Ranges' } });
  for (const name of ['Alpha', 'Beta', 'Alphabet']) await ready((await add(id, name, `${name} text`)).id);
  const names = async (query: Record<string, string | number>) => {
    const { data, total } = await client.call(listDataspaceSources, {
      parameters: { id },
      query: { offset: 0, ...query } as never,
    });
    return [data.map(({ name }) => name), total];
  };
  expect(await names({})).toEqual([['Alphabet', 'Beta', 'Alpha'], 3]);
  expect(await names({ offset: 1, limit: 1 })).toEqual([['Beta'], 3]);
  expect(await names({ text: 'ALPHA' })).toEqual([['Alphabet', 'Alpha'], 2]);
  expect(await names({ text: '%' })).toEqual([[], 0]);
  expect(await names({ status: 'Failed' })).toEqual([[], 0]);
});

test('stops sources, indexes them again, renames a dataspace, and streams all changes', async () => {
  const opened = Promise.withResolvers<void>();
  host.provider.answerWith(async (call) => {
    await opened.promise;
    answerVectors(call);
  });
  await client.call(updateSettings, { body: { embeddings: providerEmbeddings } });
  const { id } = await client.call(createDataspace, { body: { name: 'Before' } });
  const leaving = new AbortController();
  const { parts } = await client.stream(followKnowledge, { signal: leaving.signal });
  const seen = { names: new Set<string>(), statuses: new Set<string>(), removed: new Set<string>() };
  const changes = parts[Symbol.asyncIterator]();
  const until = async (isReached: () => boolean) => {
    while (!isReached()) {
      const { value } = await changes.next();
      for (const { name } of value!.dataspaces) seen.names.add(name);
      for (const source of value!.sources) seen.statuses.add(`${source.name} ${source.status}`);
      for (const removed of value!.removedSourceIds) seen.removed.add(removed);
    }
  };
  await until(() => seen.names.has('Before'));

  const long = await add(id, 'Long', lines(200));
  const next = await add(id, 'Next', 'The next text');
  await until(() => seen.statuses.has('Long Processing'));
  expect(await client.call(stopSource, { parameters: { id: next.id } })).toMatchObject({
    status: 'Failed',
    failureReason: 'Stopped',
    progress: null,
  });
  expect(await client.call(stopDataspace, { parameters: { id } })).toMatchObject({ processing: 0, failed: 2 });
  await client.call(deleteSource, { parameters: { id: long.id } });
  await until(() => seen.removed.has(long.id));
  opened.resolve();
  const body = { which: 'failed' } as const;
  expect(await client.call(reindexDataspace, { parameters: { id }, body })).toMatchObject({ processing: 1, failed: 0 });
  await until(() => seen.statuses.has('Next Ready'));
  expect(await client.call(renameDataspace, { parameters: { id }, body: { name: 'After' } })).toMatchObject({
    name: 'After',
    sources: 1,
  });
  await until(() => seen.names.has('After'));
  leaving.abort();
  await client.call(updateSettings, { body: { embeddings: { kind: 'on-device' } } });
});

test('uploads a file over the port, and rejects one that is too large during the upload', async () => {
  using pair = connectByPort(host.host.api.fetch);
  const port = createClient(pair.hostFetch);
  const { id } = await port.call(createDataspace, { body: { name: 'Port' } });
  const fields = { name: 'Over the port', dataspaceId: id };
  const source = await port.upload(createSource, { fields, file: new File(['Sent over the port'], 'port.txt') });
  expect(source).toMatchObject({ name: 'Over the port', bytes: 18, dataspaceId: id });
  const tooLarge = new File([new Uint8Array(51 * 1_048_576)], 'large.txt');
  const body = new FormData();
  body.append('name', 'Too large');
  body.append('file', tooLarge);
  const rejected = await pair.hostFetch({ method: 'POST', path: '/sources', headers: {}, body });
  expect([rejected.status, await rejected.json()]).toMatchObject([413, { error: { code: 'payload_too_large' } }]);
  const sent = pair.frames.reduce((sum, frame) => sum + (frame.type === 'body' ? frame.bytes.byteLength : 0), 0);
  expect(sent).toBeLessThan(51 * 1_048_576);
  await expect(port.upload(createSource, { fields, file: tooLarge })).rejects.toMatchObject({ status: 413 });
  await port.call(deleteDataspace, { parameters: { id } });
});

test("uses a provider's embeddings once they are chosen, and indexes sources again only on request", async () => {
  host.provider.answerWith(answerVectors);
  const { id } = await client.call(createDataspace, { body: { name: 'Provider' } });
  const gold = await add(id, 'Gold', 'Gold leaves a yellow streak.');
  const snow = await add(id, 'Snow', 'Snow is white.');
  await Promise.all([ready(gold.id), ready(snow.id)]);
  await client.call(updateSettings, { body: { embeddings: providerEmbeddings } });
  const detail = (source: Source) => client.call(readSourceDetail, { parameters: { id: source.id } });
  expect(await detail(gold)).toMatchObject({ isOutdated: true, embeddingModel: expect.stringMatching(/^on-device\//) });
  await client.call(reindexDataspace, { parameters: { id }, body: { which: 'outdated' } });
  await Promise.all([ready(gold.id), ready(snow.id)]);
  expect(await detail(gold)).toMatchObject({ isOutdated: false, embeddingModel: 'OpenAiCompatible/scripted/vectors' });
  // No word of it is in the passage: it is found by the provider's vectors alone.
  const { data } = await client.call(searchDataspace, { parameters: { id }, body: { query: 'Which metal?' } });
  expect(data[0]).toMatchObject({ sourceId: gold.id });

  host.provider.answerWith((call) => call.fail(401, 'No such key'));
  const failing = await add(id, 'Failing', 'Something else.');
  await ready(failing.id);
  expect(await detail(failing)).toMatchObject({ status: 'Failed', failureReason: expect.stringContaining('key') });
  const byWords = await client.call(searchDataspace, { parameters: { id }, body: { query: 'snow' } });
  expect(byWords.data.map(({ sourceId }) => sourceId)).toEqual([snow.id]);
  await client.call(updateSettings, { body: { embeddings: { kind: 'on-device' } } });
});
