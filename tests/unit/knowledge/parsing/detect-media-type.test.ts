import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { detectMediaType } from '../../../../electron/knowledge/parsing/detect-media-type.ts';
import type { AppError } from '../../../../shared/app-error.ts';
import { fixture, writeSource, zip } from './test-files.ts';

const { signal } = new AbortController();
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const kindOf = (fileName: string, content: string | Uint8Array) =>
  detectMediaType({ path: writeSource('content', content), fileName }, { signal });

/** The status and what the rejection says the file looks like. */
async function rejectionOf(fileName: string, content: string | Uint8Array): Promise<string> {
  const error = (await kindOf(fileName, content).catch((rejection: unknown) => rejection)) as AppError;
  return `${error.status} ${/^This looks like (.*)\. Supported: /.exec(error.message)?.[1] ?? error.message}`;
}

describe('detectMediaType', () => {
  test.each([
    ['report.pdf', 'application/pdf'],
    ['encrypted.pdf', 'application/pdf'],
    ['touchstone.docx', word],
    ['encrypted.docx', word],
    ['report.html', 'text/html'],
  ])('detects %s as %s under any name', async (name, kind) => {
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
  ])('detects text formats by name: %s is %s', async (name, kind) => {
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
  ])('detects text without a known extension by its start: %s', async (content, kind) => {
    expect(await kindOf('unnamed', content)).toBe(kind);
  });

  test.each(['utf16le', 'latin1', 'utf8'] as const)('detects text in %s', async (encoding) => {
    expect(await kindOf('letter.txt', Buffer.from('Größe, Café, naïve: nothing but words.', encoding))).toBe(
      'text/plain',
    );
  });

  test('rejects other formats with the apparent type', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const old = Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(500),
      Buffer.from('WordDocument', 'utf16le'),
    ]);
    expect([
      await rejectionOf('letter.txt', png),
      await rejectionOf('letter.txt', Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])),
      await rejectionOf('letter.docx', old),
      await rejectionOf('letter.txt', '{\\rtf1 text}'),
      await rejectionOf('picture.txt.svg', '<?xml version="1.0"?><svg xmlns="x"><text>t</text></svg>'),
      await rejectionOf('table.docx', await zip({ '[Content_Types].xml': 'x', 'xl/workbook.xml': 'x' })),
      await rejectionOf('files.docx', await zip({ 'a.txt': 'x' })),
      await rejectionOf('letter.txt', ''),
    ]).toEqual([
      '415 an image (PNG)',
      '415 binary data of an unknown type',
      '415 an old Word document (.doc); save it as .docx',
      '415 an RTF document; save it as .docx',
      '415 an SVG image',
      '415 an Excel workbook; save it as .csv',
      '415 a ZIP archive',
      '400 The file is empty.',
    ]);
  });

  test('keeps the format of a truncated document, so that reading it gives the reason', async () => {
    const cut = readFileSync(fixture('touchstone.docx')).subarray(0, 4000);
    expect(await kindOf('touchstone.docx', cut)).toBe(word);
  });

  test.each([
    ['comments', '<!---->'.repeat(9_000)],
    ['unclosed comments', '<!--'.repeat(16_000)],
    ['an XML declaration that does not end', `<?xml ${'?'.repeat(60_000)}`],
    ['spaces', ' '.repeat(60_000)],
    ['braces', '{'.repeat(60_000)],
    ['backslashes in a JSON key', `{"${'\\'.repeat(60_000)}`],
    ['brackets', '[ '.repeat(30_000)],
  ])('reads a hostile start once, whether it is ASCII or UTF-16: %s', async (_, start) => {
    const kinds = ['utf8', 'utf16le'] as const;
    const detected = await Promise.all(kinds.map((encoding) => kindOf('unnamed', Buffer.from(`${start}x`, encoding))));
    expect(detected).toEqual(['text/plain', 'text/plain']);
  });

  test('finds HTML after any number of comments, in UTF-16 too', async () => {
    const page = `<?xml version="1.0"?>\n${'<!-- a -->\n'.repeat(2_000)}<!DOCTYPE html><p>x`;
    const detected = await Promise.all([
      kindOf('unnamed', page),
      kindOf('unnamed', Buffer.from(`\ufeff${page}`, 'utf16le')),
    ]);
    expect(detected).toEqual(['text/html', 'text/html']);
  });

  test.each([
    ['a byte order mark', Buffer.from('\ufeff')],
    ['a line of a mail', Buffer.from('Content-Type: application/pdf\r\n\r\n')],
    ['1,000 bytes of zeros', Buffer.alloc(1_000)],
    ['1,000 letters', Buffer.from('x'.repeat(1_000))],
  ])('detects a PDF after %s', async (_, before) => {
    const content = Buffer.concat([before, readFileSync(fixture('report.pdf'))]);
    expect(await kindOf('letter.txt', content)).toBe('application/pdf');
  });

  test('detects a PDF with only ASCII after other bytes, but not a text about PDF', async () => {
    const ascii = 'x\n%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF\n';
    const article = 'A PDF starts with a line such as\n%PDF-1.4\nand ends with a marker.';
    expect([await kindOf('a.txt', ascii), await kindOf('a.txt', article)]).toEqual(['application/pdf', 'text/plain']);
  });
});
