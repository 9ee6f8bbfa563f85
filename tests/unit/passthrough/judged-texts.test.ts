import { describe, expect, test } from 'vitest';
import { readPassedResponse, type ResponseInput } from '../../../electron/passthrough/recorded-response.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';

function read(api: CallApi, body: string | object | readonly object[], more: Partial<ResponseInput> = {}) {
  const isStream = Array.isArray(body);
  const events = isStream ? body.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : body;
  const bytes = Buffer.from(typeof events === 'string' ? events : JSON.stringify(events));
  const input = { api, body: bytes, isStream, isCut: false, isJudged: true, encoding: '', rules: [] };
  return readPassedResponse({ ...input, arrivals: { atMs: [1], ends: [bytes.length] }, ...more });
}

const message = (more: object) => ({
  choices: [{ index: 0, message: { role: 'assistant', ...more }, finish_reason: 'stop' }],
});
const delta = (more: object, index = 0) => ({ id: 'c', choices: [{ index, delta: more, finish_reason: null }] });
const threat = 'The forbidden text.';

describe('of a response, the guard judges', () => {
  test.each<[string, CallApi, object | readonly object[]]>([
    ['reasoning', 'openai-chat', message({ content: 'Hello', reasoning_content: threat })],
    ['an unknown field', 'openai-chat', message({ content: 'Hello', audio: { transcript: threat } })],
    [
      'a second choice',
      'openai-chat',
      {
        choices: [
          { index: 0, message: { content: 'Hello' } },
          { index: 1, message: { content: threat } },
        ],
      },
    ],
    [
      'reasoning in pieces',
      'openai-chat',
      [delta({ content: '', reasoning: 'The forbidden ' }), delta({ reasoning: 'text.' })],
    ],
    [
      'a second choice in pieces',
      'openai-chat',
      [
        delta({ content: 'Hello' }),
        delta({ content: 'The forbidden ' }, 1),
        delta({ content: ' all.' }),
        delta({ content: 'text.' }, 1),
      ],
    ],
    [
      'arguments in pieces',
      'openai-chat',
      [0, 4, 13].map((start, piece) =>
        delta({ tool_calls: [{ index: 0, function: { arguments: threat.slice(start, [4, 13, 19][piece]) } }] }),
      ),
    ],
    [
      'reasoning of responses',
      'openai-responses',
      { output: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: threat }] }] },
    ],
    ['code that the provider runs', 'openai-responses', { output: [{ type: 'code_interpreter_call', code: threat }] }],
    [
      'an unknown event in pieces',
      'openai-responses',
      [
        { type: 'response.memo.delta', output_index: 0, delta: 'The forbidden ' },
        { type: 'response.memo.delta', output_index: 0, delta: 'text.' },
      ],
    ],
    ['thinking', 'anthropic-messages', { type: 'message', content: [{ type: 'thinking', thinking: threat }] }],
    [
      'the input of a tool that the provider runs',
      'anthropic-messages',
      [
        { type: 'content_block_start', index: 1, content_block: { type: 'server_tool_use', name: 'f', input: {} } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: 'The forbidden ' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: 'text.' } },
      ],
    ],
    [
      'executed code',
      'gemini-content',
      { candidates: [{ content: { parts: [{ executableCode: { code: threat } }] } }] },
    ],
    ['a second candidate', 'gemini-content', { candidates: [{}, { content: { parts: [{ text: threat }] } }] }],
  ])('%s', (_what, api, body) => {
    expect(read(api, body).judged).toContain(threat);
    expect(read(api, body).isPartial).toBe(false);
  });

  test('each text once, without what repeats the request', () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hello you.' }] }];
    const { judged } = read('openai-responses', [
      { type: 'response.created', response: { id: 'resp_1', instructions: threat, output: [] } },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello ' },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'you.' },
      { type: 'response.output_text.done', item_id: 'msg_1', output_index: 0, content_index: 0, text: 'Hello you.' },
      {
        type: 'response.completed',
        response: { id: 'resp_1', instructions: threat, tools: [{ description: threat }], output },
      },
    ]);
    expect(judged).toBe('Hello you.');
  });

  test('what the program gets, although the record is redacted', () => {
    const rules = [{ kind: 'pattern', name: 'word', pattern: 'forbidden' } as const];
    const { judged, withheld, content } = read('openai-chat', message({ content: threat }), { rules });
    expect([judged, withheld, content]).toEqual([threat, 'The [word] text.', 'The [word] text.']);
  });
});

test.each([
  ['with a field twice', '{"choices":[{"message":{"content":"a","content":"b"}}]}', false],
  ['with an event that has a field twice', 'data: {"choices":[],"choices":[]}\n\n', true],
  ['with data that is no JSON', 'data: text\n\n', true],
  ['that is no stream', '{"choices":[]}\n', true],
])('a response %s cannot be judged', (_what, body, isStream) => {
  expect(read('openai-chat', body, { isStream }).isPartial).toBe(true);
});

test('lines of a stream that end with a carriage return are judged like others', () => {
  const body = `event: a\rdata: ${JSON.stringify(delta({ content: threat }))}\r\r`;
  expect(read('openai-chat', body, { isStream: true })).toMatchObject({ judged: threat, isPartial: false });
});

test('all choices are recorded, each under its number', () => {
  const streamed = read('openai-chat', [
    ...Array.from({ length: 4 }, (_, piece) => [
      delta({ content: `a${piece}` }, 0),
      delta({ content: `b${piece}` }, 1),
    ]).flat(),
    delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }, 1),
    { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);
  expect(streamed).toMatchObject({
    content: 'a0a1a2a3\n\n[choice 2]\nb0b1b2b3\nf {}',
    toolCalls: [],
    finishReason: 'Stop',
    judged: 'a0a1a2a3\nb0b1b2b3\nf\n{}',
  });
  const candidates = [
    { content: { parts: [{ text: 'one' }] }, finishReason: 'STOP' },
    { content: { parts: [{ text: 'two' }] } },
  ];
  expect(read('gemini-content', { candidates }).content).toBe('one\n\n[choice 2]\ntwo');
});
