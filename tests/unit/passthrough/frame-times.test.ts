import { expect, test } from 'vitest';
import { ChunkTimes } from '../../../electron/passthrough/frame-times.ts';
import { readPassedResponse } from '../../../electron/passthrough/recorded-response.ts';

/** The timing of a body whose chunks came every `stepMs` milliseconds. */
function timingOf(chunks: readonly string[], kind: 'events' | 'array' = 'events', stepMs = 10) {
  const times = new ChunkTimes();
  for (const [index, chunk] of chunks.entries()) times.add(Buffer.byteLength(chunk), index * stepMs);
  const api = kind === 'array' ? 'gemini-content' : 'openai-chat';
  const form = { api, isJudged: false, encoding: '', isStream: kind === 'events', rules: [] } as const;
  const body = Buffer.from(chunks.join(''));
  return readPassedResponse({ ...form, body, isCut: false, arrivals: times.arrivals }).frames;
}

test('counts frames however they are cut, with the time of the chunk that ends them', () => {
  const chunks = ['data: 1\n\ndata: 2', '\n', '\ndata: 3\n', '\ndata: {"a":"\\n\\n"}\n\n', ': comment\n', 'data: x'];
  expect(timingOf(chunks)).toEqual({
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
  expect(timingOf(['data: 1\r\n\r', '\ndata: 2\r\n\r\n'])?.count).toBe(2);
});

test('counts the elements of a streamed array', () => {
  expect(timingOf(['[{\n  "a": [1, 2]}', '\n,\r\n{}\n', ',\r\n{}\n]\n'], 'array')).toMatchObject({
    count: 3,
    firstMs: 10,
    lastMs: 20,
  });
  expect(timingOf(['{"whole": []}'], 'array')).toBeNull();
});

test('has no timing without frames', () => {
  expect(timingOf(['data: 1\n'])).toBeNull();
  expect(timingOf([])).toBeNull();
});

test.each([2047, 2048, 100_000])('has at most 64 entries, and every frame, of a stream of %i frames', (frames) => {
  const timing = timingOf(
    Array.from({ length: frames }, () => 'data: x\n\n'),
    'events',
    1,
  )!;
  const { count, firstMs, lastMs, series } = timing;
  expect({ count, firstMs }).toEqual({ count: frames, firstMs: 0 });
  expect(lastMs).toBeGreaterThan(frames * 0.98);
  expect(series.length).toBeLessThanOrEqual(64);
  expect(series.length).toBeGreaterThanOrEqual(32);
  expect(series.reduce((sum, entry) => sum + entry.frames, 0)).toBe(frames);
});
