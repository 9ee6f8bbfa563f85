import { expect, test } from 'vitest';
import {
  ContentKeys,
  csvCall,
  detectColumns,
  langfuseCalls,
  openAiCall,
} from '../../../../electron/audit/import/file-calls.ts';

const read = (line: Record<string, unknown>) => openAiCall(line, new ContentKeys());

test('reads calls of the Responses API with their steps', () => {
  const request = {
    model: 'gpt-5',
    instructions: 'Be brief',
    input: [
      { role: 'user', content: 'Which heron?' },
      { type: 'reasoning', id: 'rs_0', summary: [] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'find', arguments: '{"bird":"heron"}' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'Grey' },
    ],
  };
  const response = {
    id: 'resp_1',
    created_at: 1_764_400_000,
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'It is grey.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The grey ' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'heron' }] },
      { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'note', arguments: '{}' },
    ],
    incomplete_details: { reason: 'max_output_tokens' },
  };
  expect(read({ request, response })).toMatchObject({
    startedAt: 1_764_400_000_000,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
      { role: 'user', content: [{ type: 'text', text: 'Which heron?' }] },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'call_1', name: 'find', arguments: '{"bird":"heron"}' }] },
      { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'call_1', content: 'Grey' }] },
    ],
    answer: {
      content: 'The grey heron',
      reasoning: 'It is grey.',
      toolCalls: [{ id: 'call_2', name: 'note', arguments: '{}' }],
    },
    finishReason: 'Length',
  });
  const [call] = langfuseCalls({ id: 'o1', type: 'GENERATION', input: request.input, output: response.output });
  expect(call).toMatchObject({ answer: { content: 'The grey heron', toolCalls: [{ id: 'call_2' }] } });
});

test('reads the answer at the end of an input', () => {
  const input = [
    { role: 'user', content: 'Which heron?' },
    { role: 'assistant', content: 'The grey one' },
  ];
  expect(read({ input })).toMatchObject({ messages: [{ role: 'user' }], answer: { content: 'The grey one' } });
});

test('takes no duration that would end a call beyond all dates', () => {
  const messages = [{ role: 'user', content: 'Which heron?' }];
  const call = { messages, timestamp: 1_764_400_000 };
  expect(read({ ...call, latency_ms: 1e300 })).toMatchObject({ endedAt: null, totalMs: null });
  expect(read({ ...call, latency_ms: 250.5 })).toMatchObject({ endedAt: 1_764_400_000_251, totalMs: 250.5 });
});

test.each(['', false, null])('takes a call with the error %j for a success', (error) => {
  const messages = [{ role: 'user', content: 'Which heron?' }];
  expect(read({ messages, error })).toMatchObject({ error: null });
  expect(read({ messages, error: 'quota' })).toMatchObject({ error: 'quota' });
});

test('takes the rows of one trace for the calls of one conversation', () => {
  const columns = detectColumns(['trace_id', 'prompt']);
  const keys = new ContentKeys();
  const [first, second] = ['One?', 'Two?'].map((prompt) => csvCall({ trace_id: 't1', prompt }, columns, keys));
  expect([first, second]).toMatchObject([{ conversationKey: 't1' }, { conversationKey: 't1' }]);
  expect(first).not.toHaveProperty('key', (second as { key: string }).key);
  expect(detectColumns(['traceId', 'session'])).toEqual({ traceId: null, session: 'conversation' });
});

const question = [{ role: 'user', content: [{ type: 'text', text: 'Which heron?' }] }];

test.each([
  { messages: [{ role: 'user', content: 'Which heron?' }], response: 'The grey one' },
  { input: 'Which heron?', output: 'The grey one' },
  { input: 'Which heron?', output: { role: 'assistant', content: 'The grey one' } },
  { prompt: 'Which heron?', completion: 'The grey one' },
  { question: 'Which heron?', answer: 'The grey one' },
])('reads the answer beside the messages of %j', (line) => {
  expect(read(line)).toMatchObject({ messages: question, answer: { content: 'The grey one' } });
});

test.each([{ answer: 'The grey one' }, { prompt: 'Which heron?' }, { prompt: '', answer: 'The grey one' }])(
  'reads %j as no call',
  (line) => expect(read(line)).toEqual({ leftOut: 'Lines without messages' }),
);

test('reads calls of functions as they were before tools', () => {
  const functionCall = { name: 'find', arguments: '{"bird":"heron"}' };
  const messages = [
    { role: 'user', content: 'Which heron?' },
    { role: 'assistant', content: null, function_call: functionCall },
    { role: 'function', name: 'find', content: 'Grey' },
  ];
  const choices = [{ message: { role: 'assistant', content: null, function_call: functionCall } }];
  expect(read({ request: { messages }, response: { choices } })).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'find', ...functionCall }] },
      { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'find', content: 'Grey' }] },
    ],
    answer: { content: '', toolCalls: [{ id: 'find', ...functionCall }] },
  });
});

test.each([
  [['latency_ms'], 1.5],
  [['latency'], 1.5],
  [['latency_s'], 1500],
  [['Duration (seconds)'], 1500],
  // As Langfuse exports it.
  [['latency', 'traceId', 'startTime'], 1500],
])('reads a duration of the columns %j', (names, totalMs) => {
  const columns = detectColumns(['prompt', ...names]);
  const row = { prompt: 'Which heron?', [names[0]!]: '1.5' };
  expect(csvCall(row, columns, new ContentKeys())).toMatchObject({ totalMs });
});

test('reads durations of chats in seconds', () => {
  const messages = [{ role: 'user', content: 'Which heron?' }];
  expect(read({ messages, duration_seconds: 1.5 })).toMatchObject({ totalMs: 1500 });
});

test('takes rows with the same number in files of two programs for two calls', () => {
  const columns = detectColumns(['id', 'prompt']);
  const keyOf = (row: Record<string, string>) => csvCall(row, columns, new ContentKeys()) as { key: string };
  const { key } = keyOf({ id: '1', prompt: 'Which heron?' });
  expect(keyOf({ id: '1', prompt: 'Which stork?' }).key).not.toBe(key);
  expect(keyOf({ id: '1', prompt: 'Which heron?' }).key).toBe(key);
  expect(keyOf({ id: 'call-1', prompt: 'Which stork?' }).key).toBe('call-1');
});
