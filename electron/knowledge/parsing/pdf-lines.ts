import type { PDFPageProxy } from 'unpdf/pdfjs';

/** A line of a page as it is drawn; places and sizes are in points, `y` from the bottom of the page. */
export interface PdfLine {
  readonly page: number;
  readonly text: string;
  /** Its parts where wide gaps are between them, as between the columns of a table; otherwise the text alone. */
  readonly cells: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Size of its largest letters. */
  readonly size: number;
  /** Where it stands on the page, from 0 at the bottom to 1 at the top. */
  readonly place: number;
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

/** A gap of so many letters' sizes is hardly ever one between words, not even in justified text. */
const columnGap = 1.2;

/** The dots that lead to a page number in a table of contents are one sign. */
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
    place: (y - bottom) / Math.max(1, top - bottom),
  };
}

/** The lines of a page in the order in which they are drawn, which is nearly always that of reading. */
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
