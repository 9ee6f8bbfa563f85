import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { comparableHeaders, ofConnection, rawCall } from '../support/raw-calls.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

/** The bytes of calls at the provider and at the program, directly and through Touchstone. */

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  for (const aiSystem of ['OpenAi', 'Anthropic'] as const)
    host.host.storage.providerCache.setBaseAddress(aiSystem, host.provider.baseAddress);
});
afterAll(() => host.close());

interface Api {
  readonly path: string;
  readonly passedPath: string;
  readonly headers: readonly string[];
  /** As no library writes it: with spaces, escapes, an unknown field and a number that JSON in JavaScript rounds. */
  readonly body: string;
  readonly whole: string;
  /** With comments, an unknown event, both kinds of line ends, and a character in two writes; null if the API has no streams. */
  readonly stream: readonly (string | Buffer)[] | null;
  /** What is recorded of a good answer; null for a call that isn't recorded. */
  readonly content: RegExp | null;
}

const blue = Buffer.from('Bl\u00fce');
const halves = [blue.subarray(0, 3), blue.subarray(3)];

const messages: Api = {
  path: '/messages?beta=true',
  passedPath: '/anthropic/v1/messages?beta=true',
  headers: ['X-Api-Key', 'sk-own', 'Anthropic-Version', '2023-06-01', 'anthropic-beta', 'new-one,other'],
  body: '{ "model":"claude-opus-4-5","max_tokens" : 9, "messages":[{"role":"user","content":"\\u0041 \u00e4"}],  "odd":1.00000000000000000001 }',
  whole:
    '{ "id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln\\u003d"},{"type":"text","text":"Bl\u00fce."}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":4},"odd":1.0 }\n',
  stream: [
    ': hello\n\nevent: message_start\r\ndata: {"type":"message_start","message":{"id":"msg_1","content":[],"usage":{"input_tokens":9}}}\r\n\r\n',
    'event: odd\ndata: {"type":"odd"}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
    ...halves,
    '"}}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n: bye\n\n',
  ],
  content: /^Blüe\.?$/,
};

const responses: Api = {
  path: '/responses',
  passedPath: '/openai/v1/responses',
  headers: ['Authorization', 'Bearer sk-own', 'OpenAI-Beta', 'x=1'],
  body: '{ "model":"gpt-5",  "input":"\\u0041 \u00e4", "include":[ "reasoning.encrypted_content" ], "odd":1.00000000000000000001 }',
  whole:
    '{ "id":"resp_1","object":"response","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln\\u003d"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Bl\u00fce."}]}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13},"odd":1.0 }\n',
  stream: [
    ': hello\n\nevent: response.created\r\ndata: {"type":"response.created","response":{"id":"resp_1"}}\r\n\r\n',
    'event: odd\ndata: {"type":"odd"}\n\nevent: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"',
    ...halves,
    '"}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"type":"message","role":"assistant",',
    '"content":[{"type":"output_text","text":"Blue"}]}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}}\n\n: bye\n\n',
  ],
  content: /^Blüe\.?$/,
};

const tokenCount: Api = {
  ...messages,
  path: '/messages/count_tokens?beta=true',
  passedPath: '/anthropic/v1/messages/count_tokens?beta=true',
  whole: '{ "input_tokens" : 9, "odd":1.0 }\n',
  stream: null,
  content: null,
};

const embeddings: Api = {
  path: '/embeddings',
  passedPath: '/openai/v1/embeddings',
  headers: ['Authorization', 'Bearer sk-own'],
  body: '{ "model":"text-embedding-3-small","input":[ "\\u0041 \u00e4","B" ],"encoding_format":"base64", "odd":1.00000000000000000001 }',
  whole:
    '{ "object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPw\\u003d\\u003d"}],"usage":{"prompt_tokens":9,"total_tokens":9},"odd":1.0 }\n',
  stream: null,
  content: /^$/,
};

const answers: Record<string, (api: Api, call: ScriptedCall) => unknown> = {
  'a whole answer': ({ whole }, call) =>
    call.head(200, { 'Content-Type': 'application/json', 'Request-Id': 'req_1', 'X-Odd': 'Kept As Is' }).end(whole),
  'a stream': async ({ stream }, call) => {
    call.head(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Request-Id': 'req_1' });
    for (const part of stream ?? []) await call.write(part);
    call.end();
  },
  'an error': (_api, call) =>
    call.head(529, { 'Content-Type': 'application/json', 'Retry-After': '3' }).end('{"type":"error", "odd": 1.0}'),
};

describe.each([
  ["Anthropic's messages", messages],
  ["Anthropic's count of tokens", tokenCount],
  ["OpenAI's responses", responses],
  ["OpenAI's embeddings", embeddings],
])('the bytes of %s', (_name, api) => {
  test.each(Object.keys(answers).filter((name) => api.stream !== null || name !== 'a stream'))(
    'are those of a direct call at both ends: %s',
    async (name) => {
      host.provider.answerWith((call) => answers[name]!(api, call));
      const before = host.provider.calls.length;
      const length = ['Content-Length', String(Buffer.byteLength(api.body))];
      const common = ['Content-Type', 'application/json', 'User-Agent', 'program/1.0', ...api.headers, ...length];
      const send = (address: string, own: readonly string[] = []) =>
        rawCall(address, ['Host', new URL(address).host, ...own, ...common], api.body);
      const direct = await send(host.provider.baseAddress + api.path);
      const passed = await send(host.listener.address + api.passedPath, ['X-Touchstone-Key', host.key]);
      const [first, second] = host.provider.calls.slice(before).map(({ method, path, bodyText, rawHeaders }) => {
        return { method, path, bodyText, headers: comparableHeaders(rawHeaders, ofConnection) };
      });
      expect(second).toEqual(first);
      expect(second!.bodyText).toBe(api.body);
      expect(host.provider.calls.at(-1)!.rawHeaders.join('\n').toLowerCase()).not.toContain('touchstone');
      const received = [direct, passed].map((response) => {
        return { ...response, headers: comparableHeaders(response.headers, [...ofConnection, 'date']) };
      });
      expect(received[1]).toEqual(received[0]);
      const index = passed.headers.findIndex((header) => header.toLowerCase() === 'x-touchstone-run-id');
      const run = index === -1 ? null : host.host.storage.runs.read(passed.headers[index + 1]!);
      const good = api.content && ['Completed', expect.stringMatching(api.content)];
      const expected = name === 'an error' ? ['Failed', ''] : good;
      expect(run && [run.status, run.output.content]).toEqual(api.content && expected);
    },
  );
});
