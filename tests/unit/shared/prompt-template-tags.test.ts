// @module-tag slow
import { expect, test } from 'vitest';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { matchBlocks, scanTags } from '../../../shared/prompt-template-tags.ts';
import { fc } from '../../support/fast-check.ts';
import { template } from '../../support/template-generator.ts';

const read = (text: string) => scanTags(text).map(({ kind, start, end }) => [kind, text.slice(start, end)]);

test('finds every kind of tag', () => {
  expect(
    read(
      '{{a}}{{{b}}}{{#if c}}{{else if d}}{{^}}{{else}}{{/if}}{{^e}}{{~/e~}}{{!-- }} --}}{{! x }}{{> p}}{{{{r}}}}{{x}}{{{{/r}}}}',
    ),
  ).toEqual([
    ['value', '{{a}}'],
    ['value', '{{{b}}}'],
    ['open', '{{#if c}}'],
    ['else', '{{else if d}}'],
    ['else', '{{^}}'],
    ['else', '{{else}}'],
    ['close', '{{/if}}'],
    ['open', '{{^e}}'],
    ['close', '{{~/e~}}'],
    ['comment', '{{!-- }} --}}'],
    ['comment', '{{! x }}'],
    ['partial', '{{> p}}'],
    ['raw-open', '{{{{r}}}}'],
    ['raw-close', '{{{{/r}}}}'],
  ]);
});

test('skips braces in strings and segments, and leaves escaped tags out', () => {
  expect(read('{{lookup a "}}"}} {{[b}}]}} \\{{c}} \\\\{{d}}')).toEqual([
    ['value', '{{lookup a "}}"}}'],
    ['value', '{{[b}}]}}'],
    ['value', '{{d}}'],
  ]);
});

test('an unclosed tag ends at the next one or at the end', () => {
  expect(scanTags('{{a {{b}} {{c').map(({ start, end, isClosed }) => [start, end, isClosed])).toEqual([
    [0, 4, false],
    [4, 9, true],
    [10, 13, false],
  ]);
});

test('pairs blocks and returns the first mismatched tag', () => {
  const text = '{{#if a}}{{#each b}}{{else}}{{/each}}{{else}}{{/with}}';
  const { blocks, mismatch } = matchBlocks(scanTags(text));
  expect(blocks.map(({ name, elses, close }) => [name, elses.length, close?.start ?? null])).toEqual([
    ['if', 1, null],
    ['each', 1, 28],
  ]);
  expect([mismatch?.tag.start, mismatch?.open?.start]).toEqual([45, 0]);
});

test('every valid generated template has paired blocks', () => {
  fc.assert(
    fc.property(template, (text) => {
      // A backslash makes text of the tag after it, so that not all of them do.
      fc.pre(parseTemplate(text).problems.length === 0);
      expect(matchBlocks(scanTags(text)).mismatch).toBeNull();
    }),
    { numRuns: 500 },
  );
});

test('skips braces in a long string', () => {
  const long = `{{lookup a "${'}} '.repeat(10_000)}"}}`;
  expect(read(`${long}{{b}}`)).toEqual([
    ['value', long],
    ['value', '{{b}}'],
  ]);
});

test('the name of an unclosed tag ends at the next tag', () => {
  expect(scanTags('{{a{{#b{{c').map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

const hostile = [
  '{{',
  '{{a',
  '{{a "',
  "{{'",
  '{{[',
  '{{"[',
  '{{[]',
  '{{"\\"',
  '{{{{',
  '{{{{a}}}}',
  '{{{{/',
  '{{!--',
  '{{#if a}}',
];

test.each(hostile)('reads %s, repeated, in one pass', (unit) => {
  const text = unit.repeat(Math.floor(2_000_000 / unit.length));
  expect(scanTags(text).length).toBeGreaterThan(0);
});
