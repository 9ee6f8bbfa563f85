import { describe, expect, test } from 'vitest';
import { configuration } from '../../../shared/contract/completions.ts';
import { convertTools } from '../../../shared/tool-forms.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = { name: 'weather', description: 'Now', parameters };

describe('a tool is converted', () => {
  test.each<[string, string, unknown]>([
    ['OpenAI', 'nested', { type: 'function', function: tool }],
    ['OpenAI', 'nested without its type', { function: tool }],
    ['OpenAI', 'flat', { type: 'function', ...tool }],
    ['OpenAI', 'of an earlier API', tool],
    ['OpenAI', 'in a request', { model: 'gpt', messages: [], tools: [{ type: 'function', function: tool }] }],
    ['Anthropic', 'alone', { name: 'weather', description: 'Now', input_schema: parameters }],
    ['Anthropic', 'with its type', { type: 'custom', name: 'weather', description: 'Now', input_schema: parameters }],
    ['MCP', 'alone', { name: 'weather', description: 'Now', inputSchema: parameters, annotations: { x: 1 } }],
    ['MCP', 'in a result', { tools: [{ name: 'weather', description: 'Now', inputSchema: parameters }] }],
    [
      'MCP',
      'in a response',
      { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'weather', title: 'Now', inputSchema: parameters }] } },
    ],
    [
      'Gemini',
      'with a JSON schema',
      { functionDeclarations: [{ ...tool, parameters: undefined, parametersJsonSchema: parameters }] },
    ],
    [
      'Gemini',
      'in a request in Python',
      {
        contents: [],
        tools: [
          {
            function_declarations: [
              { ...tool, parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] } },
            ],
          },
        ],
      },
    ],
  ])('from %s, %s', (form, _what, value) => {
    expect(convertTools(value)).toEqual({
      tools: [{ form, tool: expect.objectContaining(tool) as unknown, earlierName: null }],
      providerTools: [],
      skipped: [],
    });
  });

  test('with what Gemini writes in its own way', () => {
    const schema = {
      type: 'OBJECT',
      propertyOrdering: ['type', 'tags'],
      properties: {
        type: { type: 'STRING', nullable: true, enum: ['STRING', 'b'] },
        tags: { type: 'ARRAY', minItems: '1', items: { type: 'INTEGER', nullable: false } },
        nullable: { type: 'BOOLEAN' },
      },
    };
    expect(
      convertTools({ functionDeclarations: [{ name: 'a', parameters: schema }] }).tools[0]?.tool.parameters,
    ).toEqual({
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['STRING', 'b', null] },
        tags: { type: 'array', minItems: 1, items: { type: 'integer' } },
        nullable: { type: 'boolean' },
      },
    });
    expect(schema.type).toBe('OBJECT');
  });
});

test('several tools of several forms come from one list', () => {
  const { tools, providerTools, skipped } = convertTools([
    { type: 'function', function: { ...tool, strict: true } },
    { name: 'b', input_schema: {} },
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'function', function: { parameters } },
    { name: 'c', inputSchema: [] },
    'text',
    { city: 'Kiel' },
  ]);
  expect(tools.map(({ form, tool: { name, strict } }) => [form, name, strict])).toEqual([
    ['OpenAI', 'weather', true],
    ['Anthropic', 'b', undefined],
  ]);
  expect(providerTools).toEqual([{ type: 'web_search_20250305', name: 'web_search' }]);
  expect(skipped).toEqual([
    { position: '[3]', issue: 'has no name' },
    { position: '[4]', issue: 'has a schema that is not an object' },
    { position: '[5]', issue: 'is not a tool' },
    { position: '[6]', issue: 'is not a tool' },
  ]);
});

test('a name that OpenAI rejects is changed, and a tool without parameters gets an empty schema', () => {
  const [converted] = convertTools({ tools: [{ name: 'files/read.text', inputSchema: null }] }).tools;
  expect(converted).toEqual({
    form: 'MCP',
    tool: { name: 'files_read_text', parameters: { type: 'object', properties: {} } },
    earlierName: 'files/read.text',
  });
  expect(configuration.safeParse({ tools: [{ type: 'function', function: converted?.tool }] }).success).toBe(true);
});

test.each([[null], [5], [[]], [{}], [{ tools: [] }]])('%j has no tools', (value) => {
  expect(convertTools(value).tools).toEqual([]);
});

test('a text of 4 MB that is nested a million times, or has a million items, has no tools or the first ones', () => {
  const nested = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000)) as unknown;
  const deep = JSON.parse(
    `{"functionDeclarations":[{"name":"a","parameters":${'{"not":'.repeat(100_000)}{}${'}'.repeat(100_000)}}]}`,
  ) as unknown;
  const long = Array.from({ length: 1_000_000 }, () => 1);
  expect(convertTools(nested).skipped).toHaveLength(1);
  expect(convertTools(deep).tools).toHaveLength(1);
  expect(convertTools(long).tools).toEqual([]);
});
