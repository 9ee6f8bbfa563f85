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
async function passes(check: Check | undefined, answer: string, row: object = {}) {
  if (check?.kind !== 'javascript') throw new Error(`is ${check?.kind}`);
  return (await runScript(check.code, { answer, row, toolCalls: [], latencyMs: 20, cost: 0.1 })).pass;
}

const head = `prompts: ['About {{topic}}']
providers: [openai:gpt-4.1-mini]
`;

test('a transform changes the answer before the assertions that look at it', async () => {
  const { comparison, unsupported } = read({
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
`,
  });
  const [equal, any, length, items, latency] = comparison.checks ?? [];
  expect([await passes(equal, '{"text": "Yes"}'), await passes(equal, '{"text": "No"}')]).toEqual([true, false]);
  expect([await passes(any, '{"text": "yes!"}'), await passes(any, '{"text": "maybe"}')]).toEqual([true, false]);
  expect([await passes(length, 'abc'), await passes(length, 'abcd')]).toEqual([true, false]);
  expect([await passes(items, '{"items": [1, 2]}'), await passes(items, '{"items": []}')]).toEqual([true, false]);
  expect(latency).toMatchObject({ kind: 'latency', maxMs: 100 });
  expect(unsupported).toEqual([
    { field: 'tests[0]: similar', reason: 'has a transform, which only checks of text can have' },
  ]);
});

test('functions of files are called, and code with modules is named', async () => {
  const { comparison, unsupported } = read({
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

test('another model takes the place of providers with their addresses and headers, but not of their tools', () => {
  const config = `prompts: ['About {{topic}}']
providers:
  - id: https://example.com/generate
    config: { headers: { Authorization: 'Bearer {{env.TOKEN}}' }, temperature: 0.5, tools: [{ type: web_search }] }
tests: [{ vars: { topic: a } }]
`;
  const { comparison, unsupported } = read({ 'promptfooconfig.yaml': config }, { model: 'Groq/openai/gpt-oss-20b' });
  expect(comparison.variants).toMatchObject([
    { aiSystem: 'Groq', model: 'openai/gpt-oss-20b', configuration: { temperature: 0.5 } },
  ]);
  expect(unsupported.map(({ field }) => field)).toEqual(['https://example.com/generate.config.tools']);
});

test('services that speak the chat API of OpenAI are endpoints of their names', () => {
  const config = head.replace(
    '[openai:gpt-4.1-mini]',
    '[ollama:chat:llama3.1:8b, openrouter:meta-llama/llama-3.1-8b-instruct]',
  );
  const { comparison, unsupported } = read({ 'promptfooconfig.yaml': `${config}tests: [{ vars: { topic: a } }]\n` });
  expect(comparison.variants.map(({ aiSystem, model }) => `${aiSystem} ${model}`)).toEqual([
    'OpenAiCompatible ollama/llama3.1:8b',
    'OpenAiCompatible openrouter/meta-llama/llama-3.1-8b-instruct',
  ]);
  expect(unsupported).toEqual([]);
});

test('a judge that is not on this machine is the one of --judge', () => {
  const tests = 'tests: [{ vars: { topic: a }, assert: [{ type: llm-rubric, value: Kind, provider: "bedrock:x" }] }]\n';
  const { judges } = read({ 'promptfooconfig.yaml': head + tests }, { judge: 'openai:gpt-4.1' });
  expect([...judges.values()].map(({ model }) => model)).toEqual(['gpt-4.1']);
  const without = read({ 'promptfooconfig.yaml': head + tests }).unsupported;
  expect(without[0]?.reason).toBe('needs a model that judges, and "bedrock:x" is unknown');
});
