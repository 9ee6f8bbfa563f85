import { expect, test } from 'vitest';
import {
  callGrammar,
  CallReader,
  toEngineMessages,
  withToolInstructions,
} from '../../../electron/on-device/tool-calls.ts';
import type { ToolCallModelPart } from '../../../electron/providers/provider.ts';
import { textMessage } from '../../../shared/contract/messages.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { name: 'weather', description: 'Looks up the weather', parameters };
const clock = { name: 'clock', parameters: { type: 'object' } };
const tools = [weather, clock].map((tool) => ({ type: 'function' as const, function: tool }));

/** Reads a text in pieces of a length. */
function read(text: string, length: number) {
  const reader = new CallReader([weather, clock]);
  const pieces: { text: string; parts: ToolCallModelPart[] }[] = [];
  for (let start = 0; start < text.length; start += length) pieces.push(reader.take(text.slice(start, start + length)));
  pieces.push(reader.end());
  const parts = pieces.flatMap((piece) => piece.parts);
  return {
    text: pieces.map((piece) => piece.text).join(''),
    name: parts.flatMap((part) => (part.type === 'tool-call-start' ? part.name : [])).join(),
    arguments: parts.map((part) => (part.type === 'tool-call-delta' ? part.text : '')).join(''),
    isCall: reader.isCall,
    ends: parts.filter(({ type }) => type === 'tool-call-end').length,
  };
}

test.each([1, 2, 7, 1000])('reads a call in pieces of %i characters, and leaves out what follows it', (length) => {
  const given = String.raw`{"city": "Par}\"is", "list": [{"a": {}}]}`;
  const call = { text: '', name: 'weather', arguments: given, isCall: true, ends: 1 };
  expect(read(`{"name":"weather","arguments":${given}}`, length)).toEqual(call);
  expect(read(` {\n"name" : "weather", "arguments" : ${given}} Now I wait. {"name": "clock"}`, length)).toEqual(call);
});

test.each([1, 7, 1000])('reads everything else as text, in pieces of %i characters', (length) => {
  const texts = [
    'Hello {"name"',
    '{"name": "other", "arguments": {}}',
    '{"names": []}',
    '  ',
    '',
    `{${' '.repeat(999)}}`,
  ];
  for (const text of texts) {
    expect(read(text, length)).toEqual({ text, name: '', arguments: '', isCall: false, ends: 0 });
  }
  expect(read('{"name":"clock","arguments":{"a": [1', length)).toMatchObject({ arguments: '{"a": [1', isCall: false });
});

test('writes the tools, calls and results into the prompt', () => {
  const text = withToolInstructions('Be kind.', { tools });
  expect(text).toMatch(/^Be kind\.\n\nThese tools exist:\n\{"name":"weather","description":"Looks up/);
  expect(withToolInstructions(null, { tools, tool_choice: 'none' })).toBeNull();
  const chosen = withToolInstructions(null, { tools, tool_choice: { type: 'function', function: { name: 'clock' } } });
  expect(chosen).not.toContain('weather');
  const call = { type: 'toolCall' as const, id: 'c1', name: 'weather', arguments: '{"city": "Paris"}' };
  const result = { type: 'toolResult' as const, toolCallId: 'c1', content: 'rain', isError: false };
  expect(
    toEngineMessages([
      textMessage('user', 'Hi'),
      { role: 'assistant', content: [{ type: 'text', text: 'Wait.' }, call] },
      { role: 'tool', content: [result, { ...result, toolCallId: 'c2', content: 'broken', isError: true }] },
    ]),
  ).toEqual([
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: 'Wait.\n{"name": "weather", "arguments": {"city": "Paris"}}' },
    { role: 'user', text: 'Result of weather: rain\nError of c2: broken' },
  ]);
});

test('has a grammar for a forced call only, and names the schema that none can express', () => {
  expect(callGrammar({ tools })).toBeNull();
  expect(callGrammar({ tools, tool_choice: 'required' })?.text).toContain('weather');
  const list = {
    type: 'object',
    properties: { next: { $ref: '#' }, city: { $ref: '#/$defs/city' } },
    $defs: { city: { type: 'string' } },
  };
  const recursive = { type: 'function' as const, function: { name: 'list', parameters: list } };
  expect(callGrammar({ tools: [...tools, recursive], tool_choice: 'required' })?.text).toContain('list');
  const impossible = { type: 'function' as const, function: { name: 'no', parameters: { not: {} } } };
  expect(() => callGrammar({ tools: [...tools, impossible], tool_choice: 'required' })).toThrow(
    /^configuration\.tools\[2\]\.function\.parameters: .*"not"/,
  );
});

test.each(['city', 'default', 'enum', 'const', 'examples', '$ref'])(
  'the argument "%s" may refer to a definition',
  (name) => {
    const properties = { [name]: { $ref: '#/$defs/level' } };
    const $defs = { level: { $ref: '#/components/schemas/level' } };
    const components = { schemas: { level: { $ref: '#/components/schemas/grade' }, grade: { enum: ['low', 'high'] } } };
    const forced = { name: 'set', parameters: { type: 'object', properties, required: [name], $defs, components } };
    const grammar = callGrammar({ tools: [{ type: 'function', function: forced }], tool_choice: 'required' });
    expect(grammar?.text).toContain('high');
  },
);
