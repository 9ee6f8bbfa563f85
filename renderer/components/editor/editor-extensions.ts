import { StyleModule } from 'style-mod';
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';

/**
 * Lets CodeMirror write its styles into a constructed style sheet instead of a `<style>` element, which the content security policy
 * of the window blocks. `style-mod` does so automatically for shadow roots only, which it recognizes by their missing head.
 */
export function allowEditorStyles(): void {
  const page = document as unknown as Record<symbol, unknown>;
  const stand = { ownerDocument: document, adoptedStyleSheets: [] as CSSStyleSheet[] };
  if (!('adoptedStyleSheets' in document)) return;
  StyleModule.mount(stand as unknown as ShadowRoot, []);
  for (const key of Object.getOwnPropertySymbols(stand))
    page[key] ??= (stand as unknown as Record<symbol, unknown>)[key];
}

const byItsText = Decoration.line({ attributes: { dir: 'auto' } });

/** Each line of an editor takes its direction from its own first letter: a prompt may have Arabic between lines of English. */
export const lineDirection: Extension = [
  EditorView.perLineTextDirection.of(true),
  EditorView.decorations.of((view) => {
    const lines = new RangeSetBuilder<Decoration>();
    let next = 0;
    for (const { from, to } of view.visibleRanges) {
      for (let position = Math.max(from, next); position <= to; position = next) {
        const line = view.state.doc.lineAt(position);
        // A long line may be in view in several parts.
        if (line.from >= next) lines.add(line.from, line.from, byItsText);
        next = line.to + 1;
      }
    }
    return lines.finish();
  }),
];

/**
 * Replaces the selection with typed text. If the browser did it, Chromium would give the new text the style of the old one in a
 * style attribute, which the content security policy blocks with an error on the console.
 */
export const replaceSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    const { data } = event;
    const { empty, from, to } = state.selection.main;
    if (event.inputType !== 'insertText' || data === null || event.isComposing || empty || state.readOnly) return false;
    const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    // Extensions that follow typing, such as the one that closes brackets, run first, as they do without this extension.
    const isDone = state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isDone) view.dispatch(insert());
    return true;
  },
});

/** The editor's own elements. The classes of `styles/syntax.css` colour the text. */
export const editorTheme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text-primary)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    fontSize: 'var(--text-mono)',
    fontWeight: '400',
    lineHeight: '20px',
    fontVariantLigatures: 'none',
    fontFeatureSettings: "'calt' 0",
    scrollbarWidth: 'thin',
    scrollbarColor: 'var(--line-strong) transparent',
  },
  '.cm-content': { padding: '4px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 12px 0 0', overflowWrap: 'anywhere' },
  '.cm-gutters': { backgroundColor: 'transparent', border: '0', color: 'var(--text-tertiary)', fontSize: '11px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 12px 0 0', lineHeight: '20px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  // Transparent, because the selection layer lies below the lines.
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--text-primary) 7%, transparent)',
  },
  '&.cm-focused .cm-activeLineGutter': { color: 'var(--text-primary)' },
  '.cm-cursor': { borderLeft: '2px solid var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-placeholder': { color: 'var(--text-tertiary)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--negative) 1px',
    textUnderlineOffset: '3px',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--negative)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface-overlay)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-large)',
    boxShadow: 'var(--shadow-overlay)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-lint .cm-diagnostic': {
    borderLeft: '2px solid var(--negative)',
    fontFamily: 'var(--font-ui)',
    fontSize: 'var(--text-small)',
    padding: '4px 10px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '240px', minWidth: '260px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    alignItems: 'center',
    justifyContent: 'space-between',
    gap: '16px',
    height: '26px',
    padding: '0 8px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--surface-selected)',
    color: 'var(--text-primary)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700', color: 'var(--accent)' },
  '.cm-completionDetail': {
    fontFamily: 'var(--font-ui)',
    fontStyle: 'normal',
    fontSize: 'var(--text-caption)',
    color: 'var(--text-tertiary)',
    marginLeft: '0',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    maxWidth: '220px',
  },
  '.cm-panels': { backgroundColor: 'var(--surface-inset)', color: 'var(--text-primary)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 12px', fontFamily: 'var(--font-ui)', fontSize: 'var(--text-small)' },
  '.cm-textfield': {
    border: '1px solid var(--line-control)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--surface-field)',
    height: 'var(--size-control-small)',
    fontSize: 'var(--text-small)',
  },
  '.cm-button': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    backgroundImage: 'none',
    backgroundColor: 'var(--surface-panel)',
    height: 'var(--size-control-small)',
    fontSize: 'var(--text-small)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--caution-tint)', boxShadow: 'inset 0 -1px var(--caution-line)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--surface-selected)' },
});
