/**
 * Where the rows of a very long list stand. Chromium draws nothing that is taller than 33,554,431 pixels, which 762,600 rows
 * of 44 pixels are; a longer list is therefore drawn on a lower sheet. Small movements of the sheet move the rows by as
 * much; a large one, made with the scroll bar, is taken in proportion. TanStack Virtual has no such scale, and measures every
 * row of the list whenever its length changes.
 */
export interface RowScale {
  /** Pixels of all rows together. */
  readonly rowsHeight: number;
  /** Pixels of what the browser scrolls. */
  readonly sheetHeight: number;
  readonly viewHeight: number;
}

/** Low enough for every browser: Firefox stops at 17,895,697 pixels. */
const maxSheetPixels = 16_000_000;

export function rowScale(count: number, rowHeight: number, viewHeight: number): RowScale {
  const rowsHeight = count * rowHeight;
  return { rowsHeight, sheetHeight: Math.min(rowsHeight, maxSheetPixels), viewHeight };
}

/** What can be scrolled away: 0 where everything is in view. */
function range(height: number, viewHeight: number): number {
  return Math.max(0, height - viewHeight);
}

/** The pixel of the rows that stands at the upper edge when the sheet stands at `sheetTop` in proportion. */
export function rowsTopAt(sheetTop: number, scale: RowScale): number {
  const sheetRange = range(scale.sheetHeight, scale.viewHeight);
  if (sheetRange === 0) return 0;
  const rowsRange = range(scale.rowsHeight, scale.viewHeight);
  if (rowsRange <= sheetRange) return Math.min(sheetTop, rowsRange);
  return Math.round((Math.min(sheetTop, sheetRange) / sheetRange) * rowsRange);
}

/** The place of the sheet that stands for a pixel of the rows; the inverse of `rowsTopAt`. */
export function sheetTopAt(rowsTop: number, scale: RowScale): number {
  const rowsRange = range(scale.rowsHeight, scale.viewHeight);
  const sheetRange = range(scale.sheetHeight, scale.viewHeight);
  if (rowsRange <= sheetRange) return Math.min(rowsTop, rowsRange);
  return Math.round((Math.min(rowsTop, rowsRange) / rowsRange) * sheetRange);
}

/**
 * The pixel of the rows after the sheet went from one place to another. A movement of up to two views is the wheel, a key or
 * a finger: it is taken one to one, and the ends of the sheet are always the ends of the rows.
 */
export function moveRows(rowsTop: number, fromSheet: number, toSheet: number, scale: RowScale): number {
  const sheetRange = range(scale.sheetHeight, scale.viewHeight);
  const isSmall = Math.abs(toSheet - fromSheet) <= 2 * scale.viewHeight;
  const isAtEnd = toSheet <= 0 || toSheet >= sheetRange - 1;
  if (!isSmall || isAtEnd || scale.rowsHeight <= scale.sheetHeight) return rowsTopAt(toSheet, scale);
  return Math.min(range(scale.rowsHeight, scale.viewHeight), Math.max(0, rowsTop + toSheet - fromSheet));
}

/** First and last row to draw, with some beyond the edges. */
export function rowsInView(
  rowsTop: number,
  { viewHeight, rowHeight, count }: { viewHeight: number; rowHeight: number; count: number },
): { first: number; last: number } {
  const beyond = 8;
  const first = Math.floor(rowsTop / rowHeight) - beyond;
  const last = Math.ceil((rowsTop + viewHeight) / rowHeight) + beyond;
  return { first: Math.max(0, first), last: Math.min(count - 1, last) };
}
