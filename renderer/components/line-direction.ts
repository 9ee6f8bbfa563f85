import { RangeSetBuilder, type Extension } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';

const byItsText = Decoration.line({ attributes: { dir: 'auto' } });

/** Each line of an editor runs in the direction of its own first letter: a prompt may have Arabic between lines of English. */
export const lineDirection: Extension = [
  EditorView.perLineTextDirection.of(true),
  EditorView.decorations.of((view) => {
    const lines = new RangeSetBuilder<Decoration>();
    let next = 0;
    for (const { from, to } of view.visibleRanges) {
      for (let place = Math.max(from, next); place <= to; place = next) {
        const line = view.state.doc.lineAt(place);
        // A long line may be in view in several pieces.
        if (line.from >= next) lines.add(line.from, line.from, byItsText);
        next = line.to + 1;
      }
    }
    return lines.finish();
  }),
];
