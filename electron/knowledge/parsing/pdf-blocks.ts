import type { PdfLine } from './pdf-lines.ts';

/** Lines that belong together. */
export interface PdfBlock {
  readonly kind: 'heading' | 'paragraph' | 'item' | 'table' | 'fields';
  /** Of a heading, from 1. */
  readonly level: number;
  readonly lines: PdfLine[];
}

/** A line is a heading when its letters are larger than the text's by this factor. */
const headingFactor = 1.12;
const longestHeading = 200;
const maxLevels = 6;

/** A gap between lines that is larger than usual by this factor ends a paragraph. */
const gapFactor = 1.25;
/** A line that is shorter than the text is wide by this factor ends a paragraph, if it ends a sentence. */
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
  /** Of the text's lines. */
  readonly width: number;
}

function mostCommon(weights: ReadonlyMap<number, number>, fallback: number): number {
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
  return { size: mostCommon(sizes, 10), spacing: mostCommon(spacings, 1.2), width: mostCommon(widths, 400) };
}

/** Whether the text goes on from one line to the next. */
function goesOn(line: PdfLine, next: PdfLine, text: TextMeasures): boolean {
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

function headingGoesOn(line: PdfLine, next: PdfLine): boolean {
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
  heading: headingGoesOn,
  item: () => false,
  paragraph: goesOn,
  // Rows may stand further apart than lines do.
  table: (line, next) => line.page === next.page && line.y - next.y < line.size * 4 && line.y > next.y,
  fields: (line, next) => line.page === next.page,
};

/** Paragraphs, list items, tables and headings out of lines, by their sizes and places. */
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
