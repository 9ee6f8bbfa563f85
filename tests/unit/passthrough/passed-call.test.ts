import { expect, test } from 'vitest';
import { PassedCall } from '../../../electron/passthrough/passed-call.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';

const flow = { resume: () => undefined, cancel: () => undefined } as never;

/** A call whose record isn't on disk until `written` is resolved, with what the program has of it. */
function startCall(api: CallApi) {
  const written = Promise.withResolvers<void>();
  let text = '';
  let hasEnded = false;
  const call = new PassedCall(api, {
    begin: () => undefined,
    take: () => undefined,
    end: () => written.promise,
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
  return { call, written, received: () => [text, hasEnded] as const };
}

/** What is passed on is written in the next tick. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test.each<[CallApi, string]>([
  ['openai-chat', 'data: [DONE]'],
  ['openai-responses', 'event: response.completed'],
  ['anthropic-messages', 'event: message_stop'],
])('the last event of %s waits for the record, wherever its line is split', async (api, marker) => {
  for (let split = 1; split < marker.length; split += 1) {
    const { call, written, received } = startCall(api);
    const parts = ['data: {"n":1}\n\n', marker.slice(0, split), marker.slice(split), '\n', 'data: {}\n', '\n'];
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
