import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { guardOf } from '../support/guarded-host.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.host.storage.providerCache.setBaseAddress('Anthropic', host.provider.baseAddress);
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);

const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 };
const delta = (text: string) =>
  `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', delta: text })}\n\n`;

/** The end of a stream of responses, with as many characters of instructions. */
function completed(id: string, characters = 0): string {
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Blue.' }] }];
  const response = { id, status: 'completed', instructions: 'x'.repeat(characters), output, usage };
  return `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
}

const messages = [
  { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Blue.' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
];
const messageStream = messages.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** A stream in parts, each of which arrives before the next one leaves. */
function answerInParts(parts: readonly string[]): void {
  host.provider.answerWith(async (call) => {
    call.openEventStream();
    for (const part of parts) {
      await call.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    call.end();
  });
}

const runOf = ({ headers }: { headers: Record<string, unknown> }) =>
  host.host.storage.runs.read(String(headers['x-touchstone-run-id']))!;

describe.each(ways)('a passed stream of events, %s', (way) => {
  const send = (path: string, body: object) =>
    host.send(way, {
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-own', 'x-touchstone-key': host.key },
      body: JSON.stringify({ model: 'm', stream: true, ...body }),
    });
  const respond = (body: object = {}) => send('/openai/scripted/v1/responses', { input: 'Hi', ...body });
  const ask = () => send('/anthropic/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });

  /** Splits the stream within its last event, at each of the offsets from where that begins. */
  const splitAt = (stream: string, marker: string, offsets: readonly number[]) => {
    const start = stream.indexOf(marker);
    const ends = [...offsets.map((offset) => start + offset), stream.length];
    return ends.map((end, index) => stream.slice(ends[index - 1] ?? 0, end));
  };

  test.each([
    ['off', false],
    ['blocking answers', true],
  ])('is recorded whole if its last event comes in parts; the guard is %s', async (_state, isGuarded) => {
    setGuard({ prompts: 'off', answers: isGuarded ? 'refuse' : 'off' });
    const stream = delta('Blue.') + completed('resp_1');
    for (const [text, marker, call] of [
      [stream, 'event: response.completed', respond],
      [stream.replaceAll('\n', '\r\n'), 'event: response.completed', respond],
      [messageStream, 'event: message_stop', ask],
    ] as const) {
      answerInParts(splitAt(text, marker, [0, marker.length + 1, marker.length + 20]));
      const answer = await call();
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(runOf(answer)).toMatchObject({
        status: 'Completed',
        output: { content: 'Blue.', error: null },
        usage: { total_tokens: 13 },
      });
    }
  });

  test.each([200_000, 3_000_000])('is recorded whole if its last event has %i characters', async (characters) => {
    const stream = delta('Blue.') + completed('resp_2', characters);
    answerInParts([stream]);
    const answer = await respond();
    expect([answer.status, answer.text === stream]).toEqual([200, true]);
    expect(runOf(answer)).toMatchObject({ status: 'Completed', usage: { total_tokens: 13 } });
  });

  test('is recorded whole if it is sent as a text', async () => {
    const stream = delta('Blue.') + completed('resp_text');
    host.provider.answerWith((call) => call.head(200, { 'content-type': 'text/plain; charset=utf-8' }).end(stream));
    const answer = await respond();
    expect([answer.status, answer.text]).toEqual([200, stream]);
    expect(runOf(answer)).toMatchObject({ status: 'Completed', output: { content: 'Blue.' } });
  });

  test('ends at its last event, even if the connection stays open', async () => {
    answerInParts([delta('Blue.'), completed('resp_3'), ': bye\n\n']);
    const answer = await respond();
    expect(answer.text).toMatch(/: bye\n\n$/);
    expect(runOf(answer).status).toBe('Completed');
  });

  test('is found by the ID of its response', async () => {
    const id = `resp_of_${way}`;
    const parts = splitAt(delta('Blue.') + completed(id), 'event: response.completed', [40]);
    answerInParts(parts);
    const first = await respond();
    const second = await respond({ input: 'And now?', previous_response_id: id });
    expect(runOf(second).conversationId).toBe(runOf(first).conversationId);
  });
});

test.each([false, true])(
  'goes through if its credit cannot be stored, which the next call pays; streamed: %s',
  async (stream) => {
    const { apiKeys } = host.host.storage;
    const key = host.issueKey();
    const ask = async () => {
      host.provider.answerWith((call) =>
        stream ? call.chatStream(['Bl', 'ue.']) : call.chatAnswer({ content: 'Blue.' }),
      );
      const { status, text, headers } = await host.send('HTTP/1.1', {
        method: 'POST',
        path: '/openai/scripted/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-touchstone-record': 'none' },
        body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      return [status, text.includes('ue.'), headers['x-touchstone-recorded']];
    };
    const charge = vi.spyOn(apiKeys, 'charge').mockImplementation(() => {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    });
    expect([await ask(), await ask()]).toEqual([
      [200, true, 'none'],
      [200, true, 'none'],
    ]);
    charge.mockRestore();
    expect(await ask()).toEqual([200, true, 'none']);
    const { id } = apiKeys.authenticate(key)!;
    expect(apiKeys.list().find((each) => each.id === id)?.creditsUsed).toBe(3);
  },
);
