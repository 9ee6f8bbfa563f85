import { type RefObject, useEffect, useRef } from 'react';

/**
 * Focuses the element of the returned ref when something closes that had the focus. Otherwise a removed form would leave the
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
 * For `onCloseAutoFocus`: Radix restores the focus in a task after the one that closed the layer. A person who has moved to a field
 * by then would lose the focus, and their typing would trigger shortcuts.
 */
export function keepNewerFocus(event: Event): void {
  if (document.activeElement !== document.body) event.preventDefault();
}
