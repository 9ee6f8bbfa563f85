import { expect, test } from 'vitest';
import { PassedCall } from '../../../electron/passthrough/passed-call.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';

const flow = { resume: () => undefined, cancel: () => undefined } as never;

/** A call whose record isn't on disk until `written` is resolved, with what the program has of it. */
function startCall(api: CallApi) {
  const written = Promise.withResolvers<void>();
  const steps: string[] = [];
  let text = '';
  let hasEnded = false;
  const call = new PassedCall(api, {
    begin: () => undefined,
    take: () => undefined,
    endAtOnce: () => false,
    end: () => {
      steps.push('record');
      return written.promise;
    },
    fail: async () => void steps.push('record of a break'),
  });
  // The program is connected once it has been told of the head.
  void call.head.then(() =>
    call.connect({
      write(chunk) {
        steps.push('write');
        text += Buffer.from(chunk).toString();
        return true;
      },
      end: () => void (hasEnded = true),
      fail: () => undefined,
      reject: () => undefined,
    }),
  );
  call.begin(200, 'OK', {}, flow, []);
  return { call, written, steps, received: () => [text, hasEnded] as const };
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
      const { call, steps } = startCall('anthropic-messages');
      call.take(Buffer.from(stream.slice(0, split)));
      await nextTurn();
      call.take(Buffer.from(stream.slice(split, whole - 1)));
      await nextTurn();
      expect(steps).not.toContain('record');
      call.take(Buffer.from(stream.slice(whole - 1)));
      await nextTurn();
      expect(steps).toContain('record');
    }
  },
);

test('a program has what it gets at once before the response is read for the record', async () => {
  const { call, steps } = startCall('openai-chat');
  call.take(Buffer.from('{"object":"chat.completion"}'));
  call.end();
  await nextTurn();
  expect(steps).toEqual(['write', 'record']);
});

test('a whole response is recorded as such, also if its connection breaks in the same turn', async () => {
  const { call, steps } = startCall('openai-chat');
  await nextTurn();
  call.take(Buffer.from('data: {}\n\ndata: [DONE]\n\n'));
  call.fail(new Error('The connection broke.'));
  await nextTurn();
  expect(steps.filter((step) => step.startsWith('record'))).toEqual(['record', 'record of a break']);
});

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

const response = JSON.stringify({ metadata: { type: 'response.completed' }, output: ['x'.repeat(400)] });

/** The last event in one line, as servers write it that send no names of events. */
const unnamedEvents: readonly [CallApi, string][] = [
  ['openai-responses', `data: {"type":"response.completed","response":${response}}`],
  ['openai-responses', `data:{"sequence_number":12,"type" : "response.incomplete", "response":${response}}`],
  ['openai-responses', `data: {"response":${response},"sequence_number":12,"type":"response.failed"}`],
  ['openai-responses', `data: {"response":${response}, "type": "response.completed" } `],
  ['anthropic-messages', 'data: {"type":"message_stop"}'],
];

test.each(
  unnamedEvents.flatMap(([api, line]) => ['\n', '\r\n', '\r'].map((end) => [api, line, JSON.stringify(end)] as const)),
)('the last event of %s waits for the record without its name, wherever %s with %s is split', async (...given) => {
  const [api, line, quotedEnd] = given;
  const end = JSON.parse(quotedEnd) as string;
  const start = `data: {"type":"response.created","response":${response}}${end}${end}`;
  for (let split = 0; split <= line.length; split += line.length - split > 40 && split > 60 ? 37 : 1) {
    const { call, written, received, steps } = startCall(api);
    for (const part of [start, line.slice(0, split), line.slice(split, split + 30), line.slice(split + 30), end]) {
      call.take(Buffer.from(part));
      await nextTurn();
      // The response's own metadata isn't the type of an event.
      if (part === start) expect(received()).toEqual([start, false]);
    }
    expect(received()[0].length).toBeLessThanOrEqual(start.length + line.length);
    call.take(Buffer.from(end));
    await nextTurn();
    expect(steps).toContain('record');
    written.resolve();
    await nextTurn();
    call.end();
    expect(received()).toEqual([start + line + end + end, true]);
  }
});

test.each([
  'data: {"response":{"metadata":{"type":"response.completed"}}}\n\n',
  'data: {"tools":[{"type":"response.completed"}]}\n\n',
  'data: {"type":"response.completed.delta"}\n\n',
  'data: {"delta":"\\"type\\":\\"response.completed\\"}',
  'data: {"delta":"type","x":"response.completed"}\n\n',
  ': {"type":"response.completed"}\n\n',
  `data: {"a":{${' '.repeat(200)}"type":"response.completed"}}\n\n`,
  `data: {"a":{${' '.repeat(1000)}"type":"response.completed","b":1}}\n\n`,
])('a program gets at once what only has the type of the last event somewhere else: %#', async (text) => {
  const { call, received } = startCall('openai-responses');
  for (const part of [text.slice(0, 20), text.slice(20, 30), text.slice(30)]) {
    call.take(Buffer.from(part));
    await nextTurn();
  }
  expect(received()).toEqual([text, false]);
});

test('a program gets at once what looks like the last event 35,000 times', async () => {
  const { call, received } = startCall('openai-responses');
  const line = `data: ${'{"type":"response.completed"}'.repeat(1000)}\r`;
  const chunk = Buffer.from(line.replaceAll('data: {', 'data: [{').repeat(35));
  call.take(chunk);
  await nextTurn();
  expect(received()).toEqual([chunk.toString(), false]);
});
