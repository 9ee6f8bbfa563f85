import type { PDFPageProxy } from 'unpdf/pdfjs';

/** A line of a page; positions and sizes are in points, `y` from the bottom of the page. */
export interface PdfLine {
  readonly page: number;
  readonly text: string;
  /** Its parts if wide gaps separate them, as between the columns of a table; otherwise the text alone. */
  readonly cells: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Size of its largest letters. */
  readonly size: number;
  /** Its position on the page, from 0 at the bottom to 1 at the top. */
  readonly relativeHeight: number;
  /** The value of a form field or an annotation, which has no position in the page's text. */
  readonly isField?: true;
}

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** Sizes of the same font differ in their last digits. */
const roundSize = (size: number) => Math.round(size * 2) / 2;

/** A gap of so many letter sizes is hardly ever one between words, not even in justified text. */
const columnGap = 1.2;

/** The dots before a page number in a table of contents count as one character. */
const oneLine = (text: string) =>
  text
    .replaceAll(/(?:\s?\.){5,}\s?/gu, ' … ')
    .replaceAll(/\s+/gu, ' ')
    .trim();

function cellsOf(items: readonly TextItem[]): string[] {
  const cells: string[] = [];
  let cell = '';
  let end: number | null = null;
  for (const { str, transform, width, height } of items) {
    if (str.trim() === '') {
      cell += ' ';
      continue;
    }
    const x = transform[4] ?? 0;
    if (end !== null && x - end > height * columnGap) {
      cells.push(oneLine(cell));
      cell = '';
    }
    cell += str;
    end = x + width;
  }
  return [...cells, oneLine(cell)];
}

function lineOf(items: readonly TextItem[], page: number, [bottom, top]: readonly [number, number]): PdfLine | null {
  const drawn = items.filter(({ str }) => str.trim() !== '');
  const first = drawn[0];
  const last = drawn.at(-1);
  if (!first || !last) return null;
  const cells = cellsOf(items);
  const [, , , , x = 0, y = 0] = first.transform;
  const end = (last.transform[4] ?? 0) + last.width;
  const size = roundSize(Math.max(...drawn.map(({ height }) => height)));
  const text = cells.join(' ');
  return {
    page,
    text,
    cells,
    x,
    y,
    width: Math.max(0, end - x),
    size,
    relativeHeight: (y - bottom) / Math.max(1, top - bottom),
  };
}

/** The lines of a page in drawing order, which is nearly always the reading order. */
export async function linesOfPage(page: PDFPageProxy): Promise<PdfLine[]> {
  const { items } = await page.getTextContent();
  const [, bottom = 0, , top = 1] = page.view;
  const lines: PdfLine[] = [];
  let open: TextItem[] = [];
  const close = () => {
    const line = lineOf(open, page.pageNumber, [bottom, top]);
    if (line) lines.push(line);
    open = [];
  };
  for (const item of items) {
    if (!('str' in item)) continue;
    open.push(item as TextItem);
    if (item.hasEOL) close();
  }
  close();
  return lines;
}

/** Lines that belong together. */
export interface PdfBlock {
  readonly kind: 'heading' | 'paragraph' | 'item' | 'table' | 'fields';
  /** The level of a heading, from 1. */
  readonly level: number;
  readonly lines: PdfLine[];
}

/** A line is a heading when its letters are larger than the text's by this factor. */
const headingFactor = 1.12;
const longestHeading = 200;
const maxLevels = 6;

/** A gap between lines that is this many times the usual one ends a paragraph. */
const gapFactor = 1.25;
/** A line below this share of the text's width ends a paragraph if it ends a sentence. */
const shortLine = 0.85;

const bullet = /^(?:[•◦▪‣∙·●○■□–—*-]|\(?(?:\d{1,3}|[a-z])[.)])\s+\S/u;
/** A line of a table of contents. */
const contentsEntry = / … \d+$/;
const sentenceEnd = /[.!?:;。！？][\p{Pe}\p{Pf}"']?$/u;

interface TextMeasures {
  /** Size of most letters. */
  readonly size: number;
  /** From one line to the next, as a factor of the size. */
  readonly spacing: number;
  /** Width of the text's lines. */
  readonly width: number;
}

function commonest(weights: ReadonlyMap<number, number>, fallback: number): number {
  return [...weights].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? fallback;
}

function measure(lines: readonly PdfLine[]): TextMeasures {
  const sizes = new Map<number, number>();
  const spacings = new Map<number, number>();
  const widths = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    sizes.set(line.size, (sizes.get(line.size) ?? 0) + line.text.length);
    const next = lines[index + 1];
    const gap = next && next.page === line.page && next.size === line.size ? line.y - next.y : 0;
    const spacing = Math.round((gap / Math.max(1, line.size)) * 20) / 20;
    if (spacing > 0.5 && spacing < 4) spacings.set(spacing, (spacings.get(spacing) ?? 0) + 1);
    const width = Math.round(line.width / 10) * 10;
    widths.set(width, (widths.get(width) ?? 0) + width);
  }
  return { size: commonest(sizes, 10), spacing: commonest(spacings, 1.2), width: commonest(widths, 400) };
}

/** Whether the second line continues the first. */
function continuesIn(line: PdfLine, next: PdfLine, text: TextMeasures): boolean {
  if (line.size !== next.size || bullet.test(next.text) || contentsEntry.test(line.text)) return false;
  const endsShort = line.width < text.width * shortLine && sentenceEnd.test(line.text);
  if (line.page !== next.page)
    return !endsShort && !sentenceEnd.test(line.text) && /^[\p{Ll}\p{Lo}\d("]/u.test(next.text);
  const gap = line.y - next.y;
  // Upwards: a new column, or a box at the side.
  if (gap < -line.size) return !sentenceEnd.test(line.text) && /^\p{Ll}/u.test(next.text);
  if (gap > line.size * text.spacing * gapFactor) return false;
  const isIndented = next.x > line.x + line.size * 0.8 && sentenceEnd.test(line.text);
  return !endsShort && !isIndented;
}

function isHeading(line: PdfLine, text: TextMeasures): boolean {
  if (contentsEntry.test(line.text)) return false;
  return line.size >= text.size * headingFactor && line.text.length <= longestHeading && /\p{L}/u.test(line.text);
}

function headingContinuesIn(line: PdfLine, next: PdfLine): boolean {
  return line.page === next.page && line.size === next.size && line.y - next.y < line.size * 1.6 && line.y > next.y;
}

const isRowBeside = (row: PdfLine, line: PdfLine | undefined) =>
  line !== undefined && line.cells.length > 1 && line.page === row.page && line.size === row.size;

function kindOf(lines: readonly PdfLine[], index: number, text: TextMeasures): PdfBlock['kind'] {
  const line = lines[index]!;
  if (line.isField) return 'fields';
  if (isHeading(line, text)) return 'heading';
  if (bullet.test(line.text)) return 'item';
  // A single line with a gap in it is no table: it may be justified.
  const isRow = line.cells.length > 1 && (isRowBeside(line, lines[index - 1]) || isRowBeside(line, lines[index + 1]));
  return isRow ? 'table' : 'paragraph';
}

const follows: Readonly<Record<PdfBlock['kind'], (line: PdfLine, next: PdfLine, text: TextMeasures) => boolean>> = {
  heading: headingContinuesIn,
  item: () => false,
  paragraph: continuesIn,
  // Rows may be further apart than lines.
  table: (line, next) => line.page === next.page && line.y - next.y < line.size * 4 && line.y > next.y,
  fields: (line, next) => line.page === next.page,
};

/** Combines lines to paragraphs, list items, tables and headings, by their sizes and positions. */
export function blocksOf(lines: readonly PdfLine[]): PdfBlock[] {
  const text = measure(lines.filter(({ isField }) => !isField));
  const sizes = [
    ...new Set(lines.filter((line) => !line.isField && isHeading(line, text)).map(({ size }) => size)),
  ].toSorted((one, other) => other - one);
  const levelOf = ({ size }: PdfLine) => Math.min(maxLevels, sizes.indexOf(size) + 1);
  const blocks: PdfBlock[] = [];
  for (const [index, line] of lines.entries()) {
    const open = blocks.at(-1);
    const last = open?.lines.at(-1);
    const kind = kindOf(lines, index, text);
    const isSame = open && last && (open.kind === kind || (open.kind === 'item' && kind === 'paragraph'));
    if (isSame && follows[kind](last, line, text)) open.lines.push(line);
    else blocks.push({ kind, level: kind === 'heading' ? levelOf(line) : 0, lines: [line] });
  }
  return blocks;
}
