import { lazy, type ComponentType } from 'react';

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

/** A component that loads when it is first shown. A failure is thrown as `PartNotLoaded`. */
export function lazyPart(load: () => Promise<ComponentType>): ComponentType {
  const attempt = () =>
    lazy(async () => {
      askForStylesAgain();
      try {
        return { default: await load() };
      } catch (cause) {
        throw new PartNotLoaded(cause, () => (Loaded = attempt()));
      }
    });
  let Loaded = attempt();
  return function LazyPart() {
    return <Loaded />;
  };
}
