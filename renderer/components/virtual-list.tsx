import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useId, useRef, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { classNames } from './class-names.ts';

export interface VirtualListProps<Item> {
  /** Its accessible name. */
  label: string;
  items: readonly Item[];
  itemKey: (item: Item) => string;
  /** Height of every row in pixels. */
  rowHeight: number;
  renderItem: (item: Item, isSelected: boolean) => ReactNode;
  selectedKey: string | null;
  /** Called on arrow keys and clicks. */
  onSelect: (item: Item) => void;
  /** Called on Enter and double-click. */
  onOpen?: (item: Item) => void;
  /** Called when the last rows come into view, to fetch the next page. */
  onEndReached?: () => void;
  className?: string;
}

function nextIndex(key: string, index: number, last: number): number | null {
  if (key === 'ArrowDown' || key === 'j') return Math.min(last, index + 1);
  if (key === 'ArrowUp' || key === 'k') return Math.max(0, index - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return null;
}

/** Scrolls no further than needed to show a row, and not at all while the list has no height. */
function bringIntoView(list: HTMLElement, top: number, height: number): void {
  const { scrollTop, clientHeight } = list;
  if (clientHeight < height) return;
  if (top < scrollTop) list.scrollTop = top;
  else if (top + height > scrollTop + clientHeight) list.scrollTop = top + height - clientHeight;
}

function useEndReached(rows: readonly VirtualItem[], count: number, onEndReached: (() => void) | undefined): void {
  const lastShown = rows.at(-1)?.index ?? -1;
  useEffect(() => {
    if (count > 0 && lastShown >= count - 1) onEndReached?.();
  }, [lastShown, count, onEndReached]);
}

/** Scrolls to a row that a link or the palette selected: it may be far below. */
function useShowSelected(
  scroller: RefObject<HTMLElement | null>,
  selected: { key: string | null; index: number },
  rowHeight: number,
): void {
  const isListed = selected.index >= 0;
  // The index may change while rows come and go. The list doesn't scroll then.
  const show = useEffectEvent(() => {
    if (scroller.current) bringIntoView(scroller.current, selected.index * rowHeight, rowHeight);
  });
  useEffect(() => {
    if (isListed) show();
  }, [selected.key, isListed]);
}

/** A list that renders only the rows in view; one tab stop, with arrows or j and k inside. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, itemKey, rowHeight, renderItem, selectedKey, onSelect, onOpen, onEndReached, className } =
    props;
  const listId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => itemKey(items[index] as Item),
    overscan: 8,
  });
  const rows = virtualizer.getVirtualItems();
  useEndReached(rows, items.length, onEndReached);
  const selectedIndex = items.findIndex((item) => itemKey(item) === selectedKey);
  useShowSelected(scroller, { key: selectedKey, index: selectedIndex }, rowHeight);
  const onKeyDown = (event: KeyboardEvent) => {
    const selected = items[selectedIndex];
    if (event.key === 'Enter' && selected !== undefined) return onOpen?.(selected);
    const index = nextIndex(event.key, selectedIndex, items.length - 1);
    const item = index === null ? undefined : items[index];
    if (index === null || item === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onSelect(item);
    virtualizer.scrollToIndex(index);
  };

  return (
    <div
      ref={scroller}
      className={classNames('scroll', 'virtual-list', className)}
      role="listbox"
      aria-label={label}
      aria-activedescendant={selectedIndex < 0 ? undefined : `${listId}-${selectedKey}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="virtual-list__space" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map((row) => {
          const item = items[row.index] as Item;
          const key = itemKey(item);
          return (
            <div
              key={row.key}
              id={`${listId}-${key}`}
              role="option"
              aria-selected={key === selectedKey}
              className="virtual-list__row"
              style={{ height: rowHeight, transform: `translateY(${row.start}px)` }}
              onClick={() => onSelect(item)}
              onDoubleClick={() => onOpen?.(item)}
            >
              {renderItem(item, key === selectedKey)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
