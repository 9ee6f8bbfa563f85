import { expect, test, vi } from 'vitest';
import { csvLine } from '../../../../electron/common/csv.ts';
import { fc } from '../../../support/fast-check.ts';

/** Reads one line as RFC 4180 defines it, a second time and another way than it is written. */
function readCsv(text: string): string[] {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === '\r\n') break;
  }
  expect(cell.lastIndex).toBe(text.length);
  return cells;
}

test('every cell can be read back, except for apostrophes before formulas', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[ =+@",\r\n'a-]{0,12}$/));
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), (cells) => {
      const read = readCsv(csvLine(cells));
      const plain = (cell: string) => cell.replaceAll(/'(?=[=+\-@＝＋－＠\s\ufeff\0])/g, '');
      expect(read.map(plain)).toEqual(cells.map(plain));
    }),
  );
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', ' =1', '＝1', '\ufeff=1'])(
  'the text %j is no formula for a spreadsheet',
  (text) => {
    expect(readCsv(csvLine([text]))).toEqual([`'${text}`]);
  },
);

test.each(['\t', '\r', '\n'])(
  'a formula after %j is none, neither for the cell nor for one that starts there',
  (separator) => {
    expect(readCsv(csvLine([`${separator}=1`]))).toEqual([`'${separator}'=1`]);
  },
);

/** The cells of a spreadsheet that separates by another sign: it knows quotes only at the start of a cell. */
function cellsBy(separator: string, text: string): string[] {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"[^${separator}\r\n]*|([^${separator}\r\n]*))(?:${separator}|\r\n?|\n|$)`,
    'y',
  );
  const cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const [, quoted, bare] = cell.exec(text)!;
    cells.push(quoted?.replaceAll('""', '"') ?? bare!);
  }
  return cells;
}

const starts = ['=', '+', '-', '@', '＝'].flatMap((sign) =>
  ['', ' ', '"', ' "" '].map((before) => `${before}${sign}1+1`),
);

test.each([';', '\t', '\n', '\r', '; \t\n'])(
  'no cell is a formula for a spreadsheet that starts a cell after %j',
  (separator) => {
    for (const start of starts) {
      const line = csvLine(['id', `Total${separator}${start}`, `"${separator}${start}`]);
      for (const other of [';', '\t']) {
        const found = cellsBy(other, line).filter((cell) => /^[\s\0\ufeff"]*[=+\-@＝]/.test(cell));
        expect({ line, other, found }).toEqual({ line, other, found: [] });
      }
    }
  },
);

test('a long sequence of separators is read once per sign', () => {
  const spy = vi.spyOn(RegExp.prototype, 'test');
  csvLine([`${';'.repeat(50_000)}${' ='.repeat(50_000)}`]);
  expect(spy.mock.calls.length).toBeLessThan(500_000);
  spy.mockRestore();
});

test('numbers stay numbers, absent values are empty, objects are JSON', () => {
  expect(csvLine([-5, 0.25, true, null, undefined, { a: [1] }])).toBe('-5,0.25,true,,,"{""a"":[1]}"\r\n');
});
