/**
 * Reads what spreadsheets copy: cells between tabs, rows between line ends. A cell is quoted only if its closing quote is at its end:
 * spreadsheets quote cells with tabs and line ends, and leave a cell such as `"so" it says` as it is. A CSV parser rejects that.
 */
export function* readTabSeparated(text: string): Generator<string[]> {
  let row: string[] = [];
  let index = 0;
  // A quote that never closes is searched for up to the end. Many of them would take a time that grows with the square of the text.
  let unclosed = 0;
  while (index < text.length) {
    const quoted: Cell | null = text[index] === '"' && unclosed < maxUnclosed ? quotedCell(text, index) : null;
    if (text[index] === '"' && quoted === null) unclosed += 1;
    const { cell, end } = quoted ?? plainCell(text, index);
    row.push(cell);
    index = end;
    const isRowEnd = text[index] !== '\t';
    if (isRowEnd) {
      yield row;
      row = [];
      index += text.startsWith('\r\n', index) ? 2 : 1;
    } else {
      index += 1;
      // A tab at the end has one more empty cell after it.
      if (index === text.length) row.push('');
    }
  }
  if (row.length > 0) yield row;
}

interface Cell {
  readonly cell: string;
  readonly end: number;
}

const maxUnclosed = 20;

const cellEnd = /[\t\r\n]/g;

function endOf(text: string, from: number): number {
  cellEnd.lastIndex = from;
  return cellEnd.exec(text)?.index ?? text.length;
}

function plainCell(text: string, from: number): Cell {
  const end = endOf(text, from);
  return { cell: text.slice(from, end), end };
}

function quotedCell(text: string, from: number): Cell | null {
  const close = closingQuote(text, from);
  return close === null ? null : { cell: text.slice(from + 1, close).replaceAll('""', '"'), end: close + 1 };
}

/** The position of the quote that ends a cell; null if none does. */
function closingQuote(text: string, from: number): number | null {
  for (let index = text.indexOf('"', from + 1); index >= 0; index = text.indexOf('"', index + 1)) {
    if (text[index + 1] === '"') index += 1;
    else {
      const next = text[index + 1];
      return next === undefined || next === '\t' || next === '\n' || next === '\r' ? index : null;
    }
  }
  return null;
}

/** A row as spreadsheets read it. */
export function writeTabSeparated(cells: readonly string[]): string {
  return cells.map((cell) => (/[\t\r\n"]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join('\t');
}
