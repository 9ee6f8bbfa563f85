import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answerKey, keysOf } from '../../../electron/passthrough/read-call.ts';
import { type CallApi, readRequest } from '../../../electron/passthrough/read-request.ts';
import { readResponse } from '../../../electron/passthrough/recorded-response.ts';

const image = Buffer.alloc(600, 'image').toString('base64');
const sha256 = createHash('sha256').update(Buffer.from(image, 'base64')).digest('hex');
const dataUrl = `data:image/png;base64,${image}`;
const file = { type: 'file', fileId: sha256, mediaType: 'image/png', bytes: 600 };

const whole = { isStream: false, isJudged: false };
const read = (api: CallApi, body: object) => readResponse(api, JSON.stringify(body), whole);
const stream = (api: CallApi, events: readonly object[]) =>
  readResponse(api, events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { ...whole, isStream: true });

test("blocks of Anthropic's system message are separated by an empty line", () => {
  const system = ['You are a clerk.', '', 'Answer briefly.'].map((text) => ({ type: 'text', text }));
  const systemOf = (value: unknown) =>
    readRequest('anthropic-messages', { system: value, messages: [] }, null).systemMessage;
  expect(systemOf(system)).toBe('You are a clerk.\n\nAnswer briefly.');
  expect(systemOf('You are a clerk.')).toBe('You are a clerk.');
  expect(systemOf([])).toBeNull();
});

describe('files in results of tools', () => {
  test("are kept in a user's message after all results of the turn", () => {
    const called = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
    const picture = { type: 'image_url', image_url: { url: dataUrl } };
    const { messages, files } = readRequest(
      'openai-chat',
      {
        messages: [
          { role: 'user', content: 'Look' },
          { role: 'assistant', tool_calls: [called('a'), called('b')] },
          { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'Seen: ' }, picture] },
          { role: 'tool', tool_call_id: 'b', content: 'Nothing' },
          { role: 'assistant', content: 'I see.' },
        ],
      },
      null,
    );
    expect(messages.slice(2)).toMatchObject([
      {
        role: 'tool',
        content: [
          { type: 'toolResult', toolCallId: 'a', content: 'Seen: [file.png]' },
          { type: 'toolResult', toolCallId: 'b', content: 'Nothing' },
        ],
      },
      { role: 'user', content: [file] },
      { role: 'assistant' },
    ]);
    expect(files).toHaveLength(1);
  });

  test.each([
    [
      'anthropic-messages',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }],
              },
              { type: 'text', text: 'And?' },
            ],
          },
        ],
      },
    ],
    [
      'openai-responses',
      {
        input: [
          { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: dataUrl }] },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'openai-responses',
      {
        input: [
          { type: 'computer_call_output', call_id: 'a', output: { type: 'computer_screenshot', image_url: dataUrl } },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'gemini-content',
      {
        contents: [
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  id: 'a',
                  name: 'look',
                  response: { output: '[file.png]' },
                  parts: [{ inlineData: { mimeType: 'image/png', data: image } }],
                },
              },
              { text: 'And?' },
            ],
          },
        ],
      },
    ],
  ] as const)('come before what the user says, in %s', (api, body) => {
    expect(readRequest(api, body, null)).toMatchObject({
      messages: [
        { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'a', content: '[file.png]' }] },
        { role: 'user', content: [file, { type: 'text', text: 'And?' }] },
      ],
      files: [{ part: file }],
    });
  });

  test('are named by their id if the provider has them', () => {
    const content = [{ type: 'input_image', file_id: 'file-1' }];
    expect(readRequest('openai-responses', { input: [{ role: 'user', content }] }, null).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: '[file-1]' }] },
    ]);
  });
});

const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'Oslo' } };
const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'png', result: image };
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Cold.' }] };
const readable =
  '[web_search_call] {"action":{"type":"search","query":"Oslo"}}\n\n' +
  `[image_generation_call] {"output_format":"png","result":"600 bytes, SHA-256 ${sha256}"}\nCold.`;

const serverTools = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://oslo.no', title: 'Oslo', encrypted_content: 'c2VhbGVk' }],
  },
  { type: 'text', text: 'Cold.' },
];
const readableTools =
  '[web_search] {"query":"Oslo"}\n\n' +
  '[web_search_tool_result] [{"type":"web_search_result","url":"https://oslo.no","title":"Oslo"}]\nCold.';

const parts = [
  { executableCode: { language: 'PYTHON', code: 'print(7)' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '7' } },
  { inlineData: { mimeType: 'image/png', data: image } },
  { text: 'Seven.' },
];
const readableParts = `[executableCode] print(7)\n\n[codeExecutionResult] 7\n\n[image/png] 600 bytes, SHA-256 ${sha256}\nSeven.`;

describe('what a provider runs itself', () => {
  test.each([
    ['openai-responses', { output: [search, made, said] }, readable],
    ['anthropic-messages', { type: 'message', content: serverTools }, readableTools],
    ['gemini-content', { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }, readableParts],
  ] as const)('is readable in an answer of %s', (api, body, content) => {
    expect(read(api, body)).toMatchObject({ content: `\n${content}`, toolCalls: [], finishReason: 'Stop' });
  });

  test('is readable in a streamed answer', () => {
    const done = [search, made, said].map((item) => ({ type: 'response.output_item.done', item }));
    const text = { type: 'response.output_text.delta', delta: 'Cold.' };
    expect(stream('openai-responses', [...done, text]).content.trim()).toBe(readable);
    const [call, result] = serverTools;
    const events = [
      { type: 'content_block_start', index: 0, content_block: { ...call, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query": ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: result },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Cold.' } },
    ];
    expect(stream('anthropic-messages', events).content.trim()).toBe(readableTools);
  });

  test.each([
    ['openai-responses', { input: [search, made, said] }, { output: [search, made, said] }],
    [
      'anthropic-messages',
      { messages: [{ role: 'assistant', content: serverTools }] },
      { type: 'message', content: serverTools },
    ],
    [
      'gemini-content',
      { contents: [{ role: 'model', parts }] },
      { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] },
    ],
  ] as const)('has the same text when a program sends it again, in %s', (api, request, response) => {
    const { content: text } = read(api, response);
    const answer = { role: 'assistant' as const, content: [{ type: 'text' as const, text }] };
    const { messages } = readRequest(api, request, null);
    expect(keysOf('scope', messages).key).toBe(answerKey('scope', answer).slice('answer:'.length));
  });

  test('is a call if the program has to answer it', () => {
    const shell = { type: 'local_shell_call', id: 'ls_1', call_id: 'call_1', action: { command: ['ls'] } };
    const called = { id: 'call_1', name: 'local_shell', arguments: '{"command":["ls"]}' };
    expect(read('openai-responses', { output: [shell] }).toolCalls).toEqual([called]);
    const output = { type: 'local_shell_call_output', call_id: 'call_1', output: 'a.txt' };
    expect(readRequest('openai-responses', { input: [shell, output] }, null).messages).toMatchObject([
      { role: 'assistant', content: [called] },
      { role: 'tool', content: [{ toolCallId: 'call_1', content: 'a.txt' }] },
    ]);
  });

  test("is no answer if the program wrote it: Codex's tools are those of the request", () => {
    const own = { type: 'function', name: 'look', parameters: {} };
    const added = { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] };
    const found = { type: 'function', name: 'sleep', parameters: {} };
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [added] },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Wait' }] },
      { type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: { query: 'wait' } },
      { type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: [found] },
      { type: 'notice', role: 'developer', text: 'Hurry' },
      { type: 'compaction_trigger' },
    ];
    const { systemMessage, messages, configuration } = readRequest('openai-responses', { input, tools: [own] }, null);
    expect(systemMessage).toBe('Be brief');
    expect(configuration).toEqual({ tools: [own, added] });
    expect(messages).toMatchObject([
      { role: 'user', content: [{ text: 'Wait' }] },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'call_1', name: 'tool_search' }] },
      { role: 'tool', content: [{ toolCallId: 'call_1', content: JSON.stringify([found]) }] },
      { role: 'system', content: [{ text: '\n[notice] {"role":"developer","text":"Hurry"}\n' }] },
      { role: 'system', content: [{ text: '\n[compaction_trigger]\n' }] },
    ]);
  });

  test('is a call in the first form of calls, too', () => {
    const call = { name: 'look', arguments: '{"at":"sky"}' };
    const expected = [{ id: 'look', name: 'look', arguments: '{"at":"sky"}' }];
    const choice = {
      message: { role: 'assistant', content: null, function_call: call },
      finish_reason: 'function_call',
    };
    expect(read('openai-chat', { choices: [choice] })).toMatchObject({
      toolCalls: expected,
      finishReason: 'ToolCalls',
    });
    const deltas = [{ name: 'look', arguments: '' }, { arguments: '{"at":' }, { arguments: '"sky"}' }];
    const events = deltas.map((delta) => ({ choices: [{ index: 0, delta: { function_call: delta } }] }));
    expect(stream('openai-chat', events).toolCalls).toEqual(expected);
    const messages = [
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name: 'look', content: 'Blue' },
    ];
    expect(readRequest('openai-chat', { messages }, null).messages).toMatchObject([
      { role: 'assistant', content: expected },
      { role: 'tool', content: [{ toolCallId: 'look', content: 'Blue' }] },
    ]);
  });

  test('never fails, whatever a provider sends', () => {
    for (const item of [
      null,
      1,
      'text',
      [],
      {},
      { type: 1 },
      { type: 'x', call_id: 1 },
      { type: 'x_call', result: {} },
    ])
      for (const api of ['openai-responses', 'anthropic-messages', 'gemini-content', 'openai-chat'] as const)
        expect(() => {
          read(api, { type: 'message', output: [item], content: [item], candidates: [{ content: { parts: [item] } }] });
          read(api, { choices: [{ message: { function_call: item, audio: item, images: [item] } }] });
          readRequest(api, { input: [item], messages: [item], contents: [{ role: 'model', parts: [item] }] }, null);
        }).not.toThrow();
  });
});

test('what the model declined to say is the text of its message', () => {
  const messages = [{ role: 'assistant', content: null, refusal: 'I can’t help with that.' }];
  expect(readRequest('openai-chat', { messages }, null).messages).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: 'I can’t help with that.' }] },
  ]);
});
