import { open } from 'node:fs/promises';
import { createDocumentWriter, type DocumentWriter, type ReadDocument } from './document-writer.ts';
import { areColumnNames, createTableWriter, minNamedColumns, type TableWriter } from './table-writer.ts';
import {
  type DocxStyle,
  readNumbering,
  readStyles,
  readXml,
  type XmlAttributes,
  type XmlHandler,
} from './docx-styles.ts';
import { type DocxArchive, isCompoundFile, mainDocument, openDocx } from './docx-archive.ts';
import type { ReportProgress } from './document-writer.ts';
import { SourceFailure } from './parsed-source.ts';

/** The tables of a Word document. A row with a table in one of its cells is read as layout: its cells become blocks. */
export interface DocxTables {
  /** Adds a paragraph to the current cell; `false` outside of tables and in layout. */
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

  /** Writes the row so far, so that a table inside it comes after it. */
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

export interface DocxDefinitions {
  readonly styleOf: (id: string) => DocxStyle;
  readonly isNumbered: (listId: string, level: number) => boolean;
}

interface OpenParagraph {
  parts: string[];
  styleId: string;
  outlineLevel: number | null;
  listId: string | null;
  listLevel: number;
}

/** Fallbacks, text that was deleted or moved away, properties before a tracked change, and formulas of fields. */
const dropped = new Set([
  'mc:Fallback',
  'w:moveFrom',
  'w:instrText',
  'w:delText',
  'w:del',
  'w:pPrChange',
  'w:rPrChange',
  'w:tblPrChange',
  'w:tblGridChange',
  'w:trPrChange',
  'w:tcPrChange',
  'w:numberingChange',
  'w:sectPrChange',
]);

type Setter = (paragraph: OpenParagraph, attributes: XmlAttributes) => void;

const setters: Readonly<Record<string, Setter>> = {
  'w:pStyle': (paragraph, attributes) => {
    paragraph.styleId = attributes['w:val'] ?? '';
  },
  'w:outlineLvl': (paragraph, attributes) => {
    paragraph.outlineLevel = Number(attributes['w:val']);
  },
  'w:numId': (paragraph, attributes) => {
    paragraph.listId = attributes['w:val'] ?? null;
  },
  'w:ilvl': (paragraph, attributes) => {
    paragraph.listLevel = Number(attributes['w:val']) || 0;
  },
  'w:tab': (paragraph) => paragraph.parts.push(' '),
  'w:br': (paragraph) => paragraph.parts.push('\n'),
  'w:cr': (paragraph) => paragraph.parts.push('\n'),
  'w:noBreakHyphen': (paragraph) => paragraph.parts.push('-'),
};

/** Returns a function for the marker of the next item of a list: a number, or a dash in a list without numbers. */
function createListMarkers(isNumbered: DocxDefinitions['isNumbered']): (listId: string, level: number) => string {
  const counters = new Map<string, number>();
  return (listId, level) => {
    if (!isNumbered(listId, level)) return '-';
    const key = `${listId}/${level}`;
    const number = (counters.get(key) ?? 0) + 1;
    counters.set(key, number);
    for (const deeper of counters.keys()) {
      const [ofList, ofLevel] = deeper.split('/');
      if (ofList === listId && Number(ofLevel) > level) counters.delete(deeper);
    }
    return `${number}.`;
  };
}

/** Receives the tags of a Word document's text in order and writes its paragraphs, headings, list items and tables. */
export function createDocxText(writer: DocumentWriter, { styleOf, isNumbered }: DocxDefinitions): XmlHandler {
  /** A stack, because a text box is nested in its anchor paragraph. */
  const paragraphs: OpenParagraph[] = [];
  const tables = createDocxTables(writer);
  const marker = createListMarkers(isNumbered);
  let droppedDepth = 0;
  let isInText = false;
  let isInRun = false;
  let isHidden = false;

  function writeParagraph(paragraph: OpenParagraph): void {
    const text = paragraph.parts.join('');
    if (text.trim() === '' || tables.take(text)) return;
    const style = styleOf(paragraph.styleId);
    const own = paragraph.outlineLevel;
    const level = own === null ? style.headingLevel : own < 9 ? own + 1 : null;
    const list = paragraph.listId === null ? style.list : { id: paragraph.listId, level: paragraph.listLevel };
    if (level !== null) writer.heading(level, text);
    else if (list && list.id !== '0') writer.item(`${marker(list.id, list.level)} ${text}`);
    else writer.paragraph(text);
  }

  function openTag(name: string, attributes: XmlAttributes): void {
    const paragraph = paragraphs.at(-1);
    if (name === 'w:p') paragraphs.push({ parts: [], styleId: '', outlineLevel: null, listId: null, listLevel: 0 });
    else if (name === 'w:t') isInText = true;
    else if (name === 'w:r') {
      isInRun = true;
      isHidden = false;
    } else if (name === 'w:vanish' && isInRun) isHidden = isOn(attributes);
    // A tab stop in a paragraph's settings has the same element name.
    else if (paragraph && (name !== 'w:tab' || isInRun)) setters[name]?.(paragraph, attributes);
    tables.open(name, attributes);
  }

  function closeTag(name: string): void {
    if (name === 'w:p') writeParagraph(paragraphs.pop()!);
    else if (name === 'w:t') isInText = false;
    else if (name === 'w:r') {
      isInRun = false;
      isHidden = false;
    }
    tables.close(name);
  }

  return {
    open(name, attributes) {
      if (droppedDepth > 0 || dropped.has(name)) droppedDepth += 1;
      else openTag(name, attributes);
    },
    close(name) {
      if (droppedDepth > 0) droppedDepth -= 1;
      else closeTag(name);
    },
    text(data) {
      if (isInText && !isHidden && droppedDepth === 0) paragraphs.at(-1)?.parts.push(data);
    },
  };
}

async function rejectEncrypted(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
  if (isCompoundFile(buffer)) {
    throw new SourceFailure('The Word document is encrypted. Save it without a password and add it again.');
  }
}

async function readParts(archive: DocxArchive, report: ReportProgress): Promise<ReadDocument> {
  const main = archive.find(mainDocument);
  if (main === null) throw new SourceFailure('The Word document is damaged: it contains no text.');
  const definitions = { styleOf: await readStyles(archive), isNumbered: await readNumbering(archive) };
  const writer = createDocumentWriter();
  await readXml(archive.read(main), createDocxText(writer, definitions));
  report(0.9);
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) {
    await readXml(archive.read(notes), createDocxText(writer, definitions));
  }
  return writer.finish();
}

/** The text of a Word document with its headings, lists, tables and notes; without deleted and hidden text and comments. */
export async function readDocx(path: string, report: ReportProgress): Promise<ReadDocument> {
  await rejectEncrypted(path);
  const archive = await openDocx(path);
  try {
    return await readParts(archive, report);
  } finally {
    await archive.close();
  }
}
