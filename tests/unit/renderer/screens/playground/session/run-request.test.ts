import { expect, test } from 'vitest';
import type { RunDetail } from '../../../../../../shared/contract/runs.ts';
import {
  restoredDraft,
  readRequest,
  asSent,
} from '../../../../../../renderer/screens/playground/session/run-request.ts';
import { readTarget } from '../../../../../../renderer/screens/playground/session/use-addresses.ts';
import type { Draft } from '../../../../../../renderer/stores/playground-drafts.ts';

const draft: Draft = {
  id: 'draft',
  name: 'Test',
  isExample: false,
  promptText: 'Hello {{name}}',
  systemMessage: '',
  aiSystem: 'OpenAi',
  model: 'gpt-test',
  values: {},
  jsonNames: [],
  parameters: {},
  otherParameters: '',
  transport: 'sse',
  shownRunId: null,
  updatedAt: 0,
};

test('a request contains only what a person wrote', () => {
  expect(readRequest(draft, null)).toEqual({
    request: { promptText: 'Hello {{name}}', aiSystem: 'OpenAi', model: 'gpt-test' },
  });
  const full = { ...draft, systemMessage: 'Be kind', values: { name: 'Mara' }, parameters: { seed: '7' } } as Draft;
  const read = readRequest(full, null);
  const request = {
    promptText: 'Hello {{name}}',
    systemMessage: 'Be kind',
    aiSystem: 'OpenAi',
    model: 'gpt-test',
    configuration: { seed: 7 },
    replacements: { name: 'Mara' },
  };
  expect(read).toEqual({ request });
  expect('request' in read && asSent(read.request, draft)).toEqual({
    ...request,
    metadata: { draftId: 'draft' },
  });
  const source = { promptId: 'prompt', versionId: 'version' };
  expect('request' in read && asSent(read.request, { ...draft, source }).metadata).toEqual({
    draftId: 'draft',
    promptVersionId: 'version',
  });
});

test.each([
  [{ promptText: ' \n' }, 'Write a prompt first', { kind: 'prompt', offset: 0 }],
  [
    { promptText: 'a\n{{/if}}' },
    'Line 2, column 1: {{/if}} closes a block that is not open',
    { kind: 'prompt', offset: 2 },
  ],
  [
    { promptText: '{{#each list}}{{this}}{{/each}}', values: { list: '5' } },
    'list: Must be a JSON list, such as ["a", "b"]',
    { kind: 'variable', name: 'list' },
  ],
  [{ parameters: { seed: 'x' } }, 'seed: Enter a number', { kind: 'parameter', name: 'seed' }],
  [
    { otherParameters: '[]' },
    'Extra parameters: Must be a JSON object, such as {"min_p": 0.05}',
    { kind: 'parameter', name: 'Extra parameters' },
  ],
] as const)('%j is rejected with the location of the problem', (change, message, location) => {
  const read = readRequest({ ...draft, ...(change as Partial<Draft>) }, null);
  expect(read).toMatchObject({ blocker: { location } });
  expect('blocker' in read && read.blocker.message).toContain(message.slice(0, 18));
});

test('a restored run sends the same request', () => {
  const run = {
    runId: 'run',
    aiSystem: 'Groq',
    model: 'groq-fast',
    input: {
      promptText: '{{a.b}} {{n}} {{empty}}',
      systemMessage: 'Be kind',
      replacements: { a: { b: 'x' }, n: 5 },
      configuration: { stop: ['\n'], min_p: 0.1 },
    },
  } as unknown as RunDetail;
  const before = { ...draft, values: { empty: 'was filled', other: 'stays' } };
  const after = { ...before, ...restoredDraft(run, before) };
  expect(readRequest(after, null)).toEqual({
    request: {
      promptText: '{{a.b}} {{n}} {{empty}}',
      systemMessage: 'Be kind',
      aiSystem: 'Groq',
      model: 'groq-fast',
      configuration: { stop: ['\n'], min_p: 0.1 },
      replacements: { a: { b: 'x' }, n: 5 },
    },
  });
  expect([after.values['empty'], after.values['other'], after.shownRunId]).toEqual(['', 'stays', 'run']);
});

test('a restored run has the text of its JSON fields as typed', () => {
  const typed: Draft = {
    ...draft,
    promptText: '{{#each orders}}{{id}}{{/each}} {{customer.name}} {{plain}} {{count}} {{word}}',
    values: {
      orders: '[ {"id":1e0,\n   "a": "x"} ]',
      'customer.name': ' Mara ',
      plain: '{"as": "text"}',
      count: '5.0',
      word: '"quoted"',
    },
    jsonNames: ['count', 'word'],
    parameters: { response_format: '{"type":"object", "title":"x"}' },
    otherParameters: '{"min_p":0.10}',
  };
  const read = readRequest(typed, null);
  const sent = 'request' in read ? asSent(read.request, typed) : null;
  const stored = JSON.parse(JSON.stringify(sent)) as NonNullable<typeof sent>;
  const run = { ...stored, runId: 'run', input: stored, metadata: stored.metadata } as unknown as RunDetail;
  const { promptText, values, jsonNames, parameters, otherParameters } = restoredDraft(run, draft);
  expect({ promptText, values, parameters, otherParameters }).toEqual({
    promptText: typed.promptText,
    values: typed.values,
    parameters: typed.parameters,
    otherParameters: typed.otherParameters,
  });
  expect(jsonNames).toEqual(expect.arrayContaining(['orders', 'count', 'word']));
  expect(jsonNames).not.toContain('plain');
  // A replay has other values than those that the texts were typed for.
  const replayed = {
    ...run,
    input: { ...stored, replacements: { ...stored.replacements, count: 6 } },
  } as unknown as RunDetail;
  expect(restoredDraft(replayed, draft).values).toMatchObject({ count: '6', word: '"quoted"' });
});

test('a run without hand-formatted JSON sends no texts of its fields', () => {
  const plain = { ...draft, values: { name: 'Mara' }, otherParameters: '{\n  "min_p": 0.1\n}' };
  const read = readRequest(plain, null);
  expect('request' in read && asSent(read.request, plain).metadata).toEqual({ draftId: 'draft' });
});

test.each([
  ['/playground', { kind: 'newest' }],
  ['/playground/', { kind: 'newest' }],
  ['/playground/abc', { kind: 'draft', draftId: 'abc' }],
  ['/playground/run/r1', { kind: 'run', runId: 'r1' }],
  ['/playground/runs/r1', { kind: 'run', runId: 'r1' }],
  [
    '/playground/models/OpenAiCompatible/shop%2Fllama',
    { kind: 'model', aiSystem: 'OpenAiCompatible', model: 'shop/llama' },
  ],
  ['/playground/%', { kind: 'draft', draftId: '%' }],
  ['/playground/models/OpenAi/50%off', { kind: 'model', aiSystem: 'OpenAi', model: '50%off' }],
  ['/playground/runs/%E0%A4%A', { kind: 'run', runId: '%E0%A4%A' }],
  ['/agents', null],
  ['/playgrounds', null],
  ['/', null],
])('the address %s opens its object', (address, target) => expect(readTarget(address)).toEqual(target));
