import { useEffect, useRef, type RefObject } from 'react';

const columnText = '.play__stream';

/**
 * Scrolls all columns to the same share of their length as the one that the reader scrolls. What scrolls without the reader, such as
 * a column that follows its growing text, moves no other.
 */
export function useLinkedScroll(isLinked: boolean): RefObject<HTMLDivElement | null> {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = container.current;
    if (!element || !isLinked) return;
    let reader: Element | null = null;
    const onInput = ({ target }: Event): void => {
      reader = target instanceof Element ? target.closest(columnText) : null;
    };
    const onScroll = ({ target }: Event): void => {
      if (!(target instanceof Element) || target !== reader) return;
      const room = target.scrollHeight - target.clientHeight;
      if (room <= 0) return;
      const share = target.scrollTop / room;
      for (const other of element.querySelectorAll(columnText)) {
        if (other !== target) other.scrollTop = Math.round(share * (other.scrollHeight - other.clientHeight));
      }
    };
    const inputs = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const;
    for (const name of inputs) element.addEventListener(name, onInput, { capture: true, passive: true });
    element.addEventListener('scroll', onScroll, { capture: true, passive: true });
    return () => {
      for (const name of inputs) element.removeEventListener(name, onInput, { capture: true });
      element.removeEventListener('scroll', onScroll, { capture: true });
    };
  }, [isLinked]);
  return container;
}
