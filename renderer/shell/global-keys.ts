import { useEffect } from 'react';
import { isMac } from '../components/key-caps.tsx';
import { allActions, useActionStore, type Action } from '../stores/actions.ts';

/** The keys of an event as actions write them: `Mod+Shift+K`, `Mod+,`, `Escape`, `?`. */
export function keysOf(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>,
): string {
  const isMod = isMac ? event.metaKey : event.ctrlKey;
  // On layouts where digits need Shift, Ctrl+1 comes as Ctrl+& of the key Digit1.
  const digit = isMod ? /^Digit(\d)$/.exec(event.code)?.[1] : undefined;
  const key = digit ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  // The character of a shifted sign says it already: `?` is not `Shift+?`.
  const isShift = event.shiftKey && (key.length > 1 || /[A-Z]/.test(key));
  return [isMod && 'Mod', event.altKey && 'Alt', isShift && 'Shift', key].filter(Boolean).join('+');
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}

/** What floats over the screen takes the keys for itself. */
function isInOverlay(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

function actionFor(event: KeyboardEvent): Action | undefined {
  const keys = keysOf(event);
  const typing = isTyping(event.target);
  return allActions(useActionStore.getState().sources).find(
    (action) =>
      action.keys === keys &&
      action.isEnabled !== false &&
      (!typing || action.worksWhileTyping === true || keys.startsWith('Mod+')),
  );
}

/** Runs the action whose keys are pressed anywhere in the window, unless what has the focus took them first. */
export function useGlobalKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.repeat || isInOverlay(event.target)) return;
      const action = actionFor(event);
      if (!action) return;
      event.preventDefault();
      action.run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
