import { expect, test } from 'vitest';
import {
  findFrames,
  frameData,
  frameGist,
  frameRow,
  jsonTokens,
  longestGap,
  longGapLimit,
  publicRequest,
  requestText,
  tickPositions,
} from '../../../../../../renderer/screens/playground/wire/wire-model.ts';

const frames = [0, 10, 20, 30, 200, 210].map((at, index) => ({
  text: `data: {"n": ${index}}\n\n`,
  bytes: 18,
  at: 1000 + at,
}));

test.each([
  ['data: {"a": 1}\n\n', '{"a": 1}'],
  ['[{"a": 1}', '{"a": 1}'],
  [',\n{"a": [1]}', '{"a": [1]}'],
  [',\n{"a": 1}]', '{"a": 1}'],
  ['{"a": 1}', '{"a": 1}'],
])('the data of the frame %j is %s', (text, data) => expect(frameData(text)).toBe(data));

test('a row shows what differs from frame to frame', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const part = (choice: object, rest = {}) => JSON.stringify({ choice: { index: 0, ...choice }, runId: 'r', ...rest });
  expect([
    frameGist(part({ message: { role: 'assistant', content: 'a "b"' } })),
    frameGist(part({ finish_reason: 'Stop', message: { role: 'assistant' } }, { usage })),
    frameGist('{"error": {"code": "provider_failed"}}'),
    frameGist('no JSON'),
  ]).toEqual([
    '{"choice": {… "content": "a \\"b\\"" …}}',
    `{"choice": {… "finish_reason": "Stop" …}, "usage": ${JSON.stringify(usage)} …}`,
    '{"error": {"code": "provider_failed"}}',
    'no JSON',
  ]);
});

test('times start at the request, and a long gap is highlighted', () => {
  const limit = longGapLimit(frames);
  const rows = frames.map((_, index) => frameRow(frames, index, 990, limit));
  expect(rows.map((row) => [row?.number, row?.at, row?.gap, row?.isLongGap])).toEqual([
    [1, 10, null, false],
    [2, 20, 10, false],
    [3, 30, 10, false],
    [4, 40, 10, false],
    [5, 210, 170, true],
    [6, 220, 10, false],
  ]);
  expect(longestGap(frames, frames.length)).toBe(170);
});

test("a search matches any part of a frame's text", () => {
  expect(findFrames(frames, frames.length, '"N": 4')).toEqual([4]);
});

test('many frames have as many ticks as fit', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => ({ text: '', bytes: 0, at: index }));
  const marks = tickPositions(many, many.length, 0, 150);
  expect(marks.length).toBeLessThanOrEqual(76);
  expect(Math.max(...marks)).toBeLessThan(150);
});

test('the request is shown line by line', () => {
  const log = {
    method: 'POST',
    path: '/api/completions/sse',
    headers: { accept: 'text/event-stream' },
    body: '{"a":1}',
    frames: [],
    status: null,
    responseHeaders: [],
  };
  expect(requestText(log, 'http://127.0.0.1:4117')).toEqual({
    line: 'POST /api/completions/sse',
    head: [
      ['host', '127.0.0.1:4117'],
      ['accept', 'text/event-stream'],
    ],
    body: '{\n  "a": 1\n}',
  });
});

test("the window's own address is shown in its public form, without what only the window may send", () => {
  const log = {
    method: 'POST',
    path: '/window/grounding/completions',
    headers: {},
    body: '{"promptText":"Hello","grounding":{"pinned":[]}}',
    frames: [],
    status: null,
    responseHeaders: [],
  };
  expect(publicRequest(log)).toMatchObject({ path: '/api/completions/sse', body: '{"promptText":"Hello"}' });
  const own = { ...log, path: '/api/completions/sync' };
  expect(publicRequest(own)).toBe(own);
});

test('names, strings, numbers and words of a JSON text have their colours', () => {
  expect(jsonTokens('{"a": ["b", -1.5e3, true]}').filter(({ kind }) => kind && kind !== 'punc')).toEqual([
    { kind: 'var', text: '"a"' },
    { kind: 'str', text: '"b"' },
    { kind: 'num', text: '-1.5e3' },
    { kind: 'key', text: 'true' },
  ]);
});
