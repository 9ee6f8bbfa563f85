import { expect, test } from 'vitest';
import { FrameTimes } from '../../../electron/passthrough/frame-times.ts';

const bytes = (text: string) => Buffer.from(text);

test('counts frames however they are cut, with the time of the chunk that ends them', () => {
  const times = new FrameTimes();
  const chunks = ['data: 1\n\ndata: 2', '\n', '\ndata: 3\n', '\ndata: {"a":"\\n\\n"}\n\n', ': comment\n', 'data: x'];
  for (const [index, chunk] of chunks.entries()) times.add(bytes(chunk), index * 10);
  expect(times.timing).toEqual({
    count: 4,
    firstMs: 0,
    lastMs: 30,
    longestGapMs: 20,
    series: [
      { atMs: 0, frames: 1 },
      { atMs: 20, frames: 1 },
      { atMs: 30, frames: 2 },
    ],
  });
});

test('counts the frames of a stream with Windows line ends', () => {
  const times = new FrameTimes();
  times.add(bytes('data: 1\r\n\r\ndata: 2\r\n\r\n'), 1);
  expect(times.timing?.count).toBe(2);
});

test('has no timing without frames', () => {
  const times = new FrameTimes();
  times.add(bytes('data: 1\n'), 1);
  expect(times.timing).toBeNull();
});

test('keeps at most 64 entries, and every frame, of the longest stream', () => {
  const times = new FrameTimes();
  const frame = bytes('data: x\n\n');
  for (let index = 0; index < 100_000; index += 1) times.add(frame, index);
  const { count, firstMs, lastMs, longestGapMs, series } = times.timing!;
  expect({ count, firstMs, lastMs, longestGapMs }).toEqual({
    count: 100_000,
    firstMs: 0,
    lastMs: 99_999,
    longestGapMs: 1,
  });
  expect(series.length).toBeLessThanOrEqual(64);
  expect(series.length).toBeGreaterThanOrEqual(32);
  expect(series.reduce((sum, { frames }) => sum + frames, 0)).toBe(100_000);
});
