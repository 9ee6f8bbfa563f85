import { useLayoutEffect } from 'react';
import { isMac } from '../components/key-caps.tsx';
import { allActions, useActionStore, type Action } from '../stores/actions.ts';

/** The keys of an event in the format of actions: `Mod+Shift+K`, `Mod+,`, `Escape`, `?`. */
export function keysOf(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>,
): string {
  const isMod = isMac ? event.metaKey : event.ctrlKey;
  // On layouts where digits need Shift, Ctrl+1 arrives as Ctrl+& with the code Digit1.
  const digit = isMod ? /^Digit(\d)$/.exec(event.code)?.[1] : undefined;
  const key = digit ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  // The character of a shifted sign already implies Shift: `?` is not `Shift+?`.
  const isShift = event.shiftKey && (key.length > 1 || /[A-Z]/.test(key));
  return [isMod && 'Mod', event.altKey && 'Alt', isShift && 'Shift', key].filter(Boolean).join('+');
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}

/** Whether a floating layer handles the keys. */
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

/** Runs the action of the pressed keys anywhere in the window, unless the focused element has handled them. */
export function useGlobalKeys(): void {
  useLayoutEffect(() => {
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
