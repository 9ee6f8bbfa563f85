import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from '../../../electron/comparisons/checks/script-runner.ts';
import type { FileOptions } from '../../../electron/comparisons/files/comparison-file.ts';
import { readComparisonFile } from '../../../electron/comparisons/files/read-comparison-file.ts';
import type { Check } from '../../../shared/contract/checks.ts';
import { temporaryDirectory } from '../storage/test-storage.ts';

function read(files: Readonly<Record<string, string>>, options: Partial<FileOptions> = {}) {
  const folder = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return readComparisonFile(join(folder, 'promptfooconfig.yaml'), { model: null, judge: null, ...options });
}

/** Whether the script of a check passes. */
async function passes(check: Check | undefined, answer: string, row: object = {}, toolCalls: object[] = []) {
  if (check?.kind !== 'javascript') throw new Error(`is ${check?.kind}`);
  return (await runScript(check.code, { answer, row, toolCalls, latencyMs: 20, cost: 0.1 })).pass;
}

const head = `prompts: ['About {{topic}}']
providers: [openai:gpt-4.1-mini]
`;

test('a transform changes the answer before the assertions that look at it', async () => {
  const { comparison, unsupported } = await read({
    'promptfooconfig.yaml': `${head}
defaultTest:
  options: { transform: 'JSON.parse(output).text' }
tests:
  - vars: { topic: a }
    assert:
      - { type: equals, value: Yes }
      - { type: icontains-any, value: [no, YES] }
      - { type: equals, value: 3, transform: output.length }
      - { type: javascript, value: "output.items.length === 2 && context.config.max === 2", transform: JSON.parse(output), config: { max: 2 } }
      - { type: latency, threshold: 100 }
      - { type: similar, value: Yes }
      - { type: moderation }
`,
  });
  const [equal, any, length, items, latency, similar] = comparison.checks ?? [];
  expect([await passes(equal, '{"text": "Yes"}'), await passes(equal, '{"text": "No"}')]).toEqual([true, false]);
  expect([await passes(any, '{"text": "yes!"}'), await passes(any, '{"text": "maybe"}')]).toEqual([true, false]);
  expect([await passes(length, 'abc'), await passes(length, 'abcd')]).toEqual([true, false]);
  expect([await passes(items, '{"items": [1, 2]}'), await passes(items, '{"items": []}')]).toEqual([true, false]);
  expect(latency).toMatchObject({ kind: 'latency', maxMs: 100 });
  expect(similar).toMatchObject({
    kind: 'similarity',
    value: 'Yes',
    transform: expect.stringContaining('return answer;'),
  });
  expect(unsupported).toEqual([
    { field: 'tests[0]: moderation', reason: 'has a transform, which only checks of text can have' },
  ]);
});

test('functions of files are called, and code with modules is named', async () => {
  const { comparison, unsupported } = await read({
    'promptfooconfig.yaml': `${head}
tests:
  - vars: { topic: a }
    assert:
      - { type: javascript, value: file://checks/common.js }
      - { type: javascript, value: 'file://checks/module.mjs:isShort' }
      - { type: contains, value: file://expected.txt }
      - { type: is-json, value: file://schema.json }
      - { type: javascript, value: file://checks/node.js }
      - { type: python, value: 'len(output) > 3' }
`,
    'checks/common.js':
      'const max = 3;\nmodule.exports = (output, { vars }) => output.length > max && vars.topic === "a";',
    'checks/module.mjs':
      'export function isShort(output) {\n  return output.length < 10;\n}\nexport default () => false;\n',
    'checks/node.js': "const fs = require('node:fs');\nmodule.exports = () => true;",
    'expected.txt': 'parcel\n',
    'schema.json': '{"type": "object"}',
  });
  const [common, module, contains, schema] = comparison.checks ?? [];
  expect([await passes(common, 'long', { topic: 'a' }), await passes(common, 'no', { topic: 'a' })]).toEqual([
    true,
    false,
  ]);
  expect([await passes(module, 'short'), await passes(module, 'much too long')]).toEqual([true, false]);
  expect(contains).toEqual({ kind: 'contains', value: 'parcel' });
  expect(schema).toEqual({ kind: 'jsonSchema', schema: { type: 'object' } });
  expect(unsupported).toEqual([
    {
      field: 'tests[0]: javascript',
      reason: 'checks/node.js: The code uses modules, promises or the network, which checks can not',
    },
    { field: 'tests[0]: python', reason: 'has no counterpart' },
  ]);
});

test('another model takes the place of providers with their addresses and headers, but not of their tools', async () => {
  const config = `prompts: ['About {{topic}}']
providers:
  - id: https://example.com/generate
    config: { headers: { Authorization: 'Bearer {{env.TOKEN}}' }, temperature: 0.5, tools: [{ type: web_search }] }
tests: [{ vars: { topic: a } }]
`;
  const { comparison, unsupported } = await read(
    { 'promptfooconfig.yaml': config },
    { model: 'Groq/openai/gpt-oss-20b' },
  );
  expect(comparison.variants).toMatchObject([
    { aiSystem: 'Groq', model: 'openai/gpt-oss-20b', configuration: { temperature: 0.5 } },
  ]);
  expect(unsupported.map(({ field }) => field)).toEqual(['https://example.com/generate.config.tools']);
});

test('services that speak the chat API of OpenAI are endpoints of their names', async () => {
  const config = head.replace(
    '[openai:gpt-4.1-mini]',
    '[ollama:chat:llama3.1:8b, openrouter:meta-llama/llama-3.1-8b-instruct]',
  );
  const { comparison, unsupported } = await read({
    'promptfooconfig.yaml': `${config}tests: [{ vars: { topic: a } }]\n`,
  });
  expect(comparison.variants.map(({ aiSystem, model }) => `${aiSystem} ${model}`)).toEqual([
    'OpenAiCompatible ollama/llama3.1:8b',
    'OpenAiCompatible openrouter/meta-llama/llama-3.1-8b-instruct',
  ]);
  expect(unsupported).toEqual([]);
});

test('code makes variables before the prompt and the assertions see them', async () => {
  const { comparison, dataset, unsupported } = await read({
    'promptfooconfig.yaml': `${head}
defaultTest:
  options: { transformVars: "{ ...vars, topic: vars.topic.toUpperCase(), id: context.uuid }" }
tests:
  - vars: { topic: a, parts: { size: 2 } }
    assert: [{ type: equals, value: '{{topic}}' }]
  - vars: { topic: b }
    options: { transformVars: file://vars.js }
  - vars: { topic: d }
    options: { transformVars: "'text'" }
  - vars: { topic: e }
    options: { transformVars: "require('fs')" }
`,
    'vars.js': 'module.exports = (vars, context) => ({ topic: `${vars.topic}!` });',
  });
  if (!('rows' in dataset)) throw new Error('no rows');
  expect(dataset.rows.map(({ topic }) => topic)).toEqual(['A', 'b!', 'd', 'e']);
  expect(dataset.rows[0]).toMatchObject({ parts: { size: 2 }, id: expect.stringMatching(/^[\da-f-]{36}$/) });
  expect(dataset.rows[1]).not.toHaveProperty('id');
  expect(JSON.stringify(comparison.checks) + JSON.stringify(dataset.rows[0])).toContain('"A"');
  expect(unsupported.map(({ reason }) => reason)).toEqual([
    "can't be used. It returned no object",
    "can't be used. The script failed: ReferenceError: 'require' is not defined",
  ]);
});

test('select-best becomes a judge of pairs, with its criterion in a column if the tests have different ones', async () => {
  const { comparison, dataset, judges, pairJudges, unsupported } = await read(
    {
      'promptfooconfig.yaml': `${head}
tests:
  - vars: { topic: a }
    assert: [{ type: select-best, value: 'the funniest about {{topic}}' }, { type: contains, value: a }]
  - vars: { topic: b }
    assert: [{ type: select-best, value: the shortest }]
  - vars: { topic: c }
    assert: [{ type: not-select-best, value: x }, { type: assert-set, assert: [{ type: select-best, value: y }] }]
`,
    },
    { judge: 'openai:gpt-4.1' },
  );
  if (!('rows' in dataset)) throw new Error('no rows');
  expect(pairJudges).toEqual([...judges.keys()]);
  expect([...judges.values()]).toEqual([
    expect.objectContaining({
      verdict: { kind: 'preference' },
      promptText: expect.stringMatching(/\{\{expect_1\}\}[^]*\{\{first\}\}[^]*\{\{second\}\}/),
    }),
  ]);
  expect(dataset.rows.map((row) => row['expect_1'])).toEqual(['the funniest about a', 'the shortest', undefined]);
  expect(comparison.checks).toHaveLength(1);
  expect(JSON.stringify(comparison.checks)).not.toContain('judge');
  expect(unsupported.map(({ reason }) => reason)).toEqual([
    'has no opposite',
    'has select-best, which compares answers instead of checking one',
  ]);
});

test('a judge that is not on this machine is the one of --judge', async () => {
  const tests = 'tests: [{ vars: { topic: a }, assert: [{ type: llm-rubric, value: Kind, provider: "bedrock:x" }] }]\n';
  const { judges } = await read({ 'promptfooconfig.yaml': head + tests }, { judge: 'openai:gpt-4.1' });
  expect([...judges.values()].map(({ model }) => model)).toEqual(['gpt-4.1']);
  const without = await read({ 'promptfooconfig.yaml': head + tests });
  expect(without.unsupported[0]?.reason).toBe('needs a model that judges, and "bedrock:x" is unknown');
});

test('tools, formats and instructions of providers become those of the chat API', async () => {
  const { comparison, unsupported } = await read({
    'promptfooconfig.yaml': `prompts: ['About {{topic}}']
providers:
  - id: openai:chat:gpt-4.1-mini
    config: { tools: file://tools.json, response_format: { type: json_schema, schema: file://schema.yaml }, user: me }
  - id: anthropic:messages:claude-sonnet-4-5
    config: { tools: [{ name: weather, description: Weather, input_schema: { type: object } }] }
  - id: google:gemini-2.5-flash
    config: { tools: [{ functionDeclarations: [{ name: weather, parameters: { type: OBJECT } }, { name: time }] }] }
  - id: adaline:openai:chat:gpt-4.1-mini
    label: library
    config: { tools: [{ toolSpec: { name: weather, inputSchema: { json: { type: object } } } }] }
  - id: openai:responses:gpt-4.1
    config: { instructions: Be brief., response_format: { type: object, properties: { text: { type: string } } } }
  - id: azure:chat:our-deployment
    config: { apiHost: example.openai.azure.com, temperature: 0.5 }
  - id: openai:realtime:gpt-4o-realtime
  - id: google:gemini-2.5-pro
    config: { tools: [{ googleSearch: {} }] }
tests: [{ vars: { topic: a } }]
`,
    'tools.json':
      '[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]',
    'schema.yaml': 'type: object',
  });
  const weather = (parameters: object = { type: 'object' }) => ({
    type: 'function',
    function: expect.objectContaining({ name: 'weather', parameters }),
  });
  const format = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'response', schema } });
  expect(comparison.variants.map(({ configuration }) => configuration)).toEqual([
    { tools: [weather({ type: 'object', properties: {} })], response_format: format({ type: 'object' }) },
    { tools: [weather()] },
    {
      tools: [weather(), { type: 'function', function: { name: 'time', parameters: { type: 'object' } } }],
    },
    { tools: [weather()] },
    { response_format: format({ type: 'object', properties: { text: { type: 'string' } } }) },
    { temperature: 0.5 },
    null,
  ]);
  expect(comparison.variants[4]!.prompt).toMatchObject({ systemMessage: 'Be brief.' });
  expect(comparison.variants[3]).toMatchObject({ aiSystem: 'OpenAi', model: 'gpt-4.1-mini' });
  expect(comparison.variants[5]).toMatchObject({ aiSystem: 'OpenAiCompatible', model: 'azure/our-deployment' });
  expect(unsupported).toEqual([
    {
      field: 'providers: openai:realtime:gpt-4o-realtime',
      reason: 'has no counterpart; choose another model with --model',
    },
    { field: 'google:gemini-2.5-pro.config.tools', reason: "Only functions are stored, not a provider's own tools" },
  ]);
});

test('calls of tools are the output of code, and their arguments are checked', async () => {
  const { comparison, unsupported } = await read({
    'promptfooconfig.yaml': `${head}
tests:
  - vars: { topic: a }
    assert:
      - { type: is-valid-openai-tools-call }
      - { type: javascript, value: "output[0].function.name === 'weather'" }
      - { type: equals, value: Paris, transform: 'JSON.parse(output[0].function.arguments).city' }
`,
  });
  const call = (written: string) => [{ name: 'weather', arguments: written }];
  const [valid, name, city] = comparison.checks ?? [];
  expect([
    await passes(valid, '', {}, call('{"city": "Paris"}')),
    await passes(valid, '', {}, call('Paris')),
    await passes(valid, 'Sunny.'),
  ]).toEqual([true, false, false]);
  expect(await passes(name, '', {}, call('{}'))).toBe(true);
  expect([
    await passes(city, '', {}, call('{"city": "Paris"}')),
    await passes(city, '', {}, call('{"city": "Rome"}')),
  ]).toEqual([true, false]);
  expect(unsupported).toEqual([]);
});

test('a judge gets the rubric prompt of the file, and transforms without effect are left out', async () => {
  const { comparison, judges, unsupported } = await read(
    {
      'promptfooconfig.yaml': `${head}
defaultTest:
  options:
    transform: output.trim()
    rubricPrompt: [{ role: system, content: 'Grade {{topic}} by: {{ rubric }}' }, { role: user, content: 'Output: {{ output }}' }]
tests:
  - vars: { topic: a }
    assert:
      - { type: llm-rubric, value: It is polite }
      - { type: similar, value: Yes }
      - { type: is-json, transform: JSON.parse(output), value: { type: object } }
      - { type: llm-rubric, value: It is short, rubricPrompt: 'Grade by {{rubric}}' }
`,
    },
    { judge: 'openai:gpt-4.1' },
  );
  expect([...judges.values()].map(({ promptText }) => promptText)).toEqual([
    'Grade {{topic}} by: It is polite\n\nOutput: {{answer}}',
  ]);
  expect(comparison.checks?.map(({ kind }) => kind)).toEqual(['judge', 'similarity', 'jsonSchema']);
  expect(unsupported).toEqual([{ field: 'tests[0]: llm-rubric', reason: 'has a rubric prompt without {{output}}' }]);
});

test('questions about the context are asked of a judge, and lengths are counted in characters', async () => {
  const { comparison, judges, unsupported } = await read(
    {
      'promptfooconfig.yaml': `${head}
tests:
  - vars: { topic: leave, query: How long?, context: file://leave.md }
    assert:
      - { type: context-recall, threshold: 0.9, value: Four months }
      - { type: context-relevance, threshold: 0.9 }
      - { type: context-faithfulness, threshold: 0.9 }
      - { type: max-length, value: 500 }
      - { type: min-length, value: 3 }
      - { type: not-empty }
      - { type: max-length, value: long }
      - { type: context-relevance, contextTransform: output.context }
  - vars: { topic: pay }
    assert: [{ type: context-faithfulness }]
`,
      'leave.md': 'Leave takes four months.',
    },
    { judge: 'openai:gpt-4.1' },
  );
  const prompts = [...judges.values()].map(({ promptText }) => promptText);
  expect(prompts).toHaveLength(3);
  expect(prompts[0]).toContain('The answer is not to be judged');
  for (const prompt of prompts) expect(prompt).toMatch(/\{\{context\}\}[^]*\{\{answer\}\}$/);
  expect(prompts.map((prompt) => prompt.includes('{{query}}'))).toEqual([false, true, true]);
  const lengths = (comparison.checks ?? []).flatMap((check) => ('checks' in check ? check.checks : [check]));
  expect(lengths.filter(({ kind }) => kind === 'length')).toEqual([
    { kind: 'length', max: 500 },
    { kind: 'length', min: 3 },
    { kind: 'length', min: 1 },
  ]);
  expect(unsupported).toEqual([
    { field: 'tests[0]: max-length', reason: 'needs a number of characters' },
    { field: 'tests[0]: context-relevance', reason: 'has a context that code takes from a response' },
    { field: 'tests[1]: context-faithfulness', reason: 'needs the variable context' },
  ]);
});
