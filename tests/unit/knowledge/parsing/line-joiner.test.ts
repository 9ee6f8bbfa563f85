import { describe, expect, test } from 'vitest';
import { createLineJoiner } from '../../../../electron/knowledge/parsing/read-pdf.ts';
import type { PdfLine } from '../../../../electron/knowledge/parsing/pdf-layout.ts';

const line = (text: string, page = 1): PdfLine => ({
  page,
  text,
  cells: [text],
  x: 0,
  y: 0,
  width: 100,
  size: 10,
  relativeHeight: 0.5,
});

function join(texts: readonly string[], elsewhere: readonly string[] = []): string {
  const lines = texts.map((text) => line(text));
  const parts = createLineJoiner([...lines, ...elsewhere.map((text) => line(text))]).join(lines);
  return parts.map(({ joint, text }) => joint + text).join('');
}

describe('lines of a PDF', () => {
  test.each([
    [['the compo-', 'sition of gold'], 'the composition of gold'],
    [['the compo\u00ad', 'sition'], 'the composition'],
    [['taken to the X-', 'ray instrument'], 'taken to the X-ray instrument'],
    [['between London-', 'Paris and Rome'], 'between London- Paris and Rome'],
    [['from 1914 -', 'a year'], 'from 1914 - a year'],
    [['試金石は金が', 'その上に'], '試金石は金がその上に'],
    [['plain', 'words'], 'plain words'],
  ])('%j are joined to %s', (texts, joined) => {
    expect(join(texts)).toBe(joined);
  });

  test('keep the hyphen of a word that has it elsewhere', () => {
    const lines = ['the well-', 'known stone'];
    expect([join(lines), join(lines, ['a well-known one'])]).toEqual(['the wellknown stone', 'the well-known stone']);
  });

  test('that span pages are split by page', () => {
    const lines = [line('ends with compo-', 1), line('sition', 2), line('here', 2)];
    expect(createLineJoiner(lines).join(lines)).toEqual([
      { page: 1, text: 'ends with compo', joint: '' },
      { page: 2, text: 'sition here', joint: '' },
    ]);
  });
});

test('a line of 1,000,000 letters without a space is joined in linear time, or the test times out', () => {
  const long = 'a'.repeat(1_000_000);
  expect(join([long, 'b'])).toBe(`${long} b`);
});
