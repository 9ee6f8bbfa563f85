import { type ReactNode, type RefObject, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import type { VisibleRows } from './json-outline.ts';

const rowHeight = 22;
const errorHeight = 20;
/** Rows drawn above and below the view, so that scrolling shows no gap. */
const overscan = 15;

type ErrorsByNode = ReadonlyMap<number, readonly unknown[]>;

/** The heights of rows: all are equal but those with errors, of which there are few. */
export interface RowHeights {
  /** Pixels above a row; of all rows for their count. */
  above(row: number): number;
  /** The row at an offset. */
  rowAt(pixels: number): number;
}

export function rowHeights(visible: VisibleRows, errors: ErrorsByNode): RowHeights {
  const taller = [...errors]
    .map(([node, own]) => ({ row: visible.rowOf(node), extra: own.length * errorHeight }))
    .filter(({ row }) => row >= 0)
    .toSorted((one, other) => one.row - other.row);
  const above = (row: number): number =>
    taller.reduce((sum, one) => (one.row < row ? sum + one.extra : sum), row * rowHeight);
  return {
    above,
    rowAt(pixels) {
      let extra = 0;
      for (const one of taller) {
        const top = one.row * rowHeight + extra;
        if (pixels < top + rowHeight) break;
        if (pixels < top + rowHeight + one.extra) return one.row;
        extra += one.extra;
      }
      return Math.max(0, Math.floor((pixels - extra) / rowHeight));
    },
  };
}

/** What part of an element is in view, in pixels of its content, and where the tree begins in it. */
interface View {
  top: number;
  height: number;
  treeTop: number;
}

/** Null until the first layout. Changes by less than a row are left out. */
function useView(tree: RefObject<HTMLElement | null>, scroller: RefObject<HTMLElement | null>): View | null {
  const [view, setView] = useState<View | null>(null);
  useEffect(() => {
    const element = scroller.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    let shown: View | null = null;
    const read = (): void => {
      if (!tree.current) return;
      const { scrollTop, clientHeight: height } = element;
      const treeTop = tree.current.getBoundingClientRect().top - element.getBoundingClientRect().top + scrollTop;
      const next = { top: Math.floor(scrollTop / rowHeight) * rowHeight, height, treeTop };
      if (shown?.top === next.top && shown.height === height && shown.treeTop === treeTop) return;
      // Beyond the rows that are drawn there is nothing to see until the next render.
      const isFar = shown !== null && Math.abs(next.top - shown.top) > overscan * rowHeight;
      shown = next;
      if (isFar) flushSync(() => setView(next));
      else setView(next);
    };
    read();
    element.addEventListener('scroll', read, { passive: true });
    // What is above the tree may change its height. In an observer, measuring forces no second layout.
    const observer = new ResizeObserver(read);
    observer.observe(content);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', read);
      observer.disconnect();
    };
  }, [tree, scroller]);
  return view;
}

/** Scrolls no further than needed. */
function showRow(element: HTMLElement, top: number, height: number): void {
  const { scrollTop, clientHeight } = element;
  if (top < scrollTop) element.scrollTop = top;
  else if (top + height > scrollTop + clientHeight) element.scrollTop = top + height - clientHeight;
}

interface LongRowsProps {
  tree: RefObject<HTMLDivElement | null>;
  scroller: RefObject<HTMLElement | null>;
  visible: VisibleRows;
  /** The node of the active row. */
  active: number;
  /** Counts key presses, each of which brings the active row into view. */
  presses: number;
  errors: ErrorsByNode;
  row: (node: number) => ReactNode;
}

/**
 * Draws the rows in view. The library for other lists makes an object for each row with every change of their number, which takes most of
 * a frame for 200,000 rows that stream.
 */
export function LongRows({ tree, scroller, visible, active, presses, errors, row }: LongRowsProps) {
  const heights = useMemo(() => rowHeights(visible, errors), [visible, errors]);
  const view = useView(tree, scroller);
  const treeTop = view?.treeTop ?? 0;
  const showActive = useEffectEvent(() => {
    const position = visible.rowOf(active);
    const top = heights.above(position);
    if (scroller.current) showRow(scroller.current, treeTop + top, heights.above(position + 1) - top);
  });
  useEffect(() => {
    if (presses > 0) showActive();
  }, [presses]);
  const first = view === null ? 0 : Math.max(0, heights.rowAt(view.top - treeTop) - overscan);
  const last = view === null ? 0 : heights.rowAt(view.top + view.height - treeTop) + overscan;
  const rows = Array.from(
    { length: Math.max(0, Math.min(visible.count - 1, last) - first + 1) },
    (_, at) => first + at,
  );
  return (
    <div className="json-tree__space" style={{ height: heights.above(visible.count) }}>
      {rows.map((at) => (
        <div
          key={visible.nodeAt(at)}
          className="json-tree__place"
          style={{ transform: `translateY(${heights.above(at)}px)` }}
        >
          {row(visible.nodeAt(at))}
        </div>
      ))}
    </div>
  );
}
