import { describe, expect, test } from 'vitest';
import { checkPrompt, readCheckedRequest } from '../../../electron/passthrough/check-prompt.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';
import { createGuard } from '../../../electron/completions/guard.ts';

const threat = 'The forbidden text.';
const long = `${'a '.repeat(2000)}${threat}`;
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');

const read = (api: CallApi, body: unknown) =>
  readCheckedRequest({
    api,
    body: Buffer.from(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)),
  });
const textOf = (api: CallApi, body: unknown) => {
  const { history, added, systemMessage, configuration, fileTexts } = read(api, body);
  return [...history, added, systemMessage, ...Object.values(configuration), ...fileTexts].join('\n');
};

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const answered = (content: unknown) => ({
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content },
    { role: 'user', content: 'Why?' },
  ],
});
const input = (...items: unknown[]) => ({ input: items });
const contents = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] });

describe('the guard checks, whole,', () => {
  test.each<[string, CallApi, unknown]>([
    ['a part of an unknown type', 'openai-chat', user([{ type: 'memo', memo: { body: long } }])],
    ['an unknown field of a message', 'openai-chat', user([{ type: 'text', text: 'Hello', hint: long }])],
    ['the name of a sender', 'openai-chat', { messages: [{ role: 'user', name: threat, content: 'Hello' }] }],
    ['an unknown role', 'openai-chat', { messages: [{ role: `user ${threat}`, content: 'Hello' }] }],
    ['messages that are no list', 'openai-chat', { messages: { role: 'user', content: threat } }],
    ['an answer that the program may have written', 'openai-chat', answered(threat)],
    ['the reasoning of an answer', 'openai-chat', { messages: [{ role: 'assistant', reasoning_content: threat }] }],
    ['a refusal', 'openai-chat', answered([{ type: 'refusal', refusal: threat }])],
    [
      'the arguments of a call',
      'openai-chat',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: threat } }] }] },
    ],
    ['an id that is a text', 'openai-chat', { messages: [{ role: 'tool', tool_call_id: threat, content: '' }] }],
    ['the name of a file', 'openai-chat', user([{ type: 'file', file: { filename: threat, file_data: '' } }])],
    [
      'text over two parts',
      'openai-chat',
      user([threat.slice(0, 9), threat.slice(9)].map((text) => ({ type: 'text', text }))),
    ],
    [
      'a text file',
      'openai-chat',
      user([{ type: 'file', file: { file_data: `data:text/plain;base64,${base64(long)}` } }]),
    ],
    [
      'a data URL that is not base64',
      'openai-chat',
      user([{ type: 'image_url', image_url: { url: `data:text/plain,${encodeURIComponent(long)}` } }]),
    ],
    ['a message that begins like an address', 'openai-chat', user(`data:text/plain;base64, ${threat}`)],
    ['escaped characters', 'openai-chat', String.raw`{"messages":[{"content":"The forbidden te\u0078t."}]}`],
    ['instructions', 'openai-responses', { instructions: threat, input: 'Hello' }],
    ['instructions as items', 'openai-responses', { instructions: [{ role: 'system', content: threat }] }],
    ['input as text', 'openai-responses', { input: threat }],
    ['an unknown item', 'openai-responses', input({ type: 'memo', body: long })],
    [
      'a summary of reasoning',
      'openai-responses',
      input({ type: 'reasoning', summary: [{ type: 'summary_text', text: threat }] }),
    ],
    ['what should be encrypted', 'openai-responses', input({ type: 'reasoning', encrypted_content: threat })],
    ['the output of a call', 'openai-responses', input({ type: 'function_call_output', call_id: 'c', output: threat })],
    [
      'the output of a call in parts',
      'openai-responses',
      input({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: threat }] }),
    ],
    ['texts to embed', 'openai-embeddings', { input: ['Hello', threat] }],
    ['a system message in parts', 'anthropic-messages', { system: [{ type: 'text', text: threat }] }],
    [
      'a document of nested texts',
      'anthropic-messages',
      user([{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: threat }] } }]),
    ],
    [
      'a document of text',
      'anthropic-messages',
      user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: long } }]),
    ],
    ['the context of a document', 'anthropic-messages', user([{ type: 'document', context: threat, source: {} }])],
    ['a search result', 'anthropic-messages', user([{ type: 'search_result', source: threat, content: [] }])],
    ['thinking', 'anthropic-messages', answered([{ type: 'thinking', thinking: threat, signature: 'c2ln' }])],
    [
      'a signature that is none',
      'anthropic-messages',
      answered([{ type: 'thinking', thinking: '', signature: threat }]),
    ],
    ['the input of a tool', 'anthropic-messages', answered([{ type: 'tool_use', name: 'f', input: { [threat]: 1 } }])],
    [
      'the result of a tool',
      'anthropic-messages',
      user([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: threat }] }]),
    ],
    ['tools', 'anthropic-messages', { tools: [{ name: 'f', description: threat, input_schema: {} }] }],
    ['a system instruction', 'gemini-content', { systemInstruction: { parts: [{ text: threat }] } }],
    [
      'a system instruction under its other name',
      'gemini-content',
      { system_instruction: { parts: [{ text: threat }] } },
    ],
    [
      'the result of a function',
      'gemini-content',
      contents({ functionResponse: { name: 'f', response: { output: threat } } }),
    ],
    [
      'a text file in base64',
      'gemini-content',
      contents({ inlineData: { mimeType: 'text/plain', data: base64(threat) } }),
    ],
    ['thoughts', 'gemini-content', contents({ thought: true, text: threat })],
    ['executed code', 'gemini-content', contents({ executableCode: { language: 'PYTHON', code: long } })],
  ])('%s', (_what, api, body) => {
    expect(textOf(api, body).replaceAll('%20', ' ')).toContain(threat);
  });
});

describe('the guard says that it cannot check', () => {
  const image = base64(new Uint8Array([0x89, 0x50, 0x4e, 0x47]));
  test.each<[string, CallApi, unknown, string, string]>([
    [
      'an image',
      'openai-chat',
      user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }]),
      'file',
      'image/png',
    ],
    [
      'an image by its address',
      'openai-chat',
      user([{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }]),
      'https://a.test/b.png',
      'by its address',
    ],
    [
      'an image of responses',
      'openai-responses',
      input({ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.test/b' }] }),
      'https://a.test/b',
      'by its address',
    ],
    [
      'a stored file',
      'openai-chat',
      user([{ type: 'file', file: { file_id: 'file-1' } }]),
      'file-1',
      'stored at the provider',
    ],
    [
      'a screenshot',
      'openai-responses',
      input({ type: 'computer_call_output', output: { image_url: 'https://a.test/b' } }),
      'https://a.test/b',
      'by its address',
    ],
    [
      'an image of Anthropic',
      'anthropic-messages',
      user([{ type: 'image', source: { type: 'url', url: 'https://a.test/b' } }]),
      'https://a.test/b',
      'by its address',
    ],
    [
      'a document',
      'anthropic-messages',
      user([
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: base64('%PDF') },
        },
      ]),
      'a.pdf',
      'application/pdf',
    ],
    [
      'a file of Gemini',
      'gemini-content',
      contents({ fileData: { fileUri: 'gs://a/b' } }),
      'gs://a/b',
      'by its address',
    ],
    [
      'an image of Gemini',
      'gemini-content',
      contents({ inline_data: { mime_type: 'image/png', data: image } }),
      'file',
      'image/png',
    ],
    [
      'text in UTF-16',
      'gemini-content',
      contents({ inlineData: { mimeType: 'text/plain', data: base64(Buffer.from(threat, 'utf16le')) } }),
      'file',
      'text/plain',
    ],
    [
      'text in another character set',
      'gemini-content',
      contents({ inlineData: { mimeType: 'text/plain; charset=utf-7', data: base64('+AGE-') } }),
      'file',
      'text/plain',
    ],
    [
      'base64 that decoders read differently',
      'gemini-content',
      contents({ inlineData: { mimeType: 'text/plain', data: `${base64('ok')}${base64(threat)}` } }),
      'file',
      'text/plain, not valid base64',
    ],
  ])('%s', (_what, api, body, name, mediaType) => {
    expect(read(api, body).unchecked).toEqual({ name, mediaType });
  });

  test.each<[string, CallApi, unknown, string]>([
    ['tokens', 'openai-embeddings', { input: [[1, 2]] }, 'It has tokens instead of text.'],
    [
      'an item by its id',
      'openai-responses',
      input({ type: 'item_reference', id: 'msg_1' }),
      'It names text that is stored at the provider (item_reference).',
    ],
    [
      'an item by its id alone',
      'openai-responses',
      input({ id: 'msg_1' }),
      'It names text that is stored at the provider (item_reference).',
    ],
    [
      'a field that is there twice',
      'openai-chat',
      `{"messages":[{"content":"${threat}","content":"Hello"}]}`,
      'It has a field twice, of which a provider may read either.',
    ],
    [
      'a field that is there twice, once escaped',
      'openai-chat',
      String.raw`{"messages":[],"a":1,"\u0061":2}`,
      'It has a field twice, of which a provider may read either.',
    ],
    ['other characters', 'openai-chat', Buffer.from('{"messages":[{"content":"é"}]}', 'latin1'), 'It is not in UTF-8.'],
  ])('%s', (_what, api, body, reason) => {
    expect(read(api, body).uncheckable).toBe(reason);
  });

  test.each([
    [['Content-Encoding', 'gzip'], 'Its body is compressed.'],
    [['content-type', 'application/json; charset=UTF-7'], 'Its characters are not in UTF-8.'],
  ])('a request with the header %s', async (headers, reason) => {
    const guard = createGuard({
      settings: () => ({ prompts: 'refuse', answers: 'off' }),
      classifier: { classify: () => Promise.reject(new Error('not asked')), isPaid: () => false },
    });
    const { signal } = new AbortController();
    const checked = checkPrompt(read('openai-chat', '{}'), headers, guard, { signal, isKnown: true });
    await expect(checked).rejects.toThrow(`The guard can't check this request. ${reason}`);
  });
});

describe('of ordinary requests, the guard checks only what people and models wrote:', () => {
  test.each<[string, CallApi, unknown, string[], string]>([
    ['a question', 'openai-chat', user('Hello'), [], 'Hello'],
    [
      'a conversation with tools',
      'openai-chat',
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_aB3', type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_aB3', content: '12 degrees' },
        ],
      },
      ['Weather?', 'weather\n{"city":"Bonn"}'],
      '12 degrees',
    ],
    [
      'a turn of an agent',
      'openai-responses',
      input(
        { role: 'user', content: [{ type: 'input_text', text: 'Read it.' }] },
        { type: 'reasoning', id: 'rs_0aF', summary: [], encrypted_content: 'gAAAAAB_x-y=' },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'fetch',
          arguments: '{"url":"https://a.test","file_id":"1"}',
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'call_1', output: 'Done.' },
      ),
      ['Read it.', 'fetch\n{"url":"https://a.test","file_id":"1"}'],
      'Done.',
    ],
    [
      'a turn with thinking',
      'anthropic-messages',
      {
        messages: [
          { role: 'user', content: 'Read it.' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'I read it.', signature: 'EqQB+/=' },
              { type: 'redacted_thinking', data: 'EmwKAhgB+/=' },
              { type: 'tool_use', id: 'toolu_01A', name: 'fetch', input: { image_url: 'https://a.test' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'toolu_01A', content: 'Done.', cache_control: { type: 'ephemeral' } },
            ],
          },
        ],
      },
      ['Read it.', 'I read it.\nfetch\nhttps://a.test'],
      'Done.',
    ],
    [
      'a turn of Gemini',
      'gemini-content',
      {
        contents: [
          { role: 'user', parts: [{ text: 'Weather?' }] },
          {
            role: 'model',
            parts: [{ functionCall: { name: 'weather', args: { city: 'Bonn' } }, thoughtSignature: 'CiQB+/==' }],
          },
          { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: '12 degrees' } } }] },
        ],
      },
      ['Weather?', 'weather\ncity\nBonn'],
      'weather\n12 degrees',
    ],
    [
      'an answer that the model is to continue',
      'anthropic-messages',
      {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Dear' },
        ],
      },
      [],
      'Hello\n\nDear',
    ],
  ])('%s', (_what, api, body, history, added) => {
    expect(read(api, body)).toMatchObject({ history, added, unchecked: null });
    expect(read(api, body).uncheckable).toBeUndefined();
  });
});
