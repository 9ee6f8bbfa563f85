import { expect, test } from 'vitest';
import { PassedCall } from '../../../electron/passthrough/passed-call.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';

const flow = { resume: () => undefined, cancel: () => undefined } as never;

/** A call whose record isn't on disk until `written` is resolved, with what the program has of it. */
function startCall(api: CallApi) {
  const written = Promise.withResolvers<void>();
  let text = '';
  let hasEnded = false;
  let isRecording = false;
  const call = new PassedCall(api, {
    begin: () => undefined,
    take: () => undefined,
    end: () => {
      isRecording = true;
      return written.promise;
    },
    fail: () => Promise.resolve(),
  });
  call.begin(200, 'OK', {}, flow, []);
  call.connect({
    write(chunk) {
      text += Buffer.from(chunk).toString();
      return true;
    },
    end: () => void (hasEnded = true),
    fail: () => undefined,
    reject: () => undefined,
  });
  return { call, written, received: () => [text, hasEnded] as const, isRecording: () => isRecording };
}

/** All that arrives in one turn is taken together. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const lastEvents: readonly [CallApi, string][] = [
  ['openai-chat', 'data: [DONE]'],
  ['openai-chat', 'data:[DONE]'],
  ['openai-responses', 'event: response.completed'],
  ['openai-responses', 'event:response.failed'],
  ['anthropic-messages', 'event: message_stop'],
  ['anthropic-messages', 'event:message_stop'],
];

test.each(
  lastEvents.flatMap(([api, line]) => ['\n', '\r\n', '\r'].map((end) => [api, line, JSON.stringify(end)] as const)),
)('the last event of %s waits for the record, wherever %s with %s is split', async (api, line, quotedEnd) => {
  const end = JSON.parse(quotedEnd) as string;
  for (let split = 1; split < line.length; split += 1) {
    const { call, written, received } = startCall(api);
    const parts = [`data: {"n":1}${end}${end}`, line.slice(0, split), line.slice(split), end, `data: {}${end}`, end];
    for (const part of parts) {
      call.take(Buffer.from(part));
      await nextTurn();
    }
    expect(received()).toEqual([parts[0]! + parts[1]!, false]);
    written.resolve();
    await nextTurn();
    call.end();
    expect(received()).toEqual([parts.join(''), true]);
  }
});

test.each(['\n', '\r\n', '\r'])(
  'the record begins when the last event is whole, whose lines end with %j',
  async (end) => {
    const stream = `data: {}${end}${end}event: message_stop${end}data: {"type":"message_stop"}${end}${end}`;
    // The empty line is clear with its first character.
    const whole = stream.length - end.length + 1;
    for (let split = 1; split < whole; split += 1) {
      const { call, isRecording } = startCall('anthropic-messages');
      call.take(Buffer.from(stream.slice(0, split)));
      await nextTurn();
      call.take(Buffer.from(stream.slice(split, whole - 1)));
      await nextTurn();
      expect(isRecording()).toBe(false);
      call.take(Buffer.from(stream.slice(whole - 1)));
      await nextTurn();
      expect(isRecording()).toBe(true);
    }
  },
);

test('the last event is found after a text with the same characters', async () => {
  const { call, received } = startCall('openai-chat');
  const text = 'data: {"content":"data: [DONE]"}\n\n';
  call.take(Buffer.from(`${text}data: [DONE]\n\n`));
  await nextTurn();
  expect(received()).toEqual([text, false]);
});

test('a text that only looks like the last event is passed on at once', async () => {
  const { call, received } = startCall('anthropic-messages');
  const parts = [
    'data: event: message',
    '_stop\n',
    `: ${'x'.repeat(100)}`,
    'event: message_stop\n',
    'event: message_',
    'start\n',
  ];
  for (const part of parts) {
    call.take(Buffer.from(part));
    await nextTurn();
  }
  expect(received()).toEqual([parts.join(''), false]);
});
