import { EditorView } from '@codemirror/view';

/**
 * Replaces the selection with typed text. Left to the browser, Chromium would give the new text the style of the old one in a
 * style attribute, which the content security policy rejects with an error on the console.
 */
export const replaceSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    const { data } = event;
    const { empty, from, to } = state.selection.main;
    if (event.inputType !== 'insertText' || data === null || event.isComposing || empty || state.readOnly) return false;
    const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    // Extensions that follow typing, such as the one that closes brackets, come first, as they do without this.
    const isDone = state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isDone) view.dispatch(insert());
    return true;
  },
});
