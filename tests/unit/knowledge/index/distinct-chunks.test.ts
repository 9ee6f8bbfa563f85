import { describe, expect, test } from 'vitest';
import { distinctChunks } from '../../../../electron/knowledge/index/search-passages.ts';

describe('chunks', () => {
  const piece = (id: number, source: number, start: number, end: number, relevance = 1 / id, text = `text ${id}`) => ({
    id,
    source,
    start,
    end,
    relevance,
    text,
  });
  const ids = (items: ReturnType<typeof piece>[], limit = 10) => distinctChunks(items, limit).map(({ id }) => id);

  test('that mostly overlap a better one of their source are left out, but not those that overlap a little', () => {
    expect(ids([piece(1, 1, 0, 100), piece(2, 1, 40, 140), piece(3, 1, 80, 180), piece(4, 2, 40, 140)])).toEqual([
      1, 3, 4,
    ]);
  });

  test('with the same text in another source are left out', () => {
    expect(
      ids([piece(1, 1, 0, 9, 1, 'same'), piece(2, 2, 50, 59, 0.5, 'same'), piece(3, 3, 0, 9, 0.4, 'other')]),
    ).toEqual([1, 3]);
  });

  test('that are equally good alternate by source, and never precede a better one', () => {
    expect(
      ids([
        piece(1, 1, 0, 9, 2),
        piece(2, 1, 10, 19, 1),
        piece(3, 1, 20, 29, 1),
        piece(4, 2, 0, 9, 1),
        piece(5, 2, 10, 19, 0.5),
      ]),
    ).toEqual([1, 4, 2, 3, 5]);
  });

  test('are limited to the requested number', () => {
    expect(ids([piece(1, 1, 0, 9), piece(2, 2, 0, 9), piece(3, 3, 0, 9)], 2)).toEqual([1, 2]);
  });
});
