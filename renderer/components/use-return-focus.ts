import { useEffect, useRef, type RefObject } from 'react';

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
