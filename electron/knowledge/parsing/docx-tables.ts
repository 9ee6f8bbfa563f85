import type { DocumentWriter } from './document-writer.ts';
import { areColumnNames, createTableWriter, leastNamedColumns, type TableWriter } from './table-writer.ts';
import type { XmlAttributes } from './xml-events.ts';

/** The tables of a Word document; one within a cell of another is read as that cell's text. */
export interface DocxTables {
  /** Takes a paragraph as part of the cell under way; `false` outside of tables. */
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
}

const mostSpannedColumns = 50;

/** What a switch of Word says: it is on unless it says otherwise. */
export const isOn = (attributes: XmlAttributes) => !['0', 'false', 'off', 'none'].includes(attributes['w:val'] ?? '');

function endCell(table: OpenTable): void {
  table.cells.push(table.cell.join('\n'), ...Array.from({ length: table.columns - 1 }, () => ''));
  table.cell = [];
  table.columns = 1;
}

function endRow(table: OpenTable): void {
  const looksLikeHeader = table.rows === 0 && table.cells.length >= leastNamedColumns && areColumnNames(table.cells);
  table.writer.row(table.cells, { isHeader: table.isHeaderRow || looksLikeHeader });
  table.rows += 1;
  table.cells = [];
  table.isHeaderRow = false;
}

export function createDocxTables(writer: DocumentWriter): DocxTables {
  let table: OpenTable | null = null;
  let depth = 0;

  function begin(): OpenTable {
    return { writer: createTableWriter(writer), cells: [], cell: [], columns: 1, rows: 0, isHeaderRow: false };
  }

  return {
    take(paragraph) {
      table?.cell.push(paragraph);
      return table !== null;
    },
    open(name, attributes) {
      if (name === 'w:tbl') {
        depth += 1;
        table ??= begin();
      }
      if (!table || depth > 1) return;
      if (name === 'w:tblHeader') table.isHeaderRow = isOn(attributes);
      if (name === 'w:gridSpan')
        table.columns = Math.min(mostSpannedColumns, Math.max(1, Number(attributes['w:val']) || 1));
    },
    close(name) {
      if (name === 'w:tbl') depth -= 1;
      if (!table || depth > 1) return;
      if (name === 'w:tc') endCell(table);
      else if (name === 'w:tr') endRow(table);
      else if (name === 'w:tbl') {
        table.writer.finish();
        table = null;
      }
    },
  };
}
