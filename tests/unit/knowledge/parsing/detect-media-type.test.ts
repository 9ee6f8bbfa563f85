import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { detectMediaType } from '../../../../electron/knowledge/parsing/detect-media-type.ts';
import type { AppError } from '../../../../shared/app-error.ts';
import { fixture, writeSource, zip } from './test-files.ts';

const { signal } = new AbortController();
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const kindOf = (fileName: string, content: string | Uint8Array) =>
  detectMediaType({ path: writeSource('content', content), fileName }, { signal });

/** The status and what the refusal says that the file looks like. */
async function refusalOf(fileName: string, content: string | Uint8Array): Promise<string> {
  const error = (await kindOf(fileName, content).catch((refusal: unknown) => refusal)) as AppError;
  return `${error.status} ${/^This looks like (.*)\. What can be read/.exec(error.message)?.[1] ?? error.message}`;
}

describe('the kind of a file', () => {
  test.each([
    ['report.pdf', 'application/pdf'],
    ['encrypted.pdf', 'application/pdf'],
    ['touchstone.docx', word],
    ['encrypted.docx', word],
    ['report.html', 'text/html'],
  ])('%s is %s, whatever its name', async (name, kind) => {
    const content = readFileSync(fixture(name));
    expect([await kindOf('picture.png', content), await kindOf('no-name', content)]).toEqual([kind, kind]);
  });

  test.each([
    ['notes.md', 'text/markdown'],
    ['table.csv', 'text/csv'],
    ['table.tsv', 'text/csv'],
    ['data.json', 'application/json'],
    ['log.jsonl', 'application/json'],
    ['page.HTM', 'text/html'],
    ['letter.txt', 'text/plain'],
    ['program.py', 'text/plain'],
  ])('of text is told by its name: %s is %s', async (name, kind) => {
    expect(await kindOf(name, 'Nothing but words, in a line.')).toBe(kind);
  });

  test.each([
    ['<!-- made by hand -->\n<!DOCTYPE html><p>x', 'text/html'],
    ['{"a": 1}', 'application/json'],
    ['[{"a": 1}]', 'application/json'],
    ['[ ] to do\n[x] done', 'text/plain'],
    ['{{name}} is a variable', 'text/plain'],
    ['OTTO was a man. MZ and GIF are words.', 'text/plain'],
    ['A file begins with %PDF-1.7, they say.', 'text/plain'],
  ])('of text without a telling name is told by its beginning: %s', async (content, kind) => {
    expect(await kindOf('unnamed', content)).toBe(kind);
  });

  test.each(['utf16le', 'latin1', 'utf8'] as const)('is text in %s', async (encoding) => {
    expect(await kindOf('letter.txt', Buffer.from('Größe, Café, naïve: nothing but words.', encoding))).toBe(
      'text/plain',
    );
  });

  test('is refused with what it looks like', async () => {
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
    const old = Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(500),
      Buffer.from('WordDocument', 'utf16le'),
    ]);
    expect([
      await refusalOf('letter.txt', png),
      await refusalOf('letter.txt', Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])),
      await refusalOf('letter.docx', old),
      await refusalOf('letter.txt', '{\\rtf1 text}'),
      await refusalOf('picture.txt.svg', '<?xml version="1.0"?><svg xmlns="x"><text>t</text></svg>'),
      await refusalOf('table.docx', await zip({ '[Content_Types].xml': 'x', 'xl/workbook.xml': 'x' })),
      await refusalOf('files.docx', await zip({ 'a.txt': 'x' })),
      await refusalOf('letter.txt', ''),
    ]).toEqual([
      '415 a PNG picture',
      '415 binary data of no known kind',
      '415 an old Word document (.doc); save it as .docx',
      '415 an RTF document',
      '415 an SVG picture',
      '415 an Excel workbook; save it as .csv',
      '415 a ZIP archive',
      '400 The file is empty.',
    ]);
  });

  test('of a document that is cut off stays what it was, so that reading it tells what is wrong', async () => {
    const cut = readFileSync(fixture('touchstone.docx')).subarray(0, 4000);
    expect(await kindOf('touchstone.docx', cut)).toBe(word);
  });
});
