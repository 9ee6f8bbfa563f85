import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';

/**
 * Positions of the rows of a very long list. Chromium draws nothing taller than 33,554,431 pixels, which is 762,600 rows of 44
 * pixels, so a longer list is drawn on a shorter sheet. Small movements of the sheet move the rows by the same distance; a large
 * one, made with the scroll bar, moves them in proportion. TanStack Virtual has no such scale, and measures every row of the list
 * whenever its length changes.
 */
interface RowScale {
  /** Height of all rows together, in pixels. */
  readonly rowsHeight: number;
  /** Height of the sheet that the browser scrolls, in pixels. */
  readonly sheetHeight: number;
  readonly viewHeight: number;
}

/** Low enough for every browser: Firefox stops at 17,895,697 pixels. */
const maxSheetPixels = 16_000_000;

export function rowScale(count: number, rowHeight: number, viewHeight: number): RowScale {
  const rowsHeight = count * rowHeight;
  return { rowsHeight, sheetHeight: Math.min(rowsHeight, maxSheetPixels), viewHeight };
}

/** The scrollable height: 0 if everything is in view. */
function range(height: number, viewHeight: number): number {
  return Math.max(0, height - viewHeight);
}

/** The position in the rows at the upper edge when the sheet is at `sheetTop`, in proportion. */
export function rowsTopAt(sheetTop: number, scale: RowScale): number {
  const sheetRange = range(scale.sheetHeight, scale.viewHeight);
  if (sheetRange === 0) return 0;
  const rowsRange = range(scale.rowsHeight, scale.viewHeight);
  if (rowsRange <= sheetRange) return Math.min(sheetTop, rowsRange);
  return Math.round((Math.min(sheetTop, sheetRange) / sheetRange) * rowsRange);
}

/** The offset of the sheet for a position in the rows; the inverse of `rowsTopAt`. */
export function sheetTopAt(rowsTop: number, scale: RowScale): number {
  const rowsRange = range(scale.rowsHeight, scale.viewHeight);
  const sheetRange = range(scale.sheetHeight, scale.viewHeight);
  if (rowsRange <= sheetRange) return Math.min(rowsTop, rowsRange);
  return Math.round((Math.min(rowsTop, rowsRange) / rowsRange) * sheetRange);
}

/**
 * The position in the rows after the sheet moved. A movement of up to two views comes from the wheel, a key or a finger and is
 * applied one to one. The ends of the sheet are always the ends of the rows.
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

/** The height of a list before the browser has measured it, in pixels. */
const assumedViewHeight = 640;

interface RowWindow {
  /** Rows to draw. */
  first: number;
  last: number;
  /** Pixels of the tall box inside the scroller. */
  sheetHeight: number;
  /** The top of a row in that box. */
  topOf: (index: number) => number;
  /** The scroll bar was dragged far: passing rows need not be fetched. */
  isFar: boolean;
  onScroll: () => void;
  /** Brings a row into view with the smallest movement. */
  show: (index: number) => void;
}

interface ScrollPosition {
  rowsTop: number;
  sheetTop: number;
  isFar: boolean;
}

function useViewHeight(scrollerRef: RefObject<HTMLDivElement | null>): number {
  const [viewHeight, setViewHeight] = useState(assumedViewHeight);
  useLayoutEffect(() => {
    const element = scrollerRef.current;
    if (!element) return;
    const measure = () => setViewHeight(element.clientHeight || assumedViewHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scrollerRef]);
  return viewHeight;
}

/** Draws only the rows in view, however many exist. */
export function useRowWindow(
  scrollerRef: RefObject<HTMLDivElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const viewHeight = useViewHeight(scrollerRef);
  const scale = rowScale(count, rowHeight, viewHeight);
  const [position, setPosition] = useState<ScrollPosition>({ rowsTop: 0, sheetTop: 0, isFar: false });
  const newest = useRef(position);
  const put = (next: ScrollPosition): void => {
    newest.current = next;
    setPosition(next);
  };

  const alignScrollBar = useEffectEvent((): void => {
    const { rowsTop } = newest.current;
    const sheetTop = sheetTopAt(rowsTop, scale);
    put({ rowsTop, sheetTop, isFar: false });
    // Back in proportion, the scroll bar shows the true position and reaches both ends.
    if (scrollerRef.current && Math.abs(scrollerRef.current.scrollTop - sheetTop) > 1)
      scrollerRef.current.scrollTop = sheetTop;
  });
  useEffect(() => {
    const element = scrollerRef.current;
    const onEnd = (): void => alignScrollBar();
    element?.addEventListener('scrollend', onEnd);
    return () => element?.removeEventListener('scrollend', onEnd);
  }, [scrollerRef]);

  const onScroll = (): void => {
    const sheetTop = scrollerRef.current?.scrollTop ?? 0;
    const { rowsTop, sheetTop: before } = newest.current;
    if (sheetTop === before) return;
    const isFar = Math.abs(sheetTop - before) > 2 * viewHeight;
    put({ rowsTop: moveRows(rowsTop, before, sheetTop, scale), sheetTop, isFar });
  };
  const show = (index: number): void => {
    const top = index * rowHeight;
    const { rowsTop } = newest.current;
    if (top >= rowsTop && top + rowHeight <= rowsTop + viewHeight) return;
    const target = top < rowsTop ? top : top + rowHeight - viewHeight;
    const inRange = Math.max(0, Math.min(target, scale.rowsHeight - viewHeight));
    const sheetTop = sheetTopAt(inRange, scale);
    put({ rowsTop: inRange, sheetTop, isFar: false });
    if (scrollerRef.current) scrollerRef.current.scrollTop = sheetTop;
  };

  // The list became shorter.
  const rowsTop = Math.min(position.rowsTop, rowsTopAt(Infinity, scale));
  const { first, last } = rowsInView(rowsTop, { viewHeight, rowHeight, count });
  return {
    first,
    last,
    sheetHeight: scale.sheetHeight,
    topOf: (index) => index * rowHeight - rowsTop + Math.min(position.sheetTop, scale.sheetHeight),
    isFar: position.isFar,
    onScroll,
    show,
  };
}
