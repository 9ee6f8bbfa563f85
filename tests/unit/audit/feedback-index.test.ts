import { expect, test } from 'vitest';
import { forEachBit } from '../../../electron/audit/index/bits.ts';
import { FeedbackIndex } from '../../../electron/audit/index/feedback-index.ts';
import { fc } from '../../support/fast-check.ts';

const row = (run: number, text: string | null) => ({
  run,
  score: 1,
  score_text: text,
  score_tags: null,
  updated_at: 0,
});

function runsWith(index: FeedbackIndex, text: string): number[] {
  const found: number[] = [];
  const bits = index.matches(text, 0, { passes: (feedback) => feedback.text.includes(text), text });
  if (bits !== null) forEachBit(bits, (offset) => found.push(offset));
  return found;
}

const comment = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '\0', ' ', 'ä', '🙂'), maxLength: 8 }),
  fc.constantFrom('', '\0', 'ab\0ab'),
);

test('finds the comments that contain a text, whatever they contain, also after changes', () => {
  fc.assert(
    fc.property(fc.array(comment, { maxLength: 30 }), comment, comment, (comments, searched, changed) => {
      const index = new FeedbackIndex();
      for (const [run, text] of comments.entries()) index.set(row(run, text));
      const expected = (texts: readonly string[]) =>
        texts.flatMap((text, run) => (text.includes(searched) ? [run] : []));
      expect(runsWith(index, searched)).toEqual(expected(comments));
      if (comments.length === 0) return;
      index.set(row(0, changed));
      expect(runsWith(index, searched)).toEqual(expected([changed, ...comments.slice(1)]));
      index.delete(0);
      expect(runsWith(index, searched)).toEqual(expected(comments).filter((run) => run !== 0));
    }),
  );
});
