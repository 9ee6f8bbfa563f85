import { type ComponentType, useLayoutEffect, useState } from 'react';
import { LoadingRows } from './state-panels.tsx';

/** A part of the window whose files didn't load: the host is down, or has files of another version. */
export class PartNotLoaded extends Error {
  /** Lets the next attempt load the files again. Otherwise the failure is cached forever. */
  readonly forget: () => void;

  constructor(cause: unknown, forget: () => void) {
    super('The part could not be loaded.', { cause });
    this.forget = forget;
  }
}

/** A stylesheet that failed to load has no rules, or rules that can't be read. */
function isMissing({ sheet }: HTMLLinkElement): boolean {
  try {
    return sheet === null || sheet.cssRules.length === 0;
  } catch {
    return true;
  }
}

/** The bundler's loader requests a style sheet once, and never again even if it failed. */
function askForStylesAgain(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    if (!isMissing(link)) continue;
    const again = link.cloneNode() as HTMLLinkElement;
    // It may still be loading: the loader waits for its element, forever unless the element reports an error.
    for (const end of ['load', 'error']) again.addEventListener(end, () => link.dispatchEvent(new Event(end)));
    link.replaceWith(again);
  }
}

/** A component with files of its own. */
export type LazyPart = ComponentType & {
  /** Loads the files before it is shown, so that it needs no placeholder. Throws `PartNotLoaded`; then showing it loads them again. */
  readonly load: () => Promise<void>;
};

/**
 * A component that loads when it is first shown, behind a placeholder. A failure is thrown as `PartNotLoaded`. React's `lazy` would show
 * the placeholder for 300 ms, however early the files are there.
 */
export function lazyPart(name: string, load: () => Promise<ComponentType>): LazyPart {
  let Loaded: ComponentType | null = null;
  let loading: Promise<void> | null = null;
  const loadFiles = async (): Promise<void> => {
    try {
      Loaded = await load();
    } catch (cause) {
      throw new PartNotLoaded(cause, () => (loading = null));
    }
  };
  const loadOnce = (): Promise<void> => (loading ??= loadFiles());
  function Part() {
    const [failure, setFailure] = useState<unknown>(null);
    const [, setLoaded] = useState(Loaded !== null);
    useLayoutEffect(() => {
      let isShown = true;
      if (loading === null) askForStylesAgain();
      loadOnce().then(
        () => isShown && setLoaded(true),
        (cause: unknown) => isShown && setFailure(cause),
      );
      return () => {
        isShown = false;
      };
    }, []);
    if (failure !== null) throw failure;
    return Loaded === null ? <LoadingRows label={`Loading ${name}`} /> : <Loaded />;
  }
  const loadEarly = async (): Promise<void> => {
    // Styles that still load at a start are not requested again, which would interrupt them.
    try {
      await loadOnce();
    } catch (failure) {
      loading = null;
      throw failure;
    }
  };
  return Object.assign(Part, { load: loadEarly });
}
