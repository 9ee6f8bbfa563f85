import type { DocumentWriter } from './document-writer.ts';
import { createTableWriter, type TableWriter } from './table-writer.ts';

type Attributes = Readonly<Record<string, string>>;

/** The tables of a page, each within a cell of the one before. */
export interface HtmlTables {
  /** Whether what follows is the content of a cell, rather than of a table that the page is laid out with. */
  isInData(): boolean;
  begin(): void;
  /** Ends the innermost table. */
  end(): void;
  beginCell(options: { readonly isHeader: boolean; readonly attributes: Attributes }): void;
  endCell(text: string): void;
  endRow(): void;
  /** From here on the innermost table only lays out the page: its cells are blocks like any other. */
  toLayout(): void;
}

interface OpenTable {
  readonly writer: TableWriter;
  cells: string[];
  areAllHeaders: boolean;
  columns: number;
  isLayout: boolean;
}

/** More columns than these are not believed. */
const maxSpannedColumns = 50;

export function createHtmlTables(writer: DocumentWriter): HtmlTables {
  const tables: OpenTable[] = [];

  function data(): OpenTable | null {
    const table = tables.at(-1);
    return table && !table.isLayout ? table : null;
  }

  function endRow(): void {
    const table = data();
    if (!table) return;
    if (table.cells.length > 0) table.writer.row(table.cells, { isHeader: table.areAllHeaders });
    table.cells = [];
    table.areAllHeaders = true;
  }

  return {
    isInData: () => data() !== null,
    begin() {
      tables.push({ writer: createTableWriter(writer), cells: [], areAllHeaders: true, columns: 1, isLayout: false });
    },
    end() {
      endRow();
      const table = tables.pop();
      if (table && !table.isLayout) table.writer.finish();
    },
    beginCell({ isHeader, attributes }) {
      const table = data();
      if (!table) return;
      if (!isHeader) table.areAllHeaders = false;
      table.columns = Math.min(maxSpannedColumns, Math.max(1, Number(attributes['colspan']) || 1));
    },
    endCell(text) {
      const table = data();
      if (!table) return;
      const spanned = Array.from({ length: table.columns - 1 }, () => (table.areAllHeaders ? text : ''));
      table.cells.push(text, ...spanned);
      table.columns = 1;
    },
    endRow,
    toLayout() {
      const table = data();
      if (!table) return;
      table.isLayout = true;
      table.writer.finish();
      for (const cell of table.cells) writer.paragraph(cell);
      table.cells = [];
    },
  };
}
