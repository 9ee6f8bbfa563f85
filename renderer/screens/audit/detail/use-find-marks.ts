import { useEffect, type RefObject } from 'react';
import { findIn, findTerms } from './find-terms.ts';

const highlightName = 'audit-find';
/** A text of megabytes with a word in every line would otherwise hold the window. */
const mostMarks = 1_000;

function rangesIn(element: Element, search: string): Range[] {
  const terms = findTerms(search);
  const ranges: Range[] = [];
  if (terms.length === 0) return ranges;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < mostMarks) {
    const node = walker.currentNode as Text;
    for (const { start, end } of findIn(node.data, terms)) {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}

/**
 * Marks the words of a search in what an element shows, whatever drew it: highlights lie over the text and change no markup.
 * `shown` names what is shown; the marks are made anew when it changes.
 */
export function useFindMarks(element: RefObject<HTMLElement | null>, search: string, shown: string): void {
  useEffect(() => {
    if (!('CSS' in globalThis && 'highlights' in CSS) || !element.current) return;
    const ranges = rangesIn(element.current, search);
    CSS.highlights.set(highlightName, new Highlight(...ranges));
    return () => void CSS.highlights.delete(highlightName);
  }, [element, search, shown]);
}
