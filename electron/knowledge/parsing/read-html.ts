import { Parser } from 'htmlparser2';
import { createDocumentWriter, type DocumentWriter, type ReadDocument } from './document-writer.ts';
import { createTableWriter, longestCell, type TableWriter } from './table-writer.ts';
import type { ReportProgress } from './document-writer.ts';
import { createDepthLimit } from './parsed-source.ts';
import { decodeText } from './text-encoding.ts';

type Attributes = Readonly<Record<string, string>>;

/** The tables of a page, each within a cell of the one before. */
interface HtmlTables {
  /** Whether the content is that of a data cell, rather than of a layout table. */
  isInData(): boolean;
  begin(): void;
  /** Ends the innermost table. */
  end(): void;
  beginCell(options: { readonly isHeader: boolean; readonly attributes: Attributes }): void;
  endCell(text: string): void;
  endRow(): void;
  /** Marks the innermost table as layout: its cells are blocks like any other. */
  toLayout(): void;
}

interface OpenTable {
  readonly writer: TableWriter;
  cells: string[];
  areAllHeaders: boolean;
  columns: number;
  isLayout: boolean;
}

/** Tables with more columns than this are treated as text. */
const maxSpannedColumns = 50;

function createHtmlTables(writer: DocumentWriter): HtmlTables {
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

/** Receives the tags and texts of a page in order and writes its paragraphs, headings, list items and tables. */
export interface HtmlText {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(data: string): void;
  finish(): void;
}

const blocks = new Set(
  `address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form
   h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead
   title tr ul`.split(/\s+/),
);

const headingLevels: Readonly<Record<string, number>> = { title: 0, h1: 1, h2: 2, h3: 3, h4: 4, h5: 5, h6: 6 };

/** A longer heading was not closed, or only looks like one. */
const longestHeading = 300;

export function createHtmlText(writer: DocumentWriter): HtmlText {
  const tables = createHtmlTables(writer);
  const lists: { isOrdered: boolean; items: number }[] = [];
  let parts: string[] = [];
  let characters = 0;
  let marker = '';
  let preDepth = 0;
  let headingLevel: number | null = null;

  function take(): string {
    const text = parts.join('');
    parts = [];
    characters = 0;
    return text;
  }

  function write(text: string): void {
    if (text.trim() === '') return;
    if (headingLevel !== null && text.length <= longestHeading) writer.heading(headingLevel, text);
    else if (marker !== '') writer.item(`${marker} ${text.trim()}`);
    else writer.paragraph(text);
    marker = '';
  }

  /** Ends the current paragraph. */
  function flush(): void {
    const raw = take();
    if (preDepth > 0) writer.lines(raw);
    else write(raw.replaceAll(/[^\S\u2028]+/g, ' ').replaceAll(/ ?\u2028 ?/g, '\n'));
  }

  /** Writes the cells before the current one; the current cell's text stays buffered. */
  function toLayout(): void {
    tables.toLayout();
    headingLevel = null;
  }

  function openInData(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'table' || name in headingLevels) toLayout();
    else if (name === 'td' || name === 'th') {
      // Browsers show text beside the cells too.
      writer.paragraph(take().replaceAll('\u2028', ' '));
      tables.beginCell({ isHeader: name === 'th', attributes });
    } else if (blocks.has(name)) parts.push(' ');
  }

  function closeInData(name: string): void {
    if (name === 'td' || name === 'th') tables.endCell(take().replaceAll('\u2028', ' '));
    else if (name === 'tr') tables.endRow();
    else if (name === 'caption') writer.paragraph(take());
    else if (name === 'table') tables.end();
    else if (blocks.has(name)) parts.push(' ');
  }

  function openBlock(name: string): void {
    flush();
    if (name === 'table') tables.begin();
    else if (name === 'ul' || name === 'ol') lists.push({ isOrdered: name === 'ol', items: 0 });
    else if (name === 'pre') preDepth += 1;
    else if (name === 'li') {
      const list = lists.at(-1);
      if (list) list.items += 1;
      marker = list?.isOrdered ? `${list.items}.` : '-';
    }
    headingLevel = headingLevels[name] ?? headingLevel;
  }

  function closeBlock(name: string): void {
    flush();
    if (name === 'table') tables.end();
    else if (name === 'ul' || name === 'ol') lists.pop();
    else if (name === 'pre') preDepth = Math.max(0, preDepth - 1);
    else if (name === 'li') marker = '';
    if (name in headingLevels) headingLevel = null;
  }

  return {
    open(name, attributes) {
      if (tables.isInData()) openInData(name, attributes);
      if (name === 'br') parts.push(preDepth > 0 ? '\n' : '\u2028');
      else if (name === 'img' && attributes['alt']) parts.push(` ${attributes['alt']} `);
      else if (blocks.has(name) && !tables.isInData()) openBlock(name);
    },
    close(name) {
      if (tables.isInData()) closeInData(name);
      else if (blocks.has(name)) closeBlock(name);
    },
    text(data) {
      parts.push(data);
      characters += data.length;
      if (characters > longestCell && tables.isInData()) toLayout();
    },
    finish: flush,
  };
}

/** The parser gets the page in chunks, which bounds its memory. */
const chunkCharacters = 65_536;

const dropped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'select',
]);

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const style = attributes['style'];
  return (
    attributes['hidden'] !== undefined ||
    attributes['aria-hidden'] === 'true' ||
    (style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style))
  );
}

function declaredEncoding(head: string): string | null {
  return /<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(head)?.[1] ?? null;
}

/** The visible content of a page, without scripts and styles. Nothing in it is run or fetched. */
export function readHtml(bytes: Uint8Array, report: ReportProgress): ReadDocument {
  const text = decodeText(bytes, declaredEncoding);
  const writer = createDocumentWriter();
  const page = createHtmlText(writer);
  /** Nesting depth inside hidden content; 0 outside. */
  let droppedDepth = 0;
  const depth = createDepthLimit('The HTML');
  const parser = new Parser({
    onopentag(name, attributes) {
      depth.open();
      if (droppedDepth > 0 || dropped.has(name) || isHidden(attributes)) droppedDepth += 1;
      else page.open(name, attributes);
    },
    onclosetag(name) {
      depth.close();
      if (droppedDepth > 0) droppedDepth -= 1;
      else page.close(name);
    },
    ontext(data) {
      if (droppedDepth === 0) page.text(data);
    },
  });
  for (let start = 0; start < text.length; start += chunkCharacters) {
    parser.write(text.slice(start, start + chunkCharacters));
    report(start / text.length);
  }
  parser.end();
  page.finish();
  return writer.finish();
}
