import { describe, expect, test } from 'vitest';
import { parseWindowState, fitWindow } from '../../../electron/shell/window-frame.ts';

const main = { x: 0, y: 25, width: 1920, height: 1055 };
const left = { x: -1600, y: 0, width: 1600, height: 900 };

describe('a reopened window', () => {
  test.each([
    ['stays where it was', { x: 100, y: 100, width: 1200, height: 800 }, { x: 100, y: 100, width: 1200, height: 800 }],
    [
      'stays on a second display',
      { x: -1500, y: 50, width: 1000, height: 700 },
      { x: -1500, y: 50, width: 1000, height: 700 },
    ],
    [
      'is pulled onto the display that shows most of it',
      { x: 1500, y: 900, width: 1200, height: 800 },
      { x: 720, y: 280, width: 1200, height: 800 },
    ],
    ['is cut to the display', { x: 0, y: 0, width: 4000, height: 3000 }, { x: 0, y: 25, width: 1920, height: 1055 }],
    [
      'is not smaller than the smallest size',
      { x: 10, y: 30, width: 50, height: 50 },
      { x: 10, y: 30, width: 980, height: 700 },
    ],
  ])('%s', (_name, bounds, expected) => {
    expect(fitWindow(bounds, main, [main, left])).toEqual(expected);
  });

  test('starts in the middle if its display is missing', () => {
    const removed = { x: 5000, y: 100, width: 1000, height: 700 };
    expect(fitWindow(removed, main, [main])).toEqual({ x: 320, y: 153, width: 1280, height: 800 });
  });
});

describe('a first window', () => {
  test.each([
    ['stands in the middle', main, { x: 320, y: 153, width: 1280, height: 800 }],
    [
      'is whole on the display of a small notebook',
      { x: 0, y: 0, width: 1366, height: 728 },
      { x: 43, y: 0, width: 1280, height: 728 },
    ],
    [
      'is whole on a display that is smaller than it should ever be',
      { x: 0, y: 30, width: 800, height: 570 },
      { x: 0, y: 30, width: 800, height: 570 },
    ],
  ])('%s', (_name, area, expected) => {
    expect(fitWindow(null, area, [area])).toEqual(expected);
  });
});

describe('the file of an earlier start', () => {
  test('contains bounds and the maximized state', () => {
    const state = { bounds: { x: 1, y: 2, width: 3, height: 4 }, isMaximized: true, theme: 'dark' };
    expect(parseWindowState(JSON.stringify(state))).toEqual(state);
  });

  test.each([
    '',
    'null',
    '{"bounds":{"x":"1"}}',
    '{"bounds":{"x":1,"y":2,"width":0,"height":4},"isMaximized":"yes","theme":"blue"}',
  ])('is ignored if it is damaged: %s', (text) => {
    expect(parseWindowState(text)).toEqual({ bounds: null, isMaximized: false, theme: 'system' });
  });
});
