import { expect, test } from 'vitest';
import { GrowingText } from '../../../electron/providers/growing-text.ts';
import { fc } from '../../support/fast-check.ts';

test('a growing text is all of its pieces, whenever it is read', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.tuple(fc.string(), fc.boolean()), { maxLength: 100 }), (start, pieces) => {
      const text = new GrowingText(start);
      let expected = start;
      for (const [piece, isRead] of pieces) {
        text.add(piece);
        expected += piece;
        expect(text.length).toBe(expected.length);
        if (isRead) expect(text.read()).toBe(expected);
      }
      expect([text.read(), text.read()]).toEqual([expected, expected]);
    }),
  );
});
