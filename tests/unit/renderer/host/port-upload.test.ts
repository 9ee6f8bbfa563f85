import { expect, test } from 'vitest';
import { createSource } from '../../../../shared/contract/dataspaces.ts';
import { initialCredit, maximumChunk } from '../../../../shared/port-frames.ts';
import { createClient } from '../../../../renderer/host/client.ts';
import { connectByPort, type PortPair } from '../../../support/port-pair.ts';

const bytes = new Uint8Array(5 * initialCredit + 321).map((_, index) => index % 251);
const file = new File([bytes], 'große Datei.txt');

const sentBytes = ({ frames }: PortPair) =>
  frames.reduce((sum, frame) => sum + (frame.type === 'body' ? frame.bytes.byteLength : 0), 0);
const takenBytes = ({ frames }: PortPair) =>
  frames.reduce((sum, frame) => sum + (frame.type === 'body-credit' ? frame.bytes : 0), 0);

/** Resolves once whatever was on its way over the port has arrived. */
async function settled(pair: PortPair): Promise<void> {
  await (await pair.hostFetch({ method: 'GET', path: '/settled', headers: {}, body: null })).text();
}

test('a file arrives complete with its fields, in small frames, with progress', async () => {
  using pair = connectByPort(async (request) => {
    const form = await request.formData();
    const received = form.get('file') as File;
    const isSame = Buffer.compare(await received.bytes(), bytes) === 0;
    return Response.json({ fields: [form.get('name'), form.get('dataspaceId')], file: received.name, isSame });
  });
  const progress: number[] = [];
  const answer = await createClient(pair.hostFetch).upload(createSource, {
    fields: { name: 'Näme', dataspaceId: undefined },
    file,
    onProgress: (fraction) => progress.push(fraction),
  });
  expect(answer).toEqual({ fields: ['Näme', null], file: 'große Datei.txt', isSame: true });
  expect(pair.frames.filter((frame) => frame.type === 'body' && frame.bytes.byteLength > maximumChunk)).toEqual([]);
  expect({
    isRising: progress.toSorted((a, b) => a - b).join() === progress.join(),
    steps: progress.length > 3,
  }).toEqual({
    isRising: true,
    steps: true,
  });
});

test('a form that is read as bytes is complete, too', async () => {
  using pair = connectByPort(async (request) => Response.json(Buffer.from(await request.bytes()).indexOf(bytes) > 0));
  const whole = { fields: { name: 'Whole', dataspaceId: undefined }, file, onProgress: () => {} };
  expect(await createClient(pair.hostFetch).upload(createSource, whole)).toBe(true);
});

test("a host that doesn't read gets no more than the limit", async () => {
  using pair = connectByPort(async (request) =>
    request.url.endsWith('/settled') ? new Response() : new Promise<Response>(() => {}),
  );
  const leaving = new AbortController();
  const full = pair.nextFrame((frame) => frame.type === 'body' && sentBytes(pair) > initialCredit - maximumChunk);
  const uploading = createClient(pair.hostFetch).upload(createSource, {
    fields: { name: 'N' },
    file,
    signal: leaving.signal,
  });
  await full;
  await settled(pair);
  expect(sentBytes(pair)).toBeLessThanOrEqual(initialCredit);
  leaving.abort();
  await expect(uploading).rejects.toMatchObject({ name: 'AbortError' });
});

test('a host that reads slowly never gets more than the limit ahead', async () => {
  let maxAhead = 0;
  using pair = connectByPort(async (request) => {
    for await (const piece of request.body!) {
      void piece;
      maxAhead = Math.max(maxAhead, sentBytes(pair) - takenBytes(pair));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return Response.json({});
  });
  await createClient(pair.hostFetch).upload(createSource, { fields: { name: 'N' }, file });
  expect({ isBounded: maxAhead <= initialCredit, isWhole: sentBytes(pair) > bytes.byteLength }).toEqual({
    isBounded: true,
    isWhole: true,
  });
});

test('a response before the end of the file is read, and the rest is not sent', async () => {
  const error = { code: 'payload_too_large', message: 'Too large.', details: [], requestId: 'r' };
  using pair = connectByPort(async (request) => {
    if (request.url.endsWith('/settled')) return new Response();
    const reader = request.body!.getReader();
    await reader.read();
    await reader.cancel();
    return Response.json({ error }, { status: 413 });
  });
  await expect(
    createClient(pair.hostFetch).upload(createSource, { fields: { name: 'N' }, file }),
  ).rejects.toMatchObject({ code: 'payload_too_large', status: 413 });
  await settled(pair);
  expect(sentBytes(pair)).toBeLessThan(bytes.byteLength);
  expect(pair.frames.some(({ type }) => type === 'body-end')).toBe(false);
});

test.each(['cancels', 'goes away'])('a body that the window %s ends at the host', async (way) => {
  const failed = Promise.withResolvers<unknown>();
  const started = Promise.withResolvers<void>();
  const pair = connectByPort(async (request) => {
    const reader = request.body!.getReader();
    await reader.read();
    started.resolve();
    try {
      for (;;) if ((await reader.read()).done) break;
      failed.resolve(null);
    } catch (error) {
      failed.resolve(error);
    }
    return new Response();
  });
  const leaving = new AbortController();
  const endless = new File([new Uint8Array(64 * initialCredit)], 'a.txt');
  const uploading = createClient(pair.hostFetch).upload(createSource, {
    fields: { name: 'N' },
    file: endless,
    signal: leaving.signal,
  });
  const rejected = expect(uploading).rejects.toThrow();
  await started.promise;
  if (way === 'cancels') leaving.abort();
  else pair.closeWindow();
  expect(await failed.promise).toBeInstanceOf(Error);
  await rejected;
  pair.closeWindow();
});
