import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from '../../../../electron/audit/exports/csv.ts';

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

test('whatever stands in a cell is read back, but for the apostrophe before a formula', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[ =+@",\r\n'a-]{0,12}$/));
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), (cells) => {
      const read = readCsv(csvLine(cells));
      expect(read.map((cell, index) => (cell === `'${cells[index]}` ? cells[index] : cell))).toEqual(cells);
    }),
  );
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '\n=1', '＝1', '\ufeff=1'])(
  'the text %j is no formula for a spreadsheet',
  (text) => {
    expect(readCsv(csvLine([text]))).toEqual([`'${text}`]);
  },
);

test('numbers stay numbers, absent values are empty, objects are JSON', () => {
  expect(csvLine([-5, 0.25, true, null, undefined, { a: [1] }])).toBe('-5,0.25,true,,,"{""a"":[1]}"\r\n');
});
