import { useEffect } from 'react';

/** Safari ends a composition before it tells the key that ended it, and marks that key with this code alone. */
const composingKeyCode = 229;

/**
 * While a person composes a word (Japanese, Chinese, Korean, a dead key), Enter, Escape and the arrows belong to the input method:
 * nothing of ours may send, close or leave because of them. Editors that are edited in place follow compositions themselves.
 */
function keepFromOthers(event: KeyboardEvent): void {
  const { target } = event;
  const isComposing = event.isComposing || event.keyCode === composingKeyCode;
  if (isComposing && !(target instanceof HTMLElement && target.isContentEditable)) event.stopImmediatePropagation();
}

/** Before every other listener, those of layers that close with Escape included: these listen at the document. */
export function useInputMethodKeys(): void {
  useEffect(() => {
    window.addEventListener('keydown', keepFromOthers, { capture: true });
    return () => window.removeEventListener('keydown', keepFromOthers, { capture: true });
  }, []);
}
