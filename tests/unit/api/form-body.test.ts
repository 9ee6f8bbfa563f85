import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readForm, type FormFile } from '../../../electron/api/form-body.ts';
import { fc } from '../../support/fast-check.ts';

const megabyte = 1_048_576;
const form = { fields: z.strictObject({ name: z.string(), note: z.string().optional() }), maximumFileBytes: megabyte };
const boundary = 'between-the-parts';

interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Everything after the name in the part's first header. */
  readonly more?: string;
}

function encode(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.flatMap(({ name, content, more = '' }) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return new Uint8Array(Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]));
}

/** The same without its end: what comes next belongs to the last part. */
const encodeOpen = (parts: readonly Part[]) => encode(parts).subarray(0, -`\r\n--${boundary}--\r\n`.length);

const named: Part = { name: 'name', content: 'Näme' };
const file = (content: Part['content'], more = '; filename="a.txt"'): Part => ({ name: 'file', content, more });

function request(
  body: BodyInit | ReadableStream,
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...init.headers };
  return new Request('http://host.test/', { ...init, method: 'POST', headers, body, duplex: 'half' } as RequestInit);
}

/** Keeps what arrives in memory, as slowly as `wait` tells. */
function keeper(wait?: () => Promise<void>) {
  const stored = { fileName: '', bytes: 0, text: '', failure: null as Error | null };
  const receive = async ({ fileName, content }: FormFile) => {
    stored.fileName = fileName;
    const take = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        stored.bytes += chunk.length;
        if (stored.text.length < 10_000) stored.text += chunk.toString();
        await wait?.();
      }
    };
    await pipeline(content, take).catch((error: Error) => {
      stored.failure = error;
      throw error;
    });
  };
  return { kept: stored, receive };
}

/** Reads a form; a refusal is its status with the first field that it names. */
async function read(made: Request, { kept: stored, receive }: ReturnType<typeof keeper> = keeper()) {
  try {
    return { fields: await readForm(made, form, receive), fileName: stored.fileName, text: stored.text };
  } catch (error) {
    const { status, details } = error as { status: number; details: { field: string }[] };
    return { status, field: details?.[0]?.field };
  }
}

/** What forms are made of. */
const fragments = [
  '\r\n',
  '\r\n\r\n',
  `--${boundary}`,
  `--${boundary}--`,
  'content-disposition: form-data; ',
  '; name="file"',
  ': ',
].map((text) => new Uint8Array(Buffer.from(text)));

const whole = { fields: { name: 'Näme' }, fileName: 'a.txt', text: 'The text' };

describe('a form', () => {
  test('is read with its fields before or after the file', async () => {
    expect(await read(request(encode([named, file('The text')])))).toEqual(whole);
    expect(await read(request(encode([file('The text'), named])))).toEqual(whole);
  });

  test('is read however it is split', async () => {
    const bytes = encode([file('The text'), named]);
    const bytewise = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await read(request(bytewise))).toEqual(whole);
  });

  test("is read in the format of the platform's own forms", async () => {
    const data = new FormData();
    data.append('file', new File(['The text'], 'ein "Bericht" ü😀.txt'));
    data.append('name', 'Näme');
    const made = new Request('http://host.test/', { method: 'POST', body: data });
    expect(await read(made)).toEqual({ ...whole, fileName: 'ein "Bericht" ü😀.txt' });
  });

  test.each([
    ['; filename="C:\\\\secret\\\\a.txt"', 'a.txt'],
    ['; filename="../../a.txt"', 'a.txt'],
    [`; filename*=UTF-8''%C3%BCber%20uns.txt`, 'über uns.txt'],
    ['; filename="a\u0007b.txt"', 'ab.txt'],
    ['; filename=""', ''],
  ])('uses of a file name %j only the name', async (more, fileName) => {
    expect(await read(request(encode([named, file('The text', more)])))).toEqual({ ...whole, fileName });
  });

  test.each([
    ['no file', [named], 'file'],
    ['no name', [file('The text')], 'name'],
    ['two files', [named, file('One'), file('Two')], 'file'],
    ['a field twice', [named, named, file('The text')], 'name'],
    ['a field that is unknown', [named, file('The text'), { name: 'colour', content: 'red' }], 'colour'],
    ['a field that is too long', [{ name: 'name', content: 'x'.repeat(70_000) }, file('The text')], 'name'],
    ['a file that is no file', [named, { name: 'file', content: 'The text' }], 'file'],
  ] as [string, Part[], string][])('rejects %s and names the field', async (_what, parts, field) => {
    expect(await read(request(encode(parts)))).toEqual({ status: 400, field });
  });

  test('is rejected if it ends early, is malformed or has no boundary', async () => {
    const bytes = encode([named, file('The text')]);
    const reader = keeper();
    expect(await read(request(bytes.subarray(0, -30)), reader)).toMatchObject({ status: 400 });
    expect(reader.kept.failure).toBeInstanceOf(Error);
    expect(await read(request('neither this nor that'))).toMatchObject({ status: 400 });
    expect(await read(request(bytes, { headers: { 'content-type': 'multipart/form-data' } }))).toMatchObject({
      status: 400,
    });
    expect(await read(request(encode(Array.from({ length: 100 }, () => named))))).toMatchObject({ status: 400 });
  });

  test('may have a file of the largest size, but not one byte more', async () => {
    const reader = keeper();
    expect(await read(request(encode([file(new Uint8Array(megabyte)), named])), reader)).toMatchObject({
      fileName: 'a.txt',
    });
    expect(reader.kept.bytes).toBe(megabyte);
    expect(await read(request(encode([file(new Uint8Array(megabyte + 1)), named])))).toMatchObject({ status: 413 });
  });

  test('is rejected unread if its length is too large', async () => {
    const headers = { 'content-length': String(3 * megabyte) };
    expect(await read(request(encode([named, file('The text')]), { headers }))).toMatchObject({ status: 413 });
  });

  test.each([
    ['of the file', [file(new Uint8Array(1000))]],
    ['of anything else', [{ name: 'name', content: new Uint8Array(1000) }]],
  ] as [string, Part[]][])('rejects endless %s while it arrives, and then stops reading', async (_what, parts) => {
    const head = encodeOpen(parts);
    let isCancelled = false;
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(sent === 0 ? head : new Uint8Array(65_536));
        sent += 65_536;
      },
      cancel() {
        isCancelled = true;
      },
    });
    expect(await read(request(endless))).toMatchObject({ status: 413 });
    expect({ isCancelled, isBounded: sent < 4 * megabyte }).toEqual({ isCancelled: true, isBounded: true });
  });

  test('is read only as fast as its file', async () => {
    let pieces = 0;
    const head = encodeOpen([file('')]);
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(pieces === 0 ? head : new Uint8Array(16_384));
        pieces += 1;
      },
    });
    const leaving = new AbortController();
    const blocked = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const reader = keeper(() => {
      blocked.resolve();
      return opened.promise;
    });
    const reading = read(request(body, { signal: leaving.signal }), reader);
    await blocked.promise;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(pieces).toBeLessThan(20);
    leaving.abort();
    opened.resolve();
    await reading;
  });

  test("fails for the file's receiver if the caller disconnects", async () => {
    const leaving = new AbortController();
    const stalled = new ReadableStream({
      start: (controller) => controller.enqueue(encodeOpen([file('The beginning\r\n')])),
    });
    const reader = keeper(async () => leaving.abort());
    await expect(readForm(request(stalled, { signal: leaving.signal }), form, reader.receive)).rejects.toThrow();
    expect(reader.kept.failure).toBeInstanceOf(Error);
  });

  test("fails with the error of the file's receiver", async () => {
    const full = async () => {
      throw new Error('The disk is full.');
    };
    await expect(readForm(request(encode([named, file('The text')])), form, full)).rejects.toThrow('The disk is full.');
  });

  test('is read or rejected if it is truncated, shuffled or random, and nothing else happens', async () => {
    const valid = encode([file('The text'), named, { name: 'note', content: 'x' }]);
    const mutation = fc.record({
      at: fc.nat(valid.length),
      drop: fc.nat(40),
      insert: fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(...fragments)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { maxLength: 5 }), async (mutations) => {
        let bytes = Buffer.from(valid);
        for (const { at, drop, insert } of mutations) {
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);
        }
        const outcome = await read(request(new Uint8Array(bytes)));
        expect('fields' in outcome || outcome.status === 400 || outcome.status === 413).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
