import { type RefObject, useEffect, useRef } from 'react';

/**
 * Gives the focus to the element of the returned ref when something closes that had it: a form that is gone would leave the
 * keyboard at the top of the page.
 */
export function useReturnFocus<Target extends HTMLElement>(isOpen: boolean): RefObject<Target | null> {
  const target = useRef<Target>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    const isClosed = wasOpen.current && !isOpen;
    wasOpen.current = isOpen;
    if (isClosed && document.activeElement === document.body) target.current?.focus();
  }, [isOpen]);
  return target;
}

/**
 * For `onCloseAutoFocus`: Radix gives the focus back in a task of its own, after the one that closed. Whoever has gone on to a
 * field by then would lose it again, and what they type next would be keys of the window.
 */
export function keepNewerFocus(event: Event): void {
  if (document.activeElement !== document.body) event.preventDefault();
}
