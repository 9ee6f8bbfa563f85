import { StyleModule } from 'style-mod';

/**
 * Lets CodeMirror write its styles into a constructed style sheet in place of a `<style>` element, which the content security
 * policy of the window refuses. `style-mod` does so by itself for shadow roots only; it finds out by looking for a head.
 */
export function allowEditorStyles(): void {
  const page = document as unknown as Record<symbol, unknown>;
  const stand = { ownerDocument: document, adoptedStyleSheets: [] as CSSStyleSheet[] };
  if (!('adoptedStyleSheets' in document)) return;
  StyleModule.mount(stand as unknown as ShadowRoot, []);
  for (const key of Object.getOwnPropertySymbols(stand))
    page[key] ??= (stand as unknown as Record<symbol, unknown>)[key];
}
