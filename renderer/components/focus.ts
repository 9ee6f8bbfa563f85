import { type RefObject, useEffect, useRef } from 'react';

const controls =
  'button, a[href], select, summary, input:is([type=checkbox], [type=radio], [type=range]), [tabindex]:not([contenteditable], [role=separator])';
const layers = '[role="dialog"], [role="alertdialog"], [role="menu"]';

/** Where a control with the focus is, and where it was when it was removed. */
interface Tracked {
  readonly element: HTMLElement;
  /** The nearest first. */
  readonly ancestors: readonly Element[];
  removal: Removal | null;
}

interface Removal {
  readonly siblings: readonly Node[];
  /** What came at the same time: the same control elsewhere, or its successor. */
  readonly added: readonly Node[];
  readonly addedHere: readonly Node[];
}

function isFocusable(element: HTMLElement): boolean {
  const isShown = element.checkVisibility?.({ visibilityProperty: true }) ?? true;
  return element.isConnected && isShown && !element.matches(':disabled') && !element.closest('[inert]');
}

/** Text fields aside: the next shortcut would become a text there. An index of -1 is a control of a group with one tab stop. */
function controlsIn(root: Node): HTMLElement[] {
  if (!(root instanceof Element) || !root.isConnected) return [];
  const all = [...root.querySelectorAll<HTMLElement>(controls)];
  if (root instanceof HTMLElement && root.matches(controls)) all.unshift(root);
  return all.filter((element) => element.tabIndex >= 0 && isFocusable(element));
}

const firstIn = (roots: readonly Node[]): HTMLElement | undefined => {
  for (const root of roots) {
    const [first] = controlsIn(root);
    if (first) return first;
  }
  return undefined;
};

const nameOf = (element: Element): string =>
  [element.tagName, element.getAttribute('role'), element.getAttribute('aria-label') ?? element.textContent].join(' ');

function siblingsAt(record: MutationRecord): Node[] {
  const siblings: Node[] = [];
  for (let node = record.nextSibling; node; node = node.nextSibling) siblings.push(node);
  for (let node = record.previousSibling; node; node = node.previousSibling) siblings.push(node);
  return siblings;
}

function removalOf(element: HTMLElement, records: readonly MutationRecord[]): Removal | null {
  const record = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(element)));
  if (!record) return null;
  const addedBy = (all: readonly MutationRecord[]) => all.flatMap(({ addedNodes }) => [...addedNodes]);
  return {
    siblings: siblingsAt(record),
    added: addedBy(records),
    addedHere: addedBy(records.filter(({ target }) => target === record.target)),
  };
}

/** The control that takes over from one that has gone: itself elsewhere, its successor, its neighbour, or what is around it. */
function successorOf({ element, ancestors, removal }: Tracked): HTMLElement | undefined {
  if (isFocusable(element)) return element;
  const { added = [], addedHere = [], siblings = [] } = removal ?? {};
  const main = document.querySelector('main');
  const around = ancestors.filter((ancestor) => ancestor.isConnected);
  const name = nameOf(element);
  const same = added.flatMap(controlsIn).find((control) => nameOf(control) === name);
  // Another screen has opened. Its first control has nothing to do with the one that has gone.
  if (same || around[0]?.contains(main)) return same;
  return firstIn([...addedHere, ...siblings, ...around.filter((ancestor) => !ancestor.contains(main))]);
}

/** Makes an element focusable for as long as it has the focus, so that a click on an empty area of it doesn't focus it. */
function focusContainer(container: HTMLElement): void {
  if (!container.hasAttribute('tabindex')) {
    container.tabIndex = -1;
    container.addEventListener('blur', () => container.removeAttribute('tabindex'), { once: true });
  }
  container.focus({ preventScroll: true });
}

let substitute: Element | null = null;

/** Whether the user has put the focus nowhere: what a removed control left, or what took over from it. */
export function isFocusFree(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement === substitute;
}

/** Follows the focus in the window and in the layers above it. */
class FocusKeeper {
  #inWindow: Tracked | null = null;
  #inLayer: Tracked | null = null;
  #isScheduled = false;
  readonly #observer = new MutationObserver((records) => this.#onChange(records));

  readonly #onFocus = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    if (target !== substitute) substitute = null;
    const ancestors: Element[] = [];
    for (let node = target.parentElement; node; node = node.parentElement) ancestors.push(node);
    const tracked = { element: target, ancestors, removal: null };
    this.#inLayer = target.closest('#window') ? null : tracked;
    if (this.#inLayer === null) this.#inWindow = tracked;
  };

  readonly #onBlur = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget === null) this.#schedule();
  };

  start(): () => void {
    this.#observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('focusin', this.#onFocus);
    document.addEventListener('focusout', this.#onBlur);
    return () => {
      this.#observer.disconnect();
      document.removeEventListener('focusin', this.#onFocus);
      document.removeEventListener('focusout', this.#onBlur);
    };
  }

  #onChange(records: readonly MutationRecord[]): void {
    const isLost = document.activeElement === document.body;
    for (const tracked of [this.#inWindow, this.#inLayer])
      if (tracked && (isLost || !tracked.element.isConnected)) tracked.removal ??= removalOf(tracked.element, records);
    if (isLost && (this.#inWindow ?? this.#inLayer)) this.#schedule();
  }

  /** A form that opens, or a layer that closes, moves the focus in a task of its own, which comes first. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() =>
      setTimeout(() => {
        this.#isScheduled = false;
        this.#check();
      }),
    );
  }

  #check(): void {
    if (document.activeElement !== document.body) return;
    const last = this.#inLayer ?? this.#inWindow;
    if (!last) return;
    // A click beside all controls.
    if (last.removal === null && isFocusable(last.element)) {
      this.#inLayer = null;
      this.#inWindow = null;
      return;
    }
    const layer = [...document.querySelectorAll<HTMLElement>(layers)].findLast(isFocusable);
    const isLayerOpen = layer !== undefined && this.#inLayer?.ancestors.includes(layer);
    const tracked = isLayerOpen ? this.#inLayer : this.#inWindow;
    if (tracked) successorOf(tracked)?.focus();
    const container = layer ?? document.querySelector('main');
    if (container && document.activeElement === document.body) focusContainer(container);
    substitute = document.activeElement;
  }
}

/**
 * Gives the focus to a neighbour when the control that has it goes away: otherwise the next key would do nothing, and a screen reader
 * would start again at the top of the page. A part that knows better moves the focus itself.
 */
export function useFocusKeeper(): void {
  useEffect(() => {
    const stop = new FocusKeeper().start();
    return () => stop();
  }, []);
}

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
    if (isClosed && isFocusFree()) target.current?.focus();
  }, [isOpen]);
  return target;
}

/**
 * For `onCloseAutoFocus`: Radix restores the focus in a task after the one that closed the layer. A person who has moved to a field
 * by then would lose the focus, and their typing would trigger shortcuts.
 */
export function keepNewerFocus(event: Event): void {
  if (!isFocusFree()) event.preventDefault();
}
