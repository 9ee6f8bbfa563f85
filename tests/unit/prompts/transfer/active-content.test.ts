import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeFiles } from '../../../../electron/prompts/transfer/export-prompts.ts';
import { editPromptFile } from '../../../../electron/prompts/folder/edit-prompt-file.ts';
import { exportFormats } from '../../../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../../../shared/contract/prompts.ts';
import { promptContent } from '../../../../shared/prompt-content.ts';
import { preview, reported, storedPrompt } from '../../../support/prompt-transfer.ts';

const active = {
  temperature: 0.5,
  tools: [{ type: 'mcp', server_url: 'https://foreign.example' }],
  instructions: 'Obey the file.',
  headers: { authorization: 'Bearer abc' },
  extra_headers: { 'x-key': 'abc' },
  apiKey: 'sk-foreign',
  apiBaseUrl: 'https://foreign.example',
  functionToolCallbacks: { run: 'file://run.js' },
  extra_body: { nested: [{ api_key: 'sk-foreign' }] },
  grammar: 'file:///etc/passwd',
};
const rejections = {
  tools: "Only functions are stored, not a provider's own tools",
  instructions: 'Set by Touchstone',
  headers: 'May contain a secret; prompts never store secrets',
  extra_headers: 'May contain a secret; prompts never store secrets',
  apiKey: 'May contain a secret; prompts never store secrets',
  apiBaseUrl: "Prompts can't contain server addresses",
  functionToolCallbacks: "Prompts can't contain tools",
  extra_body: 'Contains "api_key", which may hold a secret; prompts never store secrets',
  grammar: 'Refers to a file or a program',
};

const input = (fields: Partial<PromptInput>): PromptInput => ({ name: 'P', promptText: 'Hi', ...fields });

describe('import', () => {
  test('the settings of our own JSONL lines pass the same filter as those of others, and the report says so', () => {
    const line = { messages: [{ role: 'user', content: 'Hi' }], touchstone: { configuration: active } };
    const source = preview('prompts.jsonl', JSON.stringify(line));
    const [found] = source.prompts;
    expect(found!.prompt.configuration).toEqual({ temperature: 0.5 });
    expect(reported(found!)).toEqual([
      'taken touchstone.configuration.temperature@1: Parameter temperature',
      ...Object.entries(rejections).map(([key, message]) => `refused touchstone.configuration.${key}@1: ${message}`),
    ]);
  });

  test('fields beside the extension that it does not repeat are reported', () => {
    const configuration = { temperature: 0.5 };
    const line = {
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{}],
      temperature: 1,
      touchstone: { configuration },
    };
    const [found] = preview('prompts.jsonl', JSON.stringify(line)).prompts;
    expect(found!.prompt.configuration).toEqual(configuration);
    expect(reported(found!)).toEqual([
      "refused tools@1: Only functions are stored, not a provider's own tools",
      'taken touchstone.configuration.temperature@1: Parameter temperature',
    ]);
  });

  test.each([
    ['langfuse', 'p.json', JSON.stringify({ name: 'P', prompt: 'Hi', config: active }), 'config'],
    [
      'promptfoo',
      'p.yaml',
      JSON.stringify({ prompts: ['Hi'], providers: [{ id: 'openai:gpt-4.1', config: active }] }),
      'providers[0].config',
    ],
  ])('%s keeps nothing active', (_, name, content, field) => {
    const [found] = preview(name, content).prompts;
    expect(found!.prompt.configuration).toEqual({ temperature: 0.5 });
    const rejected = reported(found!).filter((entry) => entry.startsWith(`refused ${field}.`));
    expect(rejected.map((entry) => entry.split(': ').slice(1).join(': '))).toEqual(Object.values(rejections));
  });

  test('a JSON schema may have fields that sound like secrets, but no files', () => {
    const schema = { type: 'object', properties: { password: { type: 'string' }, tools: { type: 'array' } } };
    const format = (of: object) => ({ type: 'json_schema', json_schema: { name: 'a', schema: of } });
    const read = (response_format: object) =>
      preview(
        'p.jsonl',
        JSON.stringify({
          messages: [{ role: 'user', content: 'Hi' }],
          touchstone: { configuration: { response_format } },
        }),
      ).prompts[0]!.prompt.configuration;
    expect(read(format(schema))).toEqual({ response_format: format(schema) });
    for (const $ref of ['file://secret.json', '../secret.json', 'https://foreign.example/schema.json'])
      expect([$ref, read(format({ $ref }))]).toEqual([$ref, undefined]);
    expect(read(format({ $ref: '#/$defs/a' }))).toEqual({ response_format: format({ $ref: '#/$defs/a' }) });
  });
});

describe('functions', () => {
  const parameters = { type: 'object', properties: { api_key: { type: 'string' }, url: { type: 'string' } } };
  const weather = { type: 'function', function: { name: 'weather', description: 'Now', parameters, strict: true } };
  const configuration = {
    tools: [weather],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    parallel_tool_calls: false,
  };
  const stored = input({ aiSystem: 'OpenAi', model: 'gpt-4.1', configuration });
  const exported = (format: (typeof exportFormats)[number], fields: Partial<PromptInput> = {}) =>
    writeFiles({ exported: [storedPrompt({ ...stored, ...fields })], format });

  test.each(exportFormats.filter((format) => format !== 'markdown'))(
    '%s writes them, and reads them again',
    (format) => {
      const { files, entries } = exported(format);
      expect(entries).toEqual([]);
      const [file] = files;
      expect(preview(file!.name, file!.content).prompts[0]?.prompt.configuration).toEqual(configuration);
    },
  );

  test('promptfoo leaves them out for a provider to which it sends its own form', () => {
    const { files, entries } = exported('promptfoo', { aiSystem: 'Anthropic', model: 'claude-sonnet-4-5' });
    expect(files[0]!.content).not.toContain('weather');
    expect(entries).toMatchObject([{ field: 'configuration.tools' }]);
  });

  test.each<[string, unknown, string]>([
    ['a text', 'file://tools.json', "Only functions are stored, not a provider's own tools"],
    ['a function beside a server', [weather, { type: 'mcp' }], "Only functions are stored, not a provider's own tools"],
    [
      'a file',
      [{ ...weather, function: { name: 'a', parameters: { $ref: 'file://a.json' } } }],
      'Refers to a file or a program',
    ],
    [
      'a secret',
      [{ ...weather, headers: { a: 'b' } }],
      'Contains "headers", which may hold a secret; prompts never store secrets',
    ],
    [
      'a callback',
      [{ type: 'function', name: 'a', parameters: {}, callbacks: [] }],
      'Contains "callbacks", which may be a tool',
    ],
    ['an invalid name', [{ ...weather, function: { name: 'a b', parameters: {} } }], 'must be 1 to 64 letters'],
  ])('tools with %s are refused', (_what, tools, message) => {
    const line = { messages: [{ role: 'user', content: 'Hi' }], touchstone: { configuration: { tools } } };
    const [found] = preview('prompts.jsonl', JSON.stringify(line)).prompts;
    expect(found!.prompt.configuration ?? {}).toEqual({});
    expect(reported(found!).join()).toContain(message);
  });
});

describe('export', () => {
  const stored = input({ aiSystem: 'OpenAi', model: 'gpt-4.1', configuration: active });

  test.each(exportFormats)('%s contains nothing active, and the report lists the omitted parts', (format) => {
    const { files, entries } = writeFiles({ exported: [storedPrompt(stored)], format });
    expect(files[0]!.content).toContain('0.5');
    for (const text of ['foreign', 'Bearer', 'Obey', 'file://', 'abc']) expect(files[0]!.content).not.toContain(text);
    expect(entries.map(({ field, message }) => [field, message])).toEqual(
      Object.entries(rejections).map(([key, message]) => [`configuration.${key}`, message]),
    );
  });

  test.each([
    'exec:./steal.sh',
    'exec:./steal.sh\nsecond line',
    'file:///etc/passwd',
    'file://./steal.js',
    'package:evil:steal',
    'steal.py',
    'my notes/steal.js:run',
    'notes/*',
    '/home/ada/private.txt',
    'langfuse://other',
  ])('promptfoo reads %j as text', (promptText) => {
    const { files, entries } = writeFiles({ exported: [storedPrompt(input({ promptText }))], format: 'promptfoo' });
    const [{ raw }] = (parse(files[0]!.content) as { prompts: [{ raw: string }] }).prompts;
    // A chat in JSON of several lines is never taken for a path or a command.
    expect(JSON.parse(raw)).toEqual([{ role: 'user', content: promptText }]);
    expect(raw).toMatch(/^\[\n/);
    expect(entries).toEqual([]);
    expect(preview('p.promptfoo.yaml', files[0]!.content).prompts[0]?.prompt.promptText).toBe(promptText);
  });

  test('values that promptfoo would load or fill from the environment are left out of its file and reported', () => {
    const variables = [
      { name: 'a', defaultValue: 'file:///etc/passwd', sampleValue: 'plain' },
      { name: 'b', defaultValue: 'plain', sampleValue: '{{ env.OPENAI_API_KEY }}' },
    ];
    const { files, entries } = writeFiles({
      exported: [storedPrompt(input({ promptText: '{{a}} {{b}}', variables }))],
      format: 'promptfoo',
    });
    expect(files[0]!.content).not.toMatch(/passwd|OPENAI/);
    expect(parse(files[0]!.content) as object).toMatchObject({
      defaultTest: { vars: { b: 'plain' } },
      tests: [{ vars: { a: 'plain' } }],
    });
    expect(entries.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'variables.a: The default is skipped because promptfoo would load a file or an environment variable',
      'variables.b: The sample is skipped because promptfoo would load a file or an environment variable',
    ]);
  });

  test('a variable that promptfoo fills from the environment is rejected', () => {
    const { files, entries } = writeFiles({
      exported: [storedPrompt(input({ promptText: 'Key {{env.OPENAI_API_KEY}}' }))],
      format: 'promptfoo',
    });
    expect(files).toEqual([]);
    expect(entries.map(({ message }) => message)).toEqual([
      '{{env}} reads environment variables in promptfoo; rename the variable',
    ]);
  });

  test('a linked folder gets no file with active content', () => {
    const expected = promptContent(stored);
    const edited = editPromptFile({ name: 'p.prompt', text: null, current: null, target: expected });
    expect(edited).toEqual({ text: null, problem: "A file of this format can't contain this version" });
  });
});
