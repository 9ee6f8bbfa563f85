// @module-tag slow
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PageRenderer } from '../../../electron/files/render-pages.ts';
import type { SourceReader } from '../../../electron/knowledge/parsing/parsed-source.ts';
import { createSourceReader } from '../../../electron/knowledge/parsing/source-reader.ts';
import { choosePages } from '../../../shared/page-range.ts';
import { fixture, pdf, pdfStream, writeSource } from '../knowledge/parsing/test-files.ts';

const { signal } = new AbortController();
let reader: SourceReader & PageRenderer;
beforeAll(() => {
  reader = createSourceReader();
});
afterAll(() => reader.close());

async function render(content: Uint8Array, { number = 1, pixels = 300, using = reader } = {}) {
  const path = writeSource('a.pdf', content);
  const target = join(path, '..', randomUUID());
  const [size] = await using.renderPages({ path, pages: [{ number, path: target }], pixels }, { signal });
  return { ...size!, bytes: readFileSync(target) };
}

const reasonOf = (content: Uint8Array, options = {}) =>
  render(content, options).then(
    ({ width, height }) => `rendered: ${width} x ${height}`,
    (error: Error) => error.message,
  );

/** The share of pixels that aren't white. */
async function inkOf(bytes: Buffer): Promise<number> {
  const image = await loadImage(bytes);
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let ink = 0;
  for (let index = 0; index < data.length; index += 4) if (data[index]! < 200) ink += 1;
  return ink / (image.width * image.height);
}

const fonts = '/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</A 5 0 R>>>>';

/** A PDF of one page with this content. */
function pageOf(
  content: string,
  { box = '[0 0 200 200]', more = [] as (string | Buffer)[], catalog = '' } = {},
): Buffer {
  return pdf([
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox${box}/Contents 4 0 R${fonts}>>`,
    pdfStream(Buffer.from(content)),
    ...more,
  ]);
}

const text = 'BT /F 40 Tf 10 100 Td (Touchstone) Tj ET';

function imageOf(data: Buffer, entries: string): Buffer {
  return pdfStream(data, `/Type/XObject/Subtype/Image/ColorSpace/DeviceRGB/BitsPerComponent 8${entries}`);
}

test('renders text in a font that the PDF has not, at the requested size', async () => {
  const { width, height, bytes } = await render(pageOf(text));
  expect([width, height, bytes.subarray(0, 3).toString('hex')]).toEqual([300, 300, 'ffd8ff']);
  expect(await inkOf(bytes)).toBeGreaterThan(0.01);
});

test('the same page gives the same image', async () => {
  const report = readFileSync(fixture('report.pdf'));
  const [first, second] = [await render(report), await render(report)];
  expect(first.bytes.equals(second.bytes)).toBe(true);
});

test('renders scanned images', async () => {
  const image = imageOf(deflateSync(Buffer.alloc(100 * 100 * 3)), '/Width 100/Height 100/Filter/FlateDecode');
  const { bytes } = await render(pageOf('200 0 0 200 0 0 cm /A Do', { more: [image] }));
  expect(await inkOf(bytes)).toBeGreaterThan(0.99);
});

test('renders a fax, whose decoder is a file beside PDF.js', async () => {
  const parameters = '/DecodeParms<</K -1/Columns 16/Rows 16>>';
  const fax = `/Width 16/Height 16/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/CCITTFaxDecode${parameters}`;
  const image = pdfStream(Buffer.from('ffff001001', 'hex'), `/Type/XObject/Subtype/Image${fax}`);
  expect(await reasonOf(pageOf('200 0 0 200 0 0 cm /A Do', { more: [image] }))).toBe('rendered: 300 x 300');
});

test('renders a scan of 300 dpi', async () => {
  const [width, height] = [2480, 3508];
  const data = deflateSync(Buffer.alloc(width * height * 3), { level: 1 });
  const image = imageOf(data, `/Width ${width}/Height ${height}/Filter/FlateDecode`);
  const { bytes } = await render(pageOf('200 0 0 200 0 0 cm /A Do', { more: [image] }));
  expect(await inkOf(bytes)).toBeGreaterThan(0.99);
});

describe('a hostile PDF', () => {
  test.each([
    [
      'encrypted',
      readFileSync(fixture('encrypted.pdf')),
      'The PDF is encrypted. Save it without a password and add it again.',
    ],
    [
      'with an image that is damaged',
      readFileSync(fixture('scanned.pdf')),
      "Page 1 of the PDF has an image that can't be read.",
    ],
    ['with a huge page', pageOf(text, { box: '[0 0 1000000000 1000000000]' }), 'rendered: 300 x 300'],
    ['with a page as thin as a line', pageOf(text, { box: '[0 0 0.001 1000000]' }), 'rendered: 1 x 300'],
    [
      'with scripts',
      pageOf(text, {
        catalog: '/OpenAction<</S/JavaScript/JS(while\\(true\\){})>>/AA<</WC<</S/JavaScript/JS(app.alert\\(1\\))>>>>',
      }),
      'rendered: 300 x 300',
    ],
    ['that is cut off', readFileSync(fixture('report.pdf')).subarray(0, 3000), expect.stringMatching(/damaged/)],
    [
      'that fetches a character map by a path',
      pdf([
        '<</Type/Catalog/Pages 2 0 R>>',
        '<</Type/Pages/Kids[3 0 R]/Count 1>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>',
        pdfStream(Buffer.from(text)),
        '<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/..#2F..#2Fpackage.json/DescendantFonts[6 0 R]>>',
        '<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(a)/Ordering(b)/Supplement 0>>>>',
      ]),
      expect.stringMatching(/Page 1 of the PDF is damaged|rendered/),
    ],
  ])('%s', async (_kind, content, outcome) => {
    expect(await reasonOf(content)).toEqual(outcome);
  });

  test('a page that the PDF has not', async () => {
    expect(await reasonOf(pageOf(text), { number: 2 })).toMatch(/Page 2 of the PDF is damaged/);
  });

  test('an image of gigabytes ends the process, not the program', async () => {
    const side = 60_000;
    const image = imageOf(deflateSync(Buffer.alloc(3_000_000)), `/Width ${side}/Height ${side}/Filter/FlateDecode`);
    const bomb = pageOf('200 0 0 200 0 0 cm /A Do', { more: [image] });
    expect(await reasonOf(bomb)).toMatch(/memory|too large/);
    expect(await reasonOf(pageOf(text))).toBe('rendered: 300 x 300');
  });

  test('a page that takes too long names the limit, and leaves no image', async () => {
    const limited = createSourceReader({ deadlineSeconds: 2 });
    onTestFinished(() => limited.close());
    const slow = pageOf('0 0 200 200 re f '.repeat(4_000_000));
    expect(await reasonOf(slow, { using: limited })).toMatch(/took longer than 2 seconds|memory/);
  });
});

test('leaves no image of a page that it could not render', async () => {
  const path = writeSource('a.pdf', readFileSync(fixture('scanned.pdf')));
  const target = join(path, '..', randomUUID());
  await expect(
    reader.renderPages({ path, pages: [{ number: 1, path: target }], pixels: 300 }, { signal }),
  ).rejects.toThrow();
  expect(existsSync(target)).toBe(false);
});

test.each([
  ['', 3, [1, 2, 3]],
  [' 2 - 3, 1,2', 3, [2, 3, 1]],
  ['1-4', 3, 'names page 4, and the PDF has 3'],
  ['0', 3, 'must name pages, such as 1-3, 7'],
  ['3-1', 3, 'must name pages, such as 1-3, 7'],
  ['1 2', 20, 'must name pages, such as 1-3, 7'],
  ['1,,2', 3, 'must name pages, such as 1-3, 7'],
  ['', 10_000, 'names more than 100 pages. Choose some, such as 1-100'],
  ['1-999999', 999_999, 'names more than 100 pages. Choose some, such as 1-100'],
  ['1-100', 10_000, Array.from({ length: 100 }, (_, index) => index + 1)],
  ['1,'.repeat(1_000_000), 10, 'must name pages, such as 1-3, 7'],
] as const)('the pages of %j', (range, count, expected) => {
  const chosen = choosePages(range, count);
  expect('pages' in chosen ? chosen.pages : chosen.issue).toEqual(expected);
});
