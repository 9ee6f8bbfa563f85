// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexer, type Tokens } from 'marked';
import { describe, expect, test } from 'vitest';
import { blocksOf } from '../../../../electron/knowledge/parsing/pdf-layout.ts';
import { fc } from '../../../support/fast-check.ts';
import { docx, fixture, headingsOf, pdf, pdfStream, readFileAt, readSourceText } from './test-files.ts';

const root = join(import.meta.dirname, '../../../..');
const decisions = join(root, 'docs/decisions');
const markdownFiles = ['README.md', ...readdirSync(decisions).map((name) => `docs/decisions/${name}`)];

const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

describe('plain text', () => {
  test('stays unchanged, in any encoding', async () => {
    const text = 'Größe: naïve “quotes”\n\nZweiter Absatz – mit Strich.';
    const windows = Buffer.from(text.replaceAll('“', '\x93').replaceAll('”', '\x94').replaceAll('–', '\x96'), 'latin1');
    const utf16 = Buffer.from(text, 'utf16le');
    const read = [
      text,
      `\ufeff${text}`,
      utf16,
      Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
      windows,
    ];
    for (const content of read) expect((await readSourceText('a.txt', content)).text).toBe(text);
  });

  test('in other alphabets is detected by its letters', async () => {
    const russian =
      'Пробирный камень это тёмный камень, на котором золото оставляет след. Пробирщики сравнивали его цвет.';
    const letters = [...russian].map((letter) => {
      const code = letter.codePointAt(0)!;
      if (code === 0x451) return 0xb8;
      return code >= 0x410 && code <= 0x44f ? code - 0x410 + 0xc0 : code;
    });
    expect((await readSourceText('a.txt', Buffer.from(letters))).text).toBe(russian);
  });

  test('in damaged UTF-8 loses only what is damaged', async () => {
    const text = 'Zürich und Genève liegen in der Schweiz. '.repeat(10);
    const cut = Buffer.from(`${text}é`).subarray(0, -1);
    const read = [cut, Buffer.concat([Buffer.from([0xff]), Buffer.from(text)])].map((content) =>
      readSourceText('a.txt', content),
    );
    expect((await Promise.all(read)).map((source) => source.text.trim())).toEqual([
      `${text}\ufffd`,
      `\ufffd${text.trim()}`,
    ]);
  });

  test('joins wrapped lines, but splits a log between its lines', async () => {
    const broken = Array.from(
      { length: 40 },
      () => 'The streak is compared with that of a needle, and then the acid is',
    ).join('\n');
    const log = Array.from(
      { length: 60 },
      (_, index) => `10:00:${index} [info] request ${index} was answered in ${index} ms`,
    );
    const prose = await readSourceText('a.txt', broken);
    const lines = await readSourceText('a.log', log.join('\n'));
    expect(prose.texts.length).toBeGreaterThan(1);
    const known = new Set(log);
    expect(lines.texts.flatMap((text) => text.split('\n')).filter((line) => !known.has(line))).toEqual([]);
  });

  test('has no NUL, no other control characters and no halves of characters', async () => {
    const half = Buffer.concat([
      Buffer.from('\ufeffone ', 'utf16le'),
      Buffer.from([0, 0xd8]),
      Buffer.from(' two', 'utf16le'),
    ]);
    expect((await readSourceText('a.txt', half)).text).toBe('one \ufffd two');
    const mostly = 'words '.repeat(100);
    expect((await readSourceText('a.txt', `${mostly}\0\x1b[1mbold\r\nnext\rlast`)).text).toBe(
      `${mostly}  [1mbold\nnext\nlast`,
    );
  });
});

describe('Markdown', () => {
  test.each(markdownFiles)('%s has the headings that marked finds', async (file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const { text, passages, texts } = await readFileAt(join(root, file));
    const expected = lexer(source).filter((token): token is Tokens.Heading => token.type === 'heading');
    const words = (heading: string) => wordsOf(heading).join(' ');
    const found = new Set(headingsOf(passages).flatMap((path) => (path ?? '').split(' › ').map(words)));
    const known = new Set(expected.map((heading) => words(heading.text.replaceAll(/\]\([^)]*\)/g, ']'))));
    expect(text).toBe(source);
    expect([...found].filter((heading) => heading !== '' && !known.has(heading))).toEqual([]);
    for (const { raw } of expected) expect(texts.some((own) => own.includes(raw.trim()))).toBe(true);
  });

  test('keeps code, tables and front matter whole, and leaves comments out', async () => {
    const code = '```sh\n# no heading\n\nrun --it\n```';
    const table = '| a | b |\n| --- | --- |\n| 1 | 2 |';
    const front = '---\ntitle: Stones\n---\n';
    const { texts, passages } = await readSourceText(
      'a.md',
      `${front}# One\n\n${code}\n\n<!-- not\n\n# this -->\n\n${table}\n\nTwo\nlines\n---\n\nEnd.`,
    );
    expect(texts.join('\n\n')).toBe(
      `${front}# One\n\n${code}\n\n<!-- not\n\n# this -->\n\n${table}\n\nTwo\nlines\n---\n\nEnd.`,
    );
    expect(headingsOf(passages)).toEqual([null]);
  });

  test('with a heading of 1,000,000 spaces is read in linear time, or the test times out', async () => {
    const heading = `a${' '.repeat(1_000_000)}b`;
    expect((await readSourceText('a.md', `${heading}\n===\n`)).text).toContain(heading);
  });

  test('has the text after a comment on its line', async () => {
    const page = '# Fees\n\n<!-- new\n--><!-- checked --> 40 euros.';
    expect((await readSourceText('a.md', `${page}\n\n<!-- the end -->\n`)).texts).toEqual([page]);
  });
});

describe('HTML', () => {
  test('returns its title, headings, paragraphs, lists and tables, without hidden content', async () => {
    const { text } = await readSourceText(
      'a.html',
      `<!doctype html><html><head><title>Stones</title><style>p{}</style><script>alert(1)</script></head><body>
       <h1>Touch<b>stone</b></h1><p>Dark,\n  fine&nbsp;stone &amp; acid.<br>Second line.</p>
       <p hidden>no</p><p style="display: none">no</p><div aria-hidden="true">no<p>no</p></div><template>no</template>
       <ol><li>Rub<li>Compare</ol><ul><li><p>Clean</p></li></ul>
       <table><tr><th>Needle</th><th>Gold</th></tr><tr><td>First</td><td>583</td></tr></table>
       <pre>a\n  b</pre><img src="x.png" alt="A streak"><noscript>no</noscript><svg><text>no</text></svg></body></html>`,
    );
    expect(text).toBe(
      [
        'Stones',
        'Touchstone',
        'Dark, fine stone & acid.\nSecond line.',
        '1. Rub\n2. Compare\n- Clean',
        'Needle: First; Gold: 583',
        'a\n  b',
        'A streak',
      ].join('\n\n'),
    );
  });

  test('of a page with layout tables is its text', async () => {
    const { text } = await readSourceText(
      'a.html',
      '<table><tr><td>Menu</td><td><h1>News</h1><p>One.</p><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>',
    );
    expect(text).toBe('Menu\n\nNews\n\nOne.\n\na | b');
  });

  test('has the text of a table beside its cells', async () => {
    const rows = '<tr><td>Bread</td><td>3</td></tr>in euros<br>each<tr><td>Milk</td><td>2</td></tr>';
    const { text } = await readSourceText('a.html', `<table>Prices of 2026${rows}</table><p>End`);
    expect(text.split('\n\n').toSorted()).toEqual(['Bread | 3\nMilk | 2', 'End', 'Prices of 2026', 'in euros each']);
  });

  test('uses the encoding that it declares', async () => {
    const page = Buffer.concat([
      Buffer.from('<meta charset="shift_jis"><p>'),
      Buffer.from([0x8e, 0x8e, 0x8b, 0xe0, 0x90, 0xce]),
    ]);
    expect((await readSourceText('a.html', page)).text).toBe('試金石');
  });

  test('that declares UTF-8 is read as such unless it is in another encoding', async () => {
    const read = async (...parts: Buffer[]) =>
      (await readSourceText('a.html', Buffer.concat([Buffer.from('<meta charset="utf-8"><p>'), ...parts]))).text;
    expect(await read(Buffer.from('Zürich '), Buffer.from([0xff]))).toBe('Zürich \ufffd');
    expect(await read(Buffer.from('Zürich und Genève', 'latin1'))).toBe('Zürich und Genève');
  });
});

describe('CSV', () => {
  test('repeats the names of its columns in every row, with any delimiter', async () => {
    for (const delimiter of [',', ';', '\t']) {
      const table = ['name,colour,weight', 'First,"pale; ""dull""",3', '', ',,', 'Second,,4'];
      const { text } = await readSourceText('a.csv', table.map((line) => line.replaceAll(',', delimiter)).join('\r\n'));
      expect(text).toContain('name: First');
      expect(text.split('\n').at(-1)).toBe('name: Second; weight: 4');
    }
  });

  test('without names is its cells', async () => {
    expect((await readSourceText('a.csv', '1,2\n3,4')).text).toBe('1 | 2\n3 | 4');
  });

  test('of short cells names its columns once per passage', async () => {
    const rows = Array.from({ length: 900 }, (_, index) => `${index % 10},${index % 7}`);
    const { texts } = await readSourceText('a.csv', ['temperature,pressure', ...rows].join('\n'));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => !text.includes('temperature; pressure'))).toEqual([]);
  });

  test('of long texts keeps them as paragraphs with their names', async () => {
    const long = 'The stone is dark. '.repeat(60).trim();
    const { text } = await readSourceText('a.csv', `title,body\nOne,"${long}"`);
    expect(text).toBe(`title: One\n\nbody: ${long}`);
  });

  test('loses no cell of any table', async () => {
    const cell = fc.stringMatching(/^[a-z]{1,8}$/);
    const anyTable = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyTable, async (rows) => {
        const { texts } = await readSourceText('a.csv', rows.map((row) => row.join(',')).join('\n'));
        const read = new Set(wordsOf(texts.join('\n')));
        expect(rows.flat().filter((word) => !read.has(word))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('JSON', () => {
  test('returns every value with its path', async () => {
    const { text } = await readSourceText(
      'a.json',
      JSON.stringify({
        name: 'Office',
        tags: ['gold', 'silver'],
        none: null,
        address: { city: 'Mint', zip: 12 },
        needles: [
          { no: 1, gold: 583 },
          { no: 2, gold: 750 },
        ],
        note: 'One line.\nAnother.',
      }),
    );
    expect(text).toBe(
      [
        'name: Office\ntags: gold, silver\nnone: null',
        'address',
        'city: Mint\nzip: 12',
        'needles',
        '[0] no: 1; gold: 583\n[1] no: 2; gold: 750',
        'note: One line.\nAnother.',
      ].join('\n\n'),
    );
  });

  test('has its numbers as they are written', async () => {
    const json = String.raw`{"id": 1234567890123456789, "price": 1.10, "all": [-0, 1E5, 2], "note": "\\", "quote": "\"1.10 \\\" 2.0"}`;
    const lines = ['id: 1234567890123456789', 'price: 1.10', 'all: -0, 1E5, 2', 'note: \\', 'quote: "1.10 \\" 2.0'];
    expect((await readSourceText('a.json', json)).text).toBe(lines.join('\n'));
    const { text } = await readSourceText('a.jsonl', '{"price": 1.10}\n{"price": 2.00}\n');
    expect(text).toBe('[0] price: 1.10\n[1] price: 2.00');
  });

  test('with one value per line is read as a list', async () => {
    expect((await readSourceText('a.jsonl', '{"a":1}\n{"a":2}\n')).text).toBe('[0] a: 1\n[1] a: 2');
  });

  test('is rejected with the position if it is invalid', async () => {
    await expect(readSourceText('a.json', '{\n "a": 1,\n "b" 2}')).rejects.toThrow('Invalid JSON at line 3, column 6.');
    await expect(readSourceText('a.json', '{"a": [1, 2')).rejects.toThrow(/^Invalid JSON/);
  });

  test('has no lone surrogates', async () => {
    expect((await readSourceText('a.json', '{"a":"x \\ud800 y"}')).text).toBe('a: x \ufffd y');
  });
});

describe('a Word document', () => {
  test('returns headings, lists, tables and notes, without hidden and deleted text', async () => {
    const { text, passages } = await readFileAt(fixture('touchstone.docx'));
    expect(text).toBe(
      [
        'The touchstone',
        'What it is',
        'A touchstone is a small tablet of dark stone on which gold leaves a visible streak.',
        'The assayer kept twenty-four needles of known alloy.',
        'How it is used',
        '1. Rub the gold on the stone.\n2. Rub a needle beside it.\n3. Compare both streaks under acid.\n- Keep the stone clean.\n- Keep the acid closed.',
        'Needles',
        'Needle: First; Gold parts: 583; Colour: pale\nNeedle: Second; Gold parts: 750; Colour: warm\nNeedle: Third; Gold parts: 916; Colour: deep',
        'Tabs\tand\nbreaks are kept apart.',
        'Pliny the Elder, Natural History, book 33.',
      ].join('\n\n'),
    );
    expect(headingsOf(passages)).toEqual(['The touchstone › What it is', 'The touchstone › Needles']);
  });

  const word = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const cell = (content: string) => `<w:tc>${content}</w:tc>`;
  const table = (...rows: string[]) => `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;

  test('has the properties after its tracked changes, not before them', async () => {
    const run = (text: string, properties = '') => `<w:r>${properties}<w:t>${text}</w:t></w:r>`;
    const paragraph = (now: string, before: string, content: string) =>
      `<w:p><w:pPr>${now}<w:pPrChange w:id="1"><w:pPr>${before}</w:pPr></w:pPrChange></w:pPr>${content}</w:p>`;
    const body = [
      paragraph('<w:pStyle w:val="Heading1"/>', '<w:pStyle w:val="Normal"/>', run('Fees')),
      paragraph('', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>', run('No longer an item.')),
      `<w:p>${run('Shown.', '<w:rPr><w:rPrChange w:id="1"><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>')}</w:p>`,
    ].join('');
    const names = { Heading1: 'heading 1', Normal: 'Normal' };
    const styles = Object.entries(names).map(
      ([id, name]) => `<w:style w:styleId="${id}"><w:name w:val="${name}"/></w:style>`,
    );
    const more = { 'word/styles.xml': `<w:styles xmlns:w="w">${styles.join('')}</w:styles>` };
    const { text, passages } = await readSourceText('a.docx', await docx(body, more));
    expect([text, passages[0]!.heading]).toEqual(['Fees\n\nNo longer an item.\n\nShown.', 'Fees']);
  });

  test('keeps the text around a table that is nested in a cell, in order', async () => {
    const inner = table(
      ['Needle', 'Gold', 'Colour'].map((name) => cell(word(name))).join(''),
      ['First', '583', 'pale'].map((name) => cell(word(name))).join(''),
    );
    const body = table(
      cell(word('Before')) + cell(word('Above') + inner + word('Below')) + cell(word('After')),
      cell(word('Next')) + cell(word('row')),
    );
    const { text } = await readSourceText('a.docx', await docx(`${body}${word('End')}`));
    expect(text).toBe(
      ['Before', 'Above', 'Needle: First; Gold: 583; Colour: pale', 'Below', 'After', 'Next | row', 'End'].join('\n\n'),
    );
  });

  test('keeps every word of tables that are nested in any way, in order', async () => {
    const { content } = fc.letrec<{ content: unknown[]; block: unknown; table: unknown }>((tie) => ({
      content: fc.array(tie('block'), { maxLength: 3 }),
      block: fc.oneof({ depthSize: 'small' }, fc.constant('word'), tie('table')),
      table: fc.array(fc.array(tie('content'), { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
    }));
    await fc.assert(
      fc.asyncProperty(content, async (blocks) => {
        const written: string[] = [];
        const xmlOf = (block: unknown): string => {
          if (block === 'word') return word(written[written.push(`w${written.length}`) - 1]!);
          const rows = (block as unknown[][][]).map((row) => row.map((own) => cell(own.map(xmlOf).join(''))).join(''));
          return table(...rows);
        };
        const body = word('start') + blocks.map(xmlOf).join('');
        const { text } = await readSourceText('a.docx', await docx(body));
        expect(wordsOf(text)).toEqual(['start', ...written]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a PDF', () => {
  test('joins paragraphs across pages, with headings and tables, without headers and footers', async () => {
    const { text, pages, passages, texts } = await readFileAt(fixture('report.pdf'));
    const printed = readFileSync(fixture('report.html'), 'utf8').matchAll(/<p>(.*?)<\/p>/gs);
    for (const [, paragraph] of printed) expect(text).toContain(paragraph);
    expect(text).toContain('Fineness: 585; Objects: 6840; Share: 60 %\nFineness: 750');
    expect(text).not.toContain('yearly report');
    expect(text).not.toContain('Page ');
    const office = 'Report of the assay office';
    expect(new Set(headingsOf(passages))).toEqual(
      new Set([office, `${office} › Methods`, `${office} › Results`, `${office} › Outlook`]),
    );
    expect(texts.every((own) => own.length > 0)).toBe(true);
    expect(pages!.map(({ page }) => page)).toEqual(pages!.map((_, index) => index + 1));
    expect(pages!.map(({ start }) => start)).toEqual([0, ...pages!.slice(0, -1).map(({ end }) => end)]);
    expect(pages!.at(-1)!.end).toBe(text.length);
    expect(pages!.length).toBe(3);
    // The sentence runs over the end of the first page.
    const starts = pages!.map(({ start }) => text.slice(start, start + 30));
    expect(starts).toEqual(['Report of the assay office\n\nTh', 'number AO-2291 and can be cons', expect.any(String)]);
    expect(passages.find(({ start, end }) => text.slice(start, end).includes('Fineness'))).toMatchObject({
      heading: `${office} › Results`,
    });
  });

  test('with a table of contents has its entries as separate lines, not as headings', () => {
    const position = { page: 1, x: 70, width: 400, relativeHeight: 0.5 };
    const contents = ['1 Stones … 3', '2 Needles … 7'].map((text, index) => ({
      ...position,
      text,
      cells: [text],
      size: 14,
      y: 600 - index * 16,
    }));
    const body = Array.from({ length: 20 }, (_, index) => ({
      ...position,
      text: 'Plain words of the text',
      cells: [],
      size: 10,
      y: 500 - index * 12,
    }));
    const blocks = blocksOf([...contents, ...body]).map(({ kind, lines }) => [kind, lines.length]);
    expect(blocks).toEqual([
      ['paragraph', 1],
      ['paragraph', 1],
      ['paragraph', 20],
    ]);
  });

  /** A form of two pages: the paragraph of the first one goes on on the second. */
  const form = () => {
    const page = (content: number, annotations: string) =>
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents ${content} 0 R/Resources<</Font<</F 7 0 R>>>>/Annots[${annotations}]>>`;
    const drawn = (text: string) => pdfStream(Buffer.from(`BT /F 12 Tf 20 250 Td (${text}) Tj ET`));
    const field = (entries: string, top: number) => `<</Type/Annot/F 4/Rect[20 ${top - 9} 120 ${top}]${entries}>>`;
    return pdf([
      '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R 9 0 R 10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]>>>>',
      '<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>',
      page(5, '14 0 R 8 0 R 9 0 R 10 0 R 11 0 R 12 0 R 13 0 R'),
      page(6, '15 0 R'),
      drawn('This registration is for the'),
      drawn('course of next year.'),
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      field('/Subtype/Widget/FT/Tx/T(Full name)/V(Ada Lovelace)', 220),
      field('/Subtype/Widget/FT/Btn/T(Newsletter)/V/Yes/AS/Yes/AP<</N<</Yes 5 0 R/Off 5 0 R>>>>', 200),
      field('/Subtype/Widget/FT/Btn/T(Vegetarian)/V/Off/AS/Off/AP<</N<</Yes 5 0 R/Off 5 0 R>>>>', 190),
      field(
        '/Subtype/Widget/FT/Ch/Ff 131072/T(a[0].f1_01[0])/TU(Country)/V(de)/Opt[[(de)(Germany)][(fr)(France)]]',
        180,
      ),
      field('/Subtype/Widget/FT/Tx/T(a[0].f1_02[0])/V(Room 12)', 170),
      field('/Subtype/Widget/FT/Tx/T(Password)/V(hunter2)/Ff 8192', 160),
      field('/Subtype/Widget/FT/Tx/T(Hidden)/V(hidden)/F 2', 150).replace('/F 4', ''),
      field('/Subtype/FreeText/Contents(Please call back.)/DA(/Helv 10 Tf)', 100),
    ]);
  };

  test('returns filled form fields with their names, and free-text annotations, on their page', async () => {
    const { text, pages } = await readSourceText('a.pdf', form());
    expect(pages!.map(({ start, end }) => text.slice(start, end).trim())).toEqual([
      'This registration is for the\n\nFull name: Ada Lovelace\nNewsletter: Yes\nCountry: Germany\nRoom 12',
      'course of next year.\n\nPlease call back.',
    ]);
  });

  test('is read after other bytes', async () => {
    const before = Buffer.from('Content-Type: application/pdf\r\n\r\n');
    const { text } = await readSourceText('a.pdf', Buffer.concat([before, readFileSync(fixture('report.pdf'))]));
    expect(text).toBe((await readFileAt(fixture('report.pdf'))).text);
  });

  test('is read if only changes need a password', async () => {
    expect((await readFileAt(fixture('restricted.pdf'))).text).toBe(
      'Anybody may read this, though nobody may change it.',
    );
  });
});
