// @module-tag slow
import { expect, test } from 'vitest';
import { createCallReader } from '../../../electron/passthrough/create-call-reader.ts';
import {
  maxRecordedBytes,
  readPassedResponse,
  StreamedResponse,
} from '../../../electron/passthrough/recorded-response.ts';
import { fc } from '../../support/fast-check.ts';

const form = { api: 'openai-chat', isJudged: false, encoding: '', isStream: true, rules: [] } as const;

const event = (content: string, lineEnd = '\n') =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}${lineEnd}${lineEnd}`;

const whole = (body: Buffer, isJudged = false) =>
  readPassedResponse({ ...form, isJudged, body, isCut: false, arrivals: { atMs: [0], ends: [body.length] } });

test('a stream that arrives in parts is read like a whole one, wherever the parts end', () => {
  const text = fc.oneof(
    fc
      .tuple(fc.string({ unit: 'binary', maxLength: 4 }), fc.constantFrom('\n', '\r\n', '\r'))
      .map(([one, end]) => event(one, end)),
    fc.constantFrom('data: [DONE]\n\n', ': comment\n\n', '\n', '\r\n', '\uFEFF', 'data: {"id":', 'event: é\r\n', '\r'),
  );
  const parts = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), parts, fc.boolean(), (texts, sizes, isJudged) => {
      const body = Buffer.from(texts.join(''));
      const stream = new StreamedResponse({ ...form, isJudged });
      let start = 0;
      for (const size of [...sizes, body.length]) {
        const bytes = body.subarray(start, start + size);
        stream.add(bytes, { atMs: [0], ends: [bytes.length] });
        start += bytes.length;
      }
      expect(stream.end(false)).toEqual(whole(body, isJudged));
    }),
  );
});

/** Events that differ only in their texts, and some that nearly do. */
const similarEvents: Readonly<Record<string, (json: string) => string>> = {
  plain: (json) => `data: {"choices":[{"delta":{"content":${json}}}]}\n\n`,
  named: (json) => `event: chunk\ndata: {"choices":[{"delta":{"content":${json}}}]}\n\n`,
  'with carriage returns': (json) => `data:{"choices":[{"delta":{"content":${json}}}]}\r\n\r\n`,
  'with two lines of data': (json) =>
    `data: {"choices":[{"delta":{"content":${json}}}]}\ndata: {"choices":[{"delta":{"content":"2"}}]}\n\n`,
  'of another choice': (json) => `data: {"choices":[{"index":1,"delta":{"content":${json}}}]}\n\n`,
  'with reasoning': (json) => `data: {"choices":[{"delta":{"reasoning":${json}}}]}\n\n`,
  'without an end': (json) => `data: {"choices":[{"delta":{"content":${json}}}]}\n`,
};

test('events that differ only in their texts are read together as one by one', () => {
  const json = fc.constantFrom(
    '"a"',
    '"a"',
    '"b c"',
    '""',
    '"\\n"',
    '"\\""',
    '"\\u0041"',
    '"é"',
    '"a","role":"x"',
    '1',
    '"',
  );
  const events = fc
    .tuple(fc.constantFrom(...Object.keys(similarEvents)), fc.array(json, { maxLength: 12 }))
    .map(([kind, texts]) => texts.map(similarEvents[kind]!).join(''));
  fc.assert(
    fc.property(fc.array(events, { maxLength: 6 }), fc.boolean(), (runs, isJudged) => {
      const body = Buffer.from(runs.join(''));
      const stream = new StreamedResponse({ ...form, isJudged });
      // No part has a whole event.
      const ends = Array.from({ length: Math.ceil(body.length / 20) }, (_, index) =>
        Math.min(index * 20 + 20, body.length),
      );
      stream.add(body, { atMs: ends.map(() => 0), ends });
      expect(whole(body, isJudged)).toEqual(stream.end(false));
    }),
    { numRuns: 1000 },
  );
});

test('a long stream is read while it arrives, one of the next calls, too', async () => {
  const reader = createCallReader();
  const body = Buffer.from(`${event('ä').repeat(40_000)}data: [DONE]\n\n`);
  const read = async () => {
    const arriving = reader.response(form);
    for (let start = 0; start < body.length; start += 65_537)
      arriving.append(body.subarray(start, start + 65_537), start / 65_537);
    return { isCut: arriving.isCut, ...(await arriving.end()) };
  };
  for (const response of await Promise.all([read(), read(), read(), read()])) {
    expect(response).toMatchObject({ isCut: false, isComplete: true, isUnread: false });
    expect(response.content).toBe('ä'.repeat(40_000));
    expect(response.frames).toMatchObject({ count: 40_001, firstMs: 0, longestGapMs: 1 });
    expect(response.frames!.series.reduce((sum, { frames }) => sum + frames, 0)).toBe(40_001);
  }
  await reader.close();
});

test('of a stream that is too long, the start is read, and a mark says so', async () => {
  const reader = createCallReader();
  const body = Buffer.from(event('x'.repeat(1000)).repeat(40_000));
  expect(body.length).toBeGreaterThan(maxRecordedBytes);
  const arriving = reader.response(form);
  arriving.append(body, 1);
  arriving.append(Buffer.from(event('later')), 2);
  expect(arriving.isCut).toBe(true);
  const { content } = await arriving.end();
  expect(content.startsWith('x'.repeat(8_388_608))).toBe(true);
  expect(content.slice(8_388_608)).toMatch(
    /^ \[\d+ more characters are not recorded\] \[The rest of the response is not recorded/,
  );
  await reader.close();
});

test('a stream that a closing host cuts off is not read, and takes what still arrives', async () => {
  const reader = createCallReader();
  const long = Buffer.alloc(2_000_000, event('x'));
  const early = reader.response(form);
  early.append(long, 1);
  const later = reader.response(form);
  await reader.close();
  early.append(long, 2);
  later.append(long, 3);
  await expect(early.end()).rejects.toThrow('The host is closing.');
  await expect(later.end()).rejects.toThrow('The host is closing.');
});
