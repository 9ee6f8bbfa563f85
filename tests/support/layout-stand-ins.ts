import { vi } from 'vitest';

/** What parts of the window ask the browser about its layout; jsdom has none, so nothing ever has or changes a size. */
class NoResizeObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

export function standInForLayout(): void {
  globalThis.ResizeObserver ??= NoResizeObserver;
  // Chromium 156 answers with a promise.
  Element.prototype.scrollIntoView ??= () => Promise.resolve();
}

/** A list draws only the rows that can be seen, and in jsdom everything has a height of 0. `vi.restoreAllMocks` takes it back. */
export function giveEverythingSize(): void {
  for (const size of ['clientHeight', 'clientWidth'] as const)
    vi.spyOn(Element.prototype, size, 'get').mockReturnValue(600);
}
