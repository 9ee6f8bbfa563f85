/** What parts of the window ask the browser about its layout; jsdom has none, so nothing ever has or changes a size. */
class NoResizeObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

export function standInForLayout(): void {
  globalThis.ResizeObserver ??= NoResizeObserver;
  Element.prototype.scrollIntoView ??= () => {};
}
