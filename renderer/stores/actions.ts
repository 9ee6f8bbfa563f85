import type { LucideIcon } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import { create } from 'zustand';

/** A command that a person runs by its name in the palette or by its keys. */
export interface Action {
  /** Unique and stable: `playground.run`, `settings.open.providers`. */
  id: string;
  title: string;
  /** Heading in the palette and in the list of keys: `Playground`, `Go to`, `Appearance`. */
  group: string;
  icon?: LucideIcon | undefined;
  /** `Mod+Enter`, `Escape`, `?`, `Mod+Shift+K`; `Mod` is Ctrl, on a Mac Command. */
  keys?: string | undefined;
  /** More search terms in the palette. */
  keywords?: readonly string[] | undefined;
  /** Beside the title in the palette. */
  detail?: string | undefined;
  /** False hides it from the palette and ignores its keys. Default: true. */
  isEnabled?: boolean | undefined;
  /** Whether its keys work while a text field has the focus; keys with `Mod` always do. */
  worksWhileTyping?: boolean | undefined;
  /** Works only by its keys: the palette doesn't list it. */
  isHiddenInPalette?: boolean | undefined;
  run: () => void;
}

interface ActionState {
  /** By the part of the window that registered them, in order of registration. */
  sources: ReadonlyMap<string, readonly Action[]>;
}

export const useActionStore = create<ActionState>()(() => ({ sources: new Map() }));

/** Replaces the actions that one part of the window registered before. */
export function registerActions(source: string, actions: readonly Action[]): () => void {
  useActionStore.setState(({ sources }) => ({ sources: new Map(sources).set(source, actions) }));
  return () => {
    useActionStore.setState(({ sources }) => {
      // A later registration under the same name replaced these actions.
      if (sources.get(source) !== actions) return { sources };
      const rest = new Map(sources);
      rest.delete(source);
      return { sources: rest };
    });
  };
}

/** The name under which the frame of the window registers its own actions. */
export const windowSource = 'window';

/** All actions. Those of the open screen come before the window's own. */
export function allActions(sources: ReadonlyMap<string, readonly Action[]>): Action[] {
  const ofScreens = [...sources].filter(([source]) => source !== windowSource).flatMap(([, actions]) => actions);
  return [...ofScreens, ...(sources.get(windowSource) ?? [])];
}

function signature(actions: readonly Action[]): string {
  return JSON.stringify(actions, (key, value: unknown) => (key === 'icon' || key === 'run' ? undefined : value));
}

/**
 * Registers actions while the component is mounted. They may be new objects on every render: the registry changes only when
 * something visible changes, and `run` is always the newest.
 */
export function useActions(source: string, actions: readonly Action[]): void {
  const newest = useRef(actions);
  useLayoutEffect(() => {
    newest.current = actions;
  });
  const shown = signature(actions);
  // With the part itself: a key that is pressed as soon as the part is drawn runs its action.
  useLayoutEffect(() => {
    const remove = registerActions(
      source,
      newest.current.map((action) => ({
        ...action,
        run: () => newest.current.find(({ id }) => id === action.id)?.run(),
      })),
    );
    return () => remove();
  }, [source, shown]);
}
