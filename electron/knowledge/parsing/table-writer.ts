import type { DocumentWriter } from './document-writer.ts';

/** Writes a table row by row, so that each passage of it makes sense alone: every row repeats the names of its columns. */
export interface TableWriter {
  row(cells: readonly string[], options?: { readonly isHeader?: boolean }): void;
  finish(): void;
}

/** Rows are handed on in groups of about this many characters; a table that is shorter stays one block. */
const groupCharacters = 3000;

/** A cell that is longer holds paragraphs of its own: old pages and forms are laid out with tables. */
export const longestCell = 600;

/** Longer names of columns would drown what the cells say. */
const longestName = 80;

function nameCells(names: readonly string[], cells: readonly string[]): string {
  return cells
    .flatMap((cell, index) => (cell === '' ? [] : [names[index] ? `${names[index]}: ${cell}` : cell]))
    .join('; ');
}

function oneLine(cell: string): string {
  return cell.replace(/\s+/gu, ' ').trim();
}

/** A table of two columns mostly has its names in the first one, not above. */
export const leastNamedColumns = 3;

/** Whether a first row names the columns: words, each once. */
export function areColumnNames(cells: readonly string[]): boolean {
  const names = cells.map(oneLine);
  // The first column of an exported table often has no name.
  const isName = (name: string, index: number) =>
    (name !== '' || index === 0) && name.length <= longestName && !/^[\d\s.,:/%+-]*\d[\d\s.,:/%+-]*$/.test(name);
  return names.every(isName) && new Set(names).size === names.length && names.some((name) => name !== '');
}

export function createTableWriter(writer: DocumentWriter, { isLenient = false } = {}): TableWriter {
  let names: readonly string[] | null = null;
  let lines: string[] = [];
  let characters = 0;
  let areContinued = false;

  function flush(): void {
    if (lines.length > 0) writer.lines(lines.join('\n'), { areContinued });
    areContinued ||= lines.length > 0;
    lines = [];
    characters = 0;
  }

  function describe(cells: readonly string[]): string {
    // A shorter or longer row (spanned cells, a line that is no data) may not mean these columns.
    if (names && (isLenient || names.length === cells.length)) return nameCells(names, cells);
    return cells.filter((cell) => cell !== '').join(' | ');
  }

  return {
    row(given, { isHeader = false } = {}) {
      const cells = given.map(oneLine);
      if (isHeader && lines.length === 0 && cells.every((cell) => cell.length <= longestName)) {
        names = cells;
        return;
      }
      if (cells.some((cell) => cell.length > longestCell)) {
        flush();
        areContinued = false;
        for (const cell of given) writer.paragraph(cell);
        return;
      }
      const line = describe(cells);
      if (line === '') return;
      lines.push(line);
      characters += line.length;
      if (characters >= groupCharacters) flush();
    },
    finish() {
      // A table of nothing but its header still says something.
      if (lines.length === 0 && names) lines.push(names.filter((name) => name !== '').join(' | '));
      flush();
      names = null;
    },
  };
}
