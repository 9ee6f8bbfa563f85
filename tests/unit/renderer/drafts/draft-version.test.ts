import { expect, test } from 'vitest';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import { isEdited, readVersion, versionChange } from '../../../../renderer/drafts/draft-version.ts';
import type { Draft } from '../../../../renderer/stores/playground-drafts.ts';

const version: PromptVersion = {
  id: 'v',
  promptId: 'p',
  number: 3,
  promptText: 'Greet {{name}} in {{language}}',
  systemMessage: null,
  aiSystem: 'Groq',
  model: 'kestrel',
  configuration: { temperature: 0.2, stop: ['\n', 'END'], min_p: 0.1 },
  variables: [
    { name: 'name', description: 'As they sign', defaultValue: 'you', sampleValue: 'Mara' },
    { name: 'language', description: null, defaultValue: 'German', sampleValue: null },
  ],
  note: null,
  createdAt: '2026-11-20T09:00:00.000Z',
};

function opened(change: Partial<Draft> = {}): Draft {
  return { jsonNames: [], ...versionChange(version), ...change } as Draft;
}

test('an opened version equals that version, also when it is saved again', () => {
  const draft = opened();
  expect(isEdited(draft, version)).toBe(false);
  const { id: _id, promptId: _promptId, number: _number, note: _note, createdAt: _createdAt, ...made } = version;
  expect(readVersion(draft, version)).toEqual({
    version: {
      ...made,
      variables: [made.variables[0], { ...made.variables[1], sampleValue: 'German' }],
    },
  });
});

test('saving a draft leaves variables that have no field as they were', () => {
  const variable = { description: 'Where they live', defaultValue: 'x', sampleValue: null };
  const before = { ...version, variables: ['history', 'city', 'name'].map((name) => ({ name, ...variable })) };
  const saved = readVersion(opened({ promptText: 'Hi {{name}} {{history}}' }), before);
  expect(saved).toMatchObject({
    version: {
      variables: [
        { name: 'name', ...variable, sampleValue: 'Mara' },
        { name: 'history', ...variable },
        { name: 'city', ...variable },
      ],
    },
  });
});

test.each<[string, Partial<Draft>]>([
  ['the text', { promptText: 'Greet' }],
  ['the system message', { systemMessage: 'Be kind' }],
  ['the model', { model: 'kestrel-small' }],
  ['a parameter', { parameters: { temperature: '0.3' } }],
  ['a parameter that cannot be read', { parameters: { temperature: 'warm' } }],
])('%s makes a draft edited', (_what, change) => {
  expect(isEdited(opened(change), version)).toBe(true);
});

test("values of variables don't make a draft edited; a version without a model uses the first of the service", () => {
  expect(isEdited(opened({ values: { name: 'Jo' } }), version)).toBe(false);
  const bare = { ...version, aiSystem: null, model: null, configuration: null };
  expect(isEdited({ jsonNames: [], ...versionChange(bare) } as unknown as Draft, bare)).toBe(false);
});

test.each([
  { stop: 'END' },
  { stop: [' Human:', ' '] },
  { stop: [] },
  { tools: [] },
  { tool_choice: 'auto' },
  { parallel_tool_calls: false },
])('a version with the configuration %j is not edited when it is opened', (configuration) => {
  const one = { ...version, configuration };
  expect(isEdited({ jsonNames: [], ...versionChange(one) } as unknown as Draft, one)).toBe(false);
});

test('a list that means nothing to us is a setting, and so is another stop sequence', () => {
  const draft = opened();
  const withStop = (stop: unknown) => ({ ...version, configuration: { ...version.configuration, stop } });
  expect(isEdited(draft, { ...version, configuration: { ...version.configuration, other: [] } })).toBe(true);
  expect([withStop('END'), withStop([])].map((one) => isEdited(draft, one))).toEqual([true, true]);
});

test('rejects an invalid draft with the reason', () => {
  expect(readVersion(opened({ promptText: ' ' }), null)).toEqual({ problem: 'Write a prompt first' });
  expect(readVersion(opened({ promptText: '{{#if a}}' }), null)).toEqual({
    problem: expect.stringMatching(/^Line 1, column \d+: /) as unknown,
  });
});
