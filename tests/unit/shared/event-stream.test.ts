import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import { createArrayDecoder, createEventDecoder, encodeEvent } from '../../../shared/event-stream.ts';
import type { PartDecoder } from '../../../shared/event-stream.ts';
import { fc } from '../../support/fast-check.ts';

/** Feeds a text in pieces of the given lengths, over and over until it is used up. */
function decodeInPieces(decoder: PartDecoder, text: string, lengths: readonly number[]) {
  const parts = [];
  let position = 0;
  for (let turn = 0; position < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    parts.push(...decoder.push(text.slice(position, position + length)));
    position += length;
  }
  return { parts, values: parts.map(({ value }) => value), isComplete: decoder.isComplete() };
}

const objects = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), { maxLength: 8 });
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

describe('server-sent events', () => {
  test('decode to the encoded parts, wherever the text is split', () => {
    fc.assert(
      fc.property(objects, lengths, (values, cuts) => {
        const text = values.map((value) => encodeEvent(value)).join('');
        const decoded = decodeInPieces(createEventDecoder(), text, cuts);
        expect(decoded.values).toEqual(JSON.parse(JSON.stringify(values)));
        expect(decoded.parts.map((part) => part.text).join('')).toBe(text);
        expect(decoded.isComplete).toBe(true);
      }),
    );
  });

  test('in our encoding are valid for an independent parser', () => {
    fc.assert(
      fc.property(objects, (values) => {
        const read: unknown[] = [];
        const parser = createParser({ onEvent: ({ data }) => read.push(JSON.parse(data)) });
        parser.feed(values.map((value) => encodeEvent(value)).join(''));
        expect(read).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  test.each([
    ['line ends of all three kinds', 'data: 1\r\n\r\ndata: 2\n\ndata: 3\r\r'],
    ['data over several lines', 'data: [1,\ndata: 2]\n\n'],
    ['comments and other fields', ': hello\nevent: x\nid: 7\ndata: {"a":1}\n\n'],
    ['no blank after the colon', 'data:"x"\n\n'],
    ['a byte order mark', '\uFEFFdata: true\n\n'],
    ['blank lines between events', '\n\ndata: 1\n\n\n\ndata: 2\n\n'],
  ])('are read like an independent parser does: %s', (_name, text) => {
    fc.assert(
      fc.property(lengths, (cuts) => {
        const expected: unknown[] = [];
        const parser = createParser({ onEvent: ({ data }) => expected.push(JSON.parse(data)) });
        parser.feed(text);
        parser.reset({ consume: true });
        expect(decodeInPieces(createEventDecoder(), text, cuts).values).toEqual(expected);
      }),
    );
  });

  test('distinguish an early end from a complete one', () => {
    expect(decodeInPieces(createEventDecoder(), 'data: 1\n\ndata: {"a"', [3])).toMatchObject({
      values: [1],
      isComplete: false,
    });
    expect(decodeInPieces(createEventDecoder(), 'data: 1\n\ndata: 2\n', [3])).toMatchObject({
      values: [1],
      isComplete: false,
    });
  });

  test('without JSON are rejected', () => {
    expect(() => createEventDecoder().push('data: [DONE]\n\n')).toThrow(SyntaxError);
  });
});

describe('a streamed JSON array', () => {
  test('yields its elements one by one, wherever the text is split', () => {
    fc.assert(
      fc.property(objects, lengths, fc.constantFrom(undefined, 2), (values, cuts, indent) => {
        const text = JSON.stringify(values, null, indent);
        const decoded = decodeInPieces(createArrayDecoder(), text, cuts);
        expect(decoded.values).toEqual(JSON.parse(text));
        expect(decoded.isComplete).toBe(true);
      }),
    );
  });

  test('yields an element with its last character, before the array continues', () => {
    const decoder = createArrayDecoder();
    expect(decoder.push('[{"a":"}]"')).toEqual([]);
    expect(decoder.push('}')).toEqual([{ text: '[{"a":"}]"}', value: { a: '}]' } }]);
    expect(decoder.push(',{}]')).toEqual([{ text: ',{}', value: {} }]);
    expect(decoder.isComplete()).toBe(true);
  });

  test('distinguishes an early end from a complete one', () => {
    expect(decodeInPieces(createArrayDecoder(), '[{"a":1},', [4])).toMatchObject({
      values: [{ a: 1 }],
      isComplete: false,
    });
    expect(decodeInPieces(createArrayDecoder(), '[]', [1])).toMatchObject({ values: [], isComplete: true });
  });

  test.each(['<html>', '{"a":1}', '[1]', '[{}] x'])('rejects anything but an array of objects: %s', (text) => {
    expect(() => createArrayDecoder().push(text)).toThrow(SyntaxError);
  });
});
