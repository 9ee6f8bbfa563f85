import { type RefObject, useEffect, useMemo } from 'react';
import { findIn, findTerms } from './find-terms.ts';

/** Highlights in every line of a text of megabytes would block the window. */
const maxHighlights = 1_000;

type Find = (text: string) => readonly { start: number; end: number }[];

function rangesIn(element: Element, find: Find): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < maxHighlights) {
    const node = walker.currentNode as Text;
    for (const { start, end } of find(node.data)) {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}

/**
 * Highlights parts of an element's text. CSS highlights lie over the text and change no markup. `find` must be stable; null finds
 * nothing. `shown` identifies the content; the highlights are rebuilt when it changes.
 */
function useTextHighlights(
  name: string,
  element: RefObject<HTMLElement | null>,
  find: Find | null,
  shown: string,
): void {
  useEffect(() => {
    if (!('CSS' in globalThis && 'highlights' in CSS) || !element.current || !find) return;
    CSS.highlights.set(name, new Highlight(...rangesIn(element.current, find)));
    return () => void CSS.highlights.delete(name);
  }, [name, element, find, shown]);
}

/** Highlights the terms of a search in an element's text. */
export function useFindHighlights(element: RefObject<HTMLElement | null>, search: string, shown: string): void {
  const find = useMemo((): Find | null => {
    const terms = findTerms(search);
    return terms.length === 0 ? null : (text) => findIn(text, terms);
  }, [search]);
  useTextHighlights('audit-find', element, find, shown);
}

function* findTexts(text: string, searched: readonly string[]): Generator<{ start: number; end: number }, void, void> {
  for (const one of searched) {
    for (let start = text.indexOf(one); start !== -1; start = text.indexOf(one, start + one.length)) {
      yield { start, end: start + one.length };
    }
  }
}

/** Highlights what redaction left in place of texts. `replacements` are separated by line ends. */
export function useRedactionHighlights(
  element: RefObject<HTMLElement | null>,
  replacements: string,
  shown: string,
): void {
  const find = useMemo((): Find | null => {
    const searched = replacements.split('\n').filter((one) => one !== '');
    return searched.length === 0 ? null : (text) => [...findTexts(text, searched)].slice(0, maxHighlights);
  }, [replacements]);
  useTextHighlights('redacted', element, find, shown);
}
