import type { DocumentWriter } from './document-writer.ts';
import { areColumnNames, createTableWriter, minNamedColumns, type TableWriter } from './table-writer.ts';
import type { XmlAttributes } from './xml-events.ts';

/** The tables of a Word document. A row that holds a table in one of its cells is read as layout: its cells become blocks. */
export interface DocxTables {
  /** Takes a paragraph as part of the current cell; `false` outside of tables and in layout. */
  take(paragraph: string): boolean;
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
}

interface OpenTable {
  readonly writer: TableWriter;
  cells: string[];
  cell: string[];
  columns: number;
  rows: number;
  isHeaderRow: boolean;
  isLayoutRow: boolean;
}

const maxSpannedColumns = 50;

/** Word's on/off properties are on unless the value turns them off. */
export const isOn = (attributes: XmlAttributes) => !['0', 'false', 'off', 'none'].includes(attributes['w:val'] ?? '');

function endCell(table: OpenTable): void {
  table.cells.push(table.cell.join('\n'), ...Array.from({ length: table.columns - 1 }, () => ''));
  table.cell = [];
  table.columns = 1;
}

function endRow(table: OpenTable): void {
  const looksLikeHeader = table.rows === 0 && table.cells.length >= minNamedColumns && areColumnNames(table.cells);
  if (!table.isLayoutRow) table.writer.row(table.cells, { isHeader: table.isHeaderRow || looksLikeHeader });
  table.rows += 1;
  table.cells = [];
  table.isHeaderRow = false;
  table.isLayoutRow = false;
}

export function createDocxTables(writer: DocumentWriter): DocxTables {
  const tables: OpenTable[] = [];

  function begin(): OpenTable {
    return {
      writer: createTableWriter(writer),
      cells: [],
      cell: [],
      columns: 1,
      rows: 0,
      isHeaderRow: false,
      isLayoutRow: false,
    };
  }

  /** Writes what the row holds so far, so that a table inside it comes after that. */
  function startLayoutRow(table: OpenTable): void {
    if (table.isLayoutRow) return;
    table.isLayoutRow = true;
    table.writer.finish();
    for (const text of [...table.cells, ...table.cell]) writer.paragraph(text);
    table.cells = [];
    table.cell = [];
  }

  return {
    take(paragraph) {
      const table = tables.at(-1);
      if (!table || table.isLayoutRow) return false;
      table.cell.push(paragraph);
      return true;
    },
    open(name, attributes) {
      const table = tables.at(-1);
      if (name === 'w:tbl') {
        if (table) startLayoutRow(table);
        tables.push(begin());
      } else if (!table) return;
      else if (name === 'w:tblHeader') table.isHeaderRow = isOn(attributes);
      else if (name === 'w:gridSpan')
        table.columns = Math.min(maxSpannedColumns, Math.max(1, Number(attributes['w:val']) || 1));
    },
    close(name) {
      const table = tables.at(-1);
      if (!table) return;
      if (name === 'w:tc') endCell(table);
      else if (name === 'w:tr') endRow(table);
      else if (name === 'w:tbl') {
        table.writer.finish();
        tables.pop();
      }
    },
  };
}
