import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';

const rowHeight = 20;
/** A longer line continues on the next row: one line of a megabyte would block the window. */
const maxRowCharacters = 400;
/** Shorter texts are drawn whole, so that they can be selected and searched with the browser's own tools. */
const maxWholeCharacters = 40_000;

function rowsOf(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= maxRowCharacters) return [line];
    const count = Math.ceil(line.length / maxRowCharacters);
    return Array.from({ length: count }, (_, index) =>
      line.slice(index * maxRowCharacters, (index + 1) * maxRowCharacters),
    );
  });
}

/** A text of any length in a fixed-width font. Of a long one, only the rows in view are drawn. */
export function LongText({ text, label }: { text: string; label: string }) {
  const scroller = useRef<HTMLPreElement>(null);
  const isLong = text.length > maxWholeCharacters;
  const rows = useMemo(() => (isLong ? rowsOf(text) : []), [isLong, text]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 20,
  });
  return (
    <pre ref={scroller} className="exchange__text scroll mono" tabIndex={0} aria-label={label}>
      {!isLong && text}
      {isLong && (
        <div style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <span key={index} className="exchange__row" style={{ transform: `translateY(${start}px)` }}>
              {rows[index]}
            </span>
          ))}
        </div>
      )}
    </pre>
  );
}
