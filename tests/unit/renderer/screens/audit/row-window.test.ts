import { describe, expect, test } from 'vitest';
import {
  moveRows,
  rowScale,
  rowsInView,
  rowsTopAt,
  sheetTopAt,
} from '../../../../../renderer/screens/audit/list/use-row-window.ts';
import { fc } from '../../../../support/fast-check.ts';

const rowHeight = 44;
const viewHeight = 560;
const tallestElement = 17_000_000;
const counts = fc.integer({ min: 0, max: 3_000_000 });

describe('the window over a list of any length', () => {
  test('never needs an element taller than a browser can draw, and reaches both ends', () => {
    fc.assert(
      fc.property(counts, (count) => {
        const scale = rowScale(count, rowHeight, viewHeight);
        const end = Math.max(0, scale.sheetHeight - viewHeight);
        const lastTop = Math.max(0, count * rowHeight - viewHeight);
        expect(scale.sheetHeight).toBeLessThan(tallestElement);
        expect([rowsTopAt(0, scale), rowsTopAt(end, scale)]).toEqual([0, lastTop]);
      }),
    );
  });

  test('maps any row back within a pixel of the sheet', () => {
    fc.assert(
      fc.property(counts, fc.double({ min: 0, max: 1, noNaN: true }), (count, part) => {
        const scale = rowScale(count, rowHeight, viewHeight);
        const rowsTop = Math.round(part * Math.max(0, count * rowHeight - viewHeight));
        const pixelOfSheet = Math.max(1, scale.rowsHeight / Math.max(1, scale.sheetHeight));
        expect(Math.abs(rowsTopAt(sheetTopAt(rowsTop, scale), scale) - rowsTop)).toBeLessThanOrEqual(pixelOfSheet + 1);
      }),
    );
  });

  test('moves one to one under the wheel in the middle of a million rows', () => {
    const scale = rowScale(1_000_000, rowHeight, viewHeight);
    const rowsTop = 20_000_000;
    const sheetTop = sheetTopAt(rowsTop, scale);
    expect(moveRows(rowsTop, sheetTop, sheetTop + 120, scale)).toBe(rowsTop + 120);
    expect(moveRows(rowsTop, sheetTop, sheetTop - 3, scale)).toBe(rowsTop - 3);
  });

  test('maps the ends of the sheet to the ends of the list, after any movement', () => {
    const scale = rowScale(1_000_000, rowHeight, viewHeight);
    const end = scale.sheetHeight - viewHeight;
    expect(moveRows(5_000, 40, 0, scale)).toBe(0);
    expect(moveRows(1_000_000, end - 40, end, scale)).toBe(scale.rowsHeight - viewHeight);
  });

  test('draws the rows in view and a little beyond, never beyond the list', () => {
    expect(rowsInView(0, { viewHeight, rowHeight, count: 1_000_000 })).toEqual({ first: 0, last: 21 });
    expect(rowsInView(44_000_000 - 560, { viewHeight, rowHeight, count: 1_000_000 }).last).toBe(999_999);
    expect(rowsInView(0, { viewHeight, rowHeight, count: 0 })).toEqual({ first: 0, last: -1 });
  });
});
