// @module-tag slow
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { detectMediaType } from '../../../../electron/knowledge/parsing/detect-media-type.ts';
import type { ParsedSource, SourceReader } from '../../../../electron/knowledge/parsing/parsed-source.ts';
import { createSourceReader } from '../../../../electron/knowledge/parsing/source-reader.ts';
import { docx, fixture, pdf, pdfStream, writeSource, zip } from './test-files.ts';

const { signal } = new AbortController();
let reader: SourceReader;
beforeAll(() => {
  reader = createSourceReader();
});
afterAll(() => reader.close());

async function read(fileName: string, content: string | Uint8Array): Promise<ParsedSource> {
  const source = { path: writeSource(fileName, content), fileName };
  return reader.readSource({ ...source, mediaType: await detectMediaType(source, { signal }) }, { signal });
}

/** The reason for which the file is not read. */
async function reasonOf(fileName: string, content: string | Uint8Array): Promise<string> {
  const failure: unknown = await read(fileName, content).then(
    ({ text }) => `read: ${text.slice(0, 100)}`,
    (error: unknown) => error,
  );
  return failure instanceof Error ? failure.message : String(failure);
}

const catalogue = ['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>'];
const pdfPage = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</A 5 0 R>>>>>>';
const noText =
  'The PDF contains no text. It may be scanned or damaged. Run text recognition (OCR) on it and add it again.';
const damagedPdf = 'The PDF is damaged or incomplete.';
const damagedWord = 'The Word document is damaged or incomplete.';

/** Bytes that look random and are the same each time. */
function noise(length: number): Buffer {
  let state = 12345;
  return Buffer.from(Array.from({ length }, () => (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16));
}

describe('a file that cannot be read says why', () => {
  test.each([
    ['encrypted.pdf', 'The PDF is encrypted. Save it without a password and add it again.'],
    ['encrypted.docx', 'The Word document is encrypted. Save it without a password and add it again.'],
    ['scanned.pdf', noText],
  ])('%s', async (name, reason) => {
    expect(await reasonOf(name, readFileSync(fixture(name)))).toBe(reason);
  });

  test('empty ones', async () => {
    expect([
      await reasonOf('a.txt', ' \n\n\t '),
      await reasonOf('a.html', '<html><body><script>1</script></body></html>'),
      await reasonOf('a.json', '{}'),
      await reasonOf('a.csv', '\n\n'),
      await reasonOf('a.docx', await docx('<w:p></w:p>')),
    ]).toEqual(Array.from({ length: 5 }, () => 'The file contains no text.'));
  });

  test('truncated ones', async () => {
    const [report, touchstone] = [readFileSync(fixture('report.pdf')), readFileSync(fixture('touchstone.docx'))];
    const shares = [0.1, 0.5, 0.9];
    const reasons = await Promise.all([
      ...shares.map((share) => reasonOf('a.pdf', report.subarray(0, report.length * share))),
      ...shares.map((share) => reasonOf('a.docx', touchstone.subarray(0, touchstone.length * share))),
    ]);
    expect(reasons).toEqual([damagedPdf, damagedPdf, damagedPdf, damagedWord, damagedWord, damagedWord]);
  });

  test('those with random bytes inside', async () => {
    const broken = await docx('<w:p><w:r><w:t>text</w:t></w:r></w:p>');
    noise(20).copy(broken, broken.indexOf('word/document.xml') + 20);
    expect([
      await reasonOf('a.pdf', Buffer.concat([Buffer.from('%PDF-1.4\n'), noise(50_000)])),
      await reasonOf('a.docx', broken),
      await reasonOf('a.docx', await zip({ 'word/document.xml': noise(50_000) })),
    ]).toEqual([damagedPdf, damagedWord, 'The file contains no text.']);
  });
});

describe('a hostile file', () => {
  test('rejects a Word document that unpacks to hundreds of times its size', async () => {
    const bomb = await docx(`<w:p>${' '.repeat(30_000_000)}</w:p>`);
    expect(bomb.length).toBeLessThan(100_000);
    const reason = 'The Word document unpacks to more than 200 times its size. Save it again in Word and add it again.';
    expect(await reasonOf('a.docx', bomb)).toBe(reason);
    // Its directory may say what it likes.
    const size = Buffer.alloc(4);
    size.writeUInt32LE(
      30_000_000 + '<?xml version="1.0"?><w:document xmlns:w="w"><w:body><w:p></w:p></w:body></w:document>'.length,
    );
    for (let at = bomb.indexOf(size); at >= 0; at = bomb.indexOf(size)) bomb.writeUInt32LE(1000, at);
    expect(await reasonOf('a.docx', bomb)).toBe(damagedWord);
  });

  test('rejects a Word document of five thousand files', async () => {
    const files = Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`word/media/${index}`, 'x']));
    const reason = 'The Word document contains more than 5,000 files. Remove embedded files and add it again.';
    expect(await reasonOf('a.docx', await docx('<w:p/>', files))).toBe(reason);
  });

  test('leaves entities of XML, internal and external ones, unchanged', async () => {
    const entities =
      '<!DOCTYPE w [<!ENTITY a "ten times "><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>';
    const body = '<w:p><w:r><w:t>before &b; &c; &amp; &#65; after</w:t></w:r></w:p>';
    const content = await zip({ 'word/document.xml': `${entities}<w:document>${body}</w:document>` });
    expect((await read('a.docx', content)).text).toBe('before &b; &c; & A after');
  });

  test('reads a depth of ten thousand levels', async () => {
    const deep = (open: string, close = '') => open.repeat(10_000) + 'bottom' + close.repeat(10_000);
    const cell = '<w:tbl><w:tr><w:tc>';
    expect([
      await reasonOf('a.html', deep('<div>')),
      await reasonOf('a.html', deep('<b>')),
      await reasonOf('a.html', '<table><tr><td>'.repeat(4_000) + 'bottom'),
      await reasonOf('a.docx', await docx('<w:p>'.repeat(10_000) + '<w:r><w:t>bottom</w:t></w:r>')),
      await reasonOf('a.docx', await docx(`${cell.repeat(4_000)}<w:p><w:r><w:t>bottom</w:t></w:r></w:p>`)),
      (await reasonOf('a.md', '>'.repeat(10_000))).slice(0, 10),
      (await reasonOf('a.md', '```\n'.repeat(10_001))).slice(0, 9),
    ]).toEqual([
      'read: bottom',
      'read: bottom',
      'read: bottom',
      'read: bottom',
      'read: bottom',
      'read: >>>>',
      'read: ```',
    ]);
  });

  test('rejects a depth of twenty thousand levels with the reason', async () => {
    const html = 'The HTML is nested more than 15,000 levels deep. Simplify it and add it again.';
    const word = 'The Word document is nested more than 15,000 levels deep. Simplify it and add it again.';
    const json = 'The JSON is nested more than 100 levels deep. Flatten it and add it again.';
    const levels = 20_000;
    expect([
      await reasonOf('a.html', '<div>'.repeat(levels)),
      await reasonOf('a.html', `${'<b>'.repeat(levels)}x${'</b>'.repeat(levels)}`),
      await reasonOf('a.html', '<ul><li>x'.repeat(levels)),
      await reasonOf('a.html', '<table><tr><td>'.repeat(levels)),
      await reasonOf('a.docx', await docx('<w:p>'.repeat(levels))),
      await reasonOf('a.docx', await docx('<w:tbl><w:tr><w:tc>'.repeat(levels))),
      await reasonOf('a.docx', await docx('', { 'word/styles.xml': '<w:style>'.repeat(levels) })),
      await reasonOf('a.json', '['.repeat(levels) + ']'.repeat(levels)),
      await reasonOf('a.json', '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)),
    ]).toEqual([html, html, html, html, word, word, word, json, json]);
  });

  test('PDFs with circular page trees, or that claim a billion pages', async () => {
    const content = pdfStream(Buffer.from('/A Do'));
    const form = pdfStream(
      Buffer.from('/A Do /A Do'),
      '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A 5 0 R>>>>',
    );
    expect([
      await reasonOf('a.pdf', pdf([catalogue[0]!, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>'])),
      await reasonOf(
        'a.pdf',
        pdf([
          catalogue[0]!,
          '<</Type/Pages/Kids[3 0 R]/Count 1000000000>>',
          '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>',
        ]),
      ),
      await reasonOf('a.pdf', pdf([...catalogue, pdfPage, content, form])),
    ]).toEqual(['The PDF is damaged. None of its pages can be read.', noText, noText]);
  });

  test('a PDF that unpacks to gigabytes ends at the limit of memory, and the next file is read', async () => {
    const small = createSourceReader({ memoryMegabytes: 150 });
    const bomb = pdfStream(deflateSync(Buffer.alloc(600_000_000, 32), { level: 1 }), '/Filter/FlateDecode');
    const hostile = { path: writeSource('a.pdf', pdf([...catalogue, pdfPage, bomb])), fileName: 'a.pdf' };
    const harmless = { path: writeSource('b.txt', 'Harmless.'), fileName: 'b.txt' };
    await expect(small.readSource({ ...hostile, mediaType: 'application/pdf' }, { signal })).rejects.toThrow(
      'Reading the file needs more than 150 MB of memory. Split it into smaller files.',
    );
    expect((await small.readSource({ ...harmless, mediaType: 'text/plain' }, { signal })).text).toBe('Harmless.');
    await small.close();
  });

  test('50 MB on one line', async () => {
    const line = 'The stone is dark and the gold is not. ';
    const { text, passages } = await read('a.txt', line.repeat(Math.floor((50 * 1024 * 1024) / line.length)));
    expect(text.length).toBeGreaterThan(52_000_000);
    expect(passages.length).toBeGreaterThan(50_000);
    expect(
      passages.filter((passage) => !passage.text.startsWith('The stone') || !passage.text.endsWith('not.')),
    ).toEqual([]);
  });
});
