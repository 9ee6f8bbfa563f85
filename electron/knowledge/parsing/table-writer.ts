import { estimateEmbeddingTokens } from '../chunking/token-estimate.ts';
import type { DocumentWriter } from './document-writer.ts';

/**
 * Writes a table row by row, so that each passage of it is complete: every row repeats the names of its columns. If the names are
 * longer than the cells, every group of rows that makes a passage repeats them instead.
 */
export interface TableWriter {
  row(cells: readonly string[], options?: { readonly isHeader?: boolean }): void;
  /** Writes all rows so far. More rows may follow. */
  finish(): void;
}

/** Rows with names are passed on in groups of about this many characters; a shorter table stays one block. */
const groupCharacters = 3000;
/** Characters of rows below a line of names: such a group should be one passage. */
const compactCharacters = 700;
const compactTokens = 170;

/** Rows that are checked to decide whether the names are longer than the cells. */
const rowsToJudge = 20;

/** A longer cell contains paragraphs: old pages and forms use tables for layout. */
export const longestCell = 600;

/** Longer names of columns would hide the cells. */
const longestName = 80;

function nameCells(names: readonly string[], cells: readonly string[]): string {
  return cells
    .flatMap((cell, index) => (cell === '' ? [] : [names[index] ? `${names[index]}: ${cell}` : cell]))
    .join('; ');
}

function oneLine(cell: string): string {
  return /\s/u.test(cell) ? cell.replace(/\s+/gu, ' ').trim() : cell;
}

/** A table of two columns mostly has its names in the first column, not in the first row. */
export const minNamedColumns = 3;

/** Whether a first row names the columns: words, each once. */
export function areColumnNames(cells: readonly string[]): boolean {
  const names = cells.map(oneLine);
  // The first column of an exported table often has no name.
  const isName = (name: string, index: number) =>
    (name !== '' || index === 0) && name.length <= longestName && !/^[\d\s.,:/%+-]*\d[\d\s.,:/%+-]*$/.test(name);
  return names.every(isName) && new Set(names).size === names.length && names.some((name) => name !== '');
}

const lengthOf = (cells: readonly string[]) => cells.reduce((sum, cell) => sum + cell.length, 0);

export function createTableWriter(writer: DocumentWriter, { isLenient = false } = {}): TableWriter {
  let names: readonly string[] | null = null;
  /** The first rows, until the form of the table is clear. */
  let waiting: (readonly string[])[] | null = [];
  let isCompact = false;
  let lines: string[] = [];
  let characters = 0;
  let tokens = 0;
  let areContinued = false;
  let hasRows = false;

  function flush(): void {
    if (lines.length > 0) writer.lines(lines.join('\n'), { areContinued });
    areContinued ||= lines.length > 0;
    lines = [];
    characters = 0;
    tokens = 0;
  }

  function describe(cells: readonly string[]): string {
    // A shorter or longer row (merged cells, a note) may not have these columns.
    const isNamed = names !== null && !isCompact && (isLenient || names.length === cells.length);
    if (isNamed) return nameCells(names!, cells);
    return isCompact ? cells.join('; ') : cells.filter((cell) => cell !== '').join(' | ');
  }

  function addLine(line: string): void {
    lines.push(line);
    characters += line.length;
    if (isCompact) tokens += estimateEmbeddingTokens(line);
  }

  /** Long cells become paragraphs below the other cells. */
  function writeLong(cells: readonly string[]): void {
    flush();
    const isLong = (cell: string) => cell.length > longestCell;
    const rest = describe(cells.map((cell) => (isLong(cell) ? '' : cell)));
    if (rest !== '') writer.paragraph(rest);
    for (const [index, cell] of cells.entries()) {
      if (isLong(cell)) writer.paragraph(names?.[index] ? `${names[index]}: ${cell}` : cell);
    }
    areContinued = false;
  }

  function write(given: readonly string[]): void {
    hasRows = true;
    if (given.some((cell) => cell.length > longestCell)) {
      writeLong(given);
      return;
    }
    const line = describe(given.map(oneLine));
    if (line === '' || lengthOf(given) === 0) return;
    const isFull = isCompact
      ? characters + line.length > compactCharacters || tokens > compactTokens
      : characters > groupCharacters;
    if (isFull) flush();
    if (isCompact && lines.length === 0) addLine(names!.join('; '));
    addLine(line);
  }

  function writeWaiting(): void {
    if (!waiting) return;
    const rows = waiting;
    waiting = null;
    const costOfNames = names === null ? 0 : (lengthOf(names) + 2 * names.length) * rows.length;
    isCompact = costOfNames > rows.reduce((sum, row) => sum + lengthOf(row), 0);
    // A few rows are shorter with the names in each.
    isCompact &&= rows.length >= rowsToJudge;
    for (const row of rows) write(row);
  }

  return {
    row(cells, { isHeader = false } = {}) {
      if (isHeader && waiting?.length === 0 && cells.every((cell) => cell.length <= longestName)) {
        names = cells.map(oneLine);
        return;
      }
      if (!waiting) {
        write(cells);
        return;
      }
      waiting.push(cells);
      if (waiting.length >= rowsToJudge) writeWaiting();
    },
    finish() {
      writeWaiting();
      // A table with only a header still has content.
      if (!hasRows && names) addLine(names.filter((name) => name !== '').join(' | '));
      hasRows = true;
      flush();
      // Text between this and more rows is not part of the table.
      areContinued = false;
    },
  };
}
