/**
 * For `onCloseAutoFocus`: Radix gives the focus back in a task of its own, after the one that closed. Whoever has gone on to a
 * field by then would lose it again, and what they type next would be keys of the window.
 */
export function keepNewerFocus(event: Event): void {
  if (document.activeElement !== document.body) event.preventDefault();
}
