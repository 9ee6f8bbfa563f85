import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { moveRows, rowScale, rowsInView, rowsTopAt, sheetTopAt } from './row-window.ts';

/** What a list has before the browser has measured it, in pixels. */
const assumedViewHeight = 640;

export interface RowWindow {
  /** Rows to draw. */
  first: number;
  last: number;
  /** Pixels of the tall box inside the scroller. */
  sheetHeight: number;
  /** Where a row stands in that box. */
  topOf: (index: number) => number;
  /** The scroll bar was dragged far: what passes by need not be read. */
  isFar: boolean;
  onScroll: () => void;
  /** Brings a row into view by the shortest way. */
  show: (index: number) => void;
}

interface Place {
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

/** Draws only the rows in view, however many there are; see `row-window.ts`. */
export function useRowWindow(
  scrollerRef: RefObject<HTMLDivElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const viewHeight = useViewHeight(scrollerRef);
  const scale = rowScale(count, rowHeight, viewHeight);
  const [place, setPlace] = useState<Place>({ rowsTop: 0, sheetTop: 0, isFar: false });
  const newest = useRef(place);
  const put = (next: Place): void => {
    newest.current = next;
    setPlace(next);
  };

  const alignScrollBar = useEffectEvent((): void => {
    const { rowsTop } = newest.current;
    const sheetTop = sheetTopAt(rowsTop, scale);
    put({ rowsTop, sheetTop, isFar: false });
    // Where the rows stand in proportion again, the scroll bar shows the truth, and the ends are within reach.
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
    const wanted = top < rowsTop ? top : top + rowHeight - viewHeight;
    const inRange = Math.max(0, Math.min(wanted, scale.rowsHeight - viewHeight));
    const sheetTop = sheetTopAt(inRange, scale);
    put({ rowsTop: inRange, sheetTop, isFar: false });
    if (scrollerRef.current) scrollerRef.current.scrollTop = sheetTop;
  };

  // A list that became shorter ends earlier.
  const rowsTop = Math.min(place.rowsTop, rowsTopAt(Infinity, scale));
  const { first, last } = rowsInView(rowsTop, { viewHeight, rowHeight, count });
  return {
    first,
    last,
    sheetHeight: scale.sheetHeight,
    topOf: (index) => index * rowHeight - rowsTop + Math.min(place.sheetTop, scale.sheetHeight),
    isFar: place.isFar,
    onScroll,
    show,
  };
}
