import { expect, test } from 'vitest';
import { readResponse } from '../../../electron/passthrough/recorded-response.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';
import { fc } from '../../support/fast-check.ts';

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'x' };

function chatFrame(delta: object, more: object = {}): string {
  return JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: null, ...more }] });
}

/** As one frame for each text, and the same frames with something in each that prevents a shortcut. */
function read(api: CallApi, frames: readonly string[], isUnlike = false) {
  const unlike = (frame: string, index: number) => `{"n":${index},${frame.slice(1)}`;
  const text = frames.map((frame, index) => `data: ${isUnlike ? unlike(frame, index) : frame}\n\n`).join('');
  return readResponse(api, text, { isStream: true, isJudged: true });
}

const delta = fc.oneof(
  fc.record({
    content: fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('x', 'stop', '"', '\\', '\n', '')),
  }),
  fc.record({ content: fc.constantFrom('a', ''), role: fc.constant('assistant') }),
  fc.record({ reasoning_content: fc.string({ maxLength: 3 }), content: fc.constantFrom(null, 'b') }),
  fc.record({ content: fc.string({ maxLength: 3 }), refusal: fc.constantFrom(null, 'no') }),
  fc.record({ tool_calls: fc.constant([{ index: 0, id: 'c', function: { name: 'look', arguments: '{' } }]) }),
);

test('frames that are like each other are read as if each were parsed', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(delta, fc.constantFrom({}, { finish_reason: 'stop' }, { index: 1 }))), (list) => {
      const frames = list.map(([one, more]) => chatFrame(one, more));
      expect(read('openai-chat', frames)).toEqual(read('openai-chat', frames, true));
    }),
  );
});

test.each([
  [
    'Anthropic',
    'anthropic-messages',
    ['Bl', 'ue', '."\\n', 'Bl'].map((text) =>
      JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
  ],
  [
    'a server that writes spaces and codes',
    'openai-chat',
    ['Bl', 'ue', '\\u002e"\\n', 'Bl'].map(
      (text) => `{"choices": [{"delta": {"content": "${text.replace('"', '\\"').replace('\\n', '\\n')}"}}]}`,
    ),
  ],
] as const)('%s', (_, api, frames) => {
  expect(read(api, frames)).toEqual(read(api, frames, true));
  expect(read(api, frames).content.startsWith('Blue."')).toBe(true);
});

test('a text that is also elsewhere in its frame is not taken from there', () => {
  const frames = ['assistant', 'other', 'x'].map((content) => chatFrame({ role: 'assistant', content }));
  expect(read('openai-chat', frames).content).toBe('assistantotherx');
  // The text is written as a code, and another field has it as it is.
  const hidden = ['A', 'B'].map((name) => `{"model":"${name}","choices":[{"delta":{"content":"\\u0041"}}]}`);
  expect(read('openai-chat', hidden).content).toBe('AA');
});
