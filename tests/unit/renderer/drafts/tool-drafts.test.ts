import { describe, expect, test } from 'vitest';
import { configuration } from '../../../../shared/contract/completions.ts';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import { isEdited, readVersion, versionChange } from '../../../../renderer/drafts/draft-version.ts';
import { readConfiguration, writeConfiguration } from '../../../../renderer/drafts/parameter-model.ts';
import { newTool, readTools, renamedChoice, writeTools } from '../../../../renderer/drafts/tool-drafts.ts';
import type { Draft } from '../../../../renderer/stores/playground-drafts.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Now', parameters: schema, strict: true },
};
const sent = {
  temperature: 0.5,
  tools: [weather, { type: 'web_search', max_uses: 3 }],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  parallel_tool_calls: false,
};

const read = (fields: Parameters<typeof readTools>[0]) =>
  readConfiguration({ parameters: {}, otherParameters: '', ...fields }, null);

describe('a configuration', () => {
  test('is the same after its tools were fields of a draft', () => {
    const fields = writeConfiguration(sent);
    expect(fields.tools).toMatchObject([
      { kind: 'function', name: 'weather', description: 'Now', strict: true },
      { kind: 'provider' },
    ]);
    expect(fields.otherParameters).toBe('');
    expect(readConfiguration(fields, null)).toEqual({ configuration: configuration.parse(sent), problems: [] });
  });

  test('has no parameters of tools without tools', () => {
    expect(read({ toolChoice: 'required', parallelToolCalls: true })).toEqual({ configuration: {}, problems: [] });
  });

  test('never has a mock', () => {
    const tool = newTool({ name: 'a', mock: { kind: 'fixed', content: 'secret', isError: false } });
    expect(JSON.stringify(read({ tools: [tool] }).configuration)).not.toContain('secret');
  });

  test('takes tools from the extra parameters of an earlier draft, and rejects both', () => {
    const otherParameters = JSON.stringify({ tools: [weather] });
    expect(read({ otherParameters } as Draft).configuration.tools).toHaveLength(1);
    expect(read({ otherParameters, tools: [newTool({ name: 'a' })] } as unknown as Draft).problems).toEqual([
      { name: 'Extra parameters', problem: 'Set tools under Tools only' },
    ]);
  });

  test.each([
    ['{"tools": 5}', 'tools'],
    ['{"tool_choice": "sometimes"}', 'tool_choice must be'],
    ['{"top_k": 0}', 'in its own field'],
  ])('reports extra parameters such as %s', (otherParameters, problem) => {
    expect(read({ otherParameters } as Draft).problems).toMatchObject([
      { name: 'Extra parameters', problem: expect.stringContaining(problem) as unknown },
    ]);
  });
});

describe('a tool with a problem', () => {
  const good = newTool({ name: 'good' });
  const deep = `${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`;

  test.each([
    ['without a name', newTool(), 'Enter a name'],
    ['with a bad name', newTool({ name: 'find order' }), 'The name must be 1 to 64 letters'],
    ['with the name of another', newTool({ name: 'good' }), 'Another tool has this name'],
    ['without JSON', newTool({ name: 'a', parameters: '{' }), 'Invalid JSON at line 1'],
    ['with a list as a schema', newTool({ name: 'a', parameters: '[]' }), 'The schema must be a JSON object'],
    ['with a deep schema', newTool({ name: 'a', parameters: deep }), 'is nested deeper than 32 levels'],
    [
      'with a large schema',
      newTool({ name: 'a', parameters: JSON.stringify({ description: 'x'.repeat(110_000) }) }),
      'The schema is larger than 100 KB',
    ],
    [
      'of a provider that is a function',
      { kind: 'provider', id: 'p', json: JSON.stringify(weather) } as const,
      'Add a',
    ],
  ])('%s is not sent and says why', (_what, tool, problem) => {
    const { configuration: made, problems } = read({ tools: [good, tool] });
    expect(problems).toEqual([{ name: 'Tools', problem: expect.stringContaining(problem) as unknown }]);
    expect(made.tools).toHaveLength(1);
    expect(readTools({ tools: [good, tool] }).problems[0]?.toolId).toBe(tool.id);
  });

  test('a choice of an unknown tool, or of none, is a problem of the tools', () => {
    const choice = { type: 'function', function: { name: 'gone' } };
    expect(read({ tools: [good], toolChoice: choice }).problems).toEqual([
      { name: 'Tools', problem: 'tool_choice names the unknown tool "gone"' },
    ]);
    expect(read({ tools: [good], toolChoice: 'required' }).problems).toEqual([]);
  });

  test('more than 128 tools are a problem', () => {
    const tools = Array.from({ length: 129 }, (_, index) => newTool({ name: `tool_${index}` }));
    expect(read({ tools }).problems).toContainEqual({ name: 'Tools', problem: 'At most 128 tools' });
  });
});

test('tools keep the mocks of earlier tools with their names', () => {
  const mock = { kind: 'fixed', content: 'rain', isError: false } as const;
  const { tools } = writeTools(sent, [newTool({ name: 'weather', mock })]);
  expect(tools.tools[0]).toMatchObject({ name: 'weather', mock });
});

test('the choice of a function follows its name and ends with it', () => {
  const choice = { type: 'function', name: 'weather' };
  expect(renamedChoice(choice, 'weather', 'forecast')).toEqual({ type: 'function', function: { name: 'forecast' } });
  expect(renamedChoice(choice, 'weather', null)).toBeNull();
  expect(renamedChoice(choice, 'other', null)).toEqual(choice);
  expect(renamedChoice('required', 'weather', null)).toBe('required');
});

describe('a prompt version', () => {
  const version: PromptVersion = {
    id: 'v',
    promptId: 'p',
    number: 1,
    promptText: 'Hello',
    systemMessage: null,
    aiSystem: 'Groq',
    model: 'kestrel',
    configuration: sent,
    variables: [],
    note: null,
    createdAt: '2026-11-20T09:00:00.000Z',
  };
  const opened = (change: Partial<Draft> = {}) => ({ jsonNames: [], ...versionChange(version), ...change }) as Draft;

  test('keeps its tools when it is opened and saved again', () => {
    expect(isEdited(opened(), version)).toBe(false);
    expect(readVersion(opened(), version)).toMatchObject({ version: { configuration: sent } });
  });

  test('is edited by a change of a tool, but not by another form of the same tool', () => {
    const [tool] = opened().tools!;
    expect(isEdited(opened({ tools: [{ ...tool!, description: 'Later' } as typeof tool & object] }), version)).toBe(
      true,
    );
    expect(isEdited(opened({ toolChoice: 'auto' }), version)).toBe(true);
    const flat = { type: 'function', ...weather.function, strict: true };
    const other = { ...version, configuration: { ...sent, tools: [flat, sent.tools[1]] } };
    expect(isEdited(opened(), other)).toBe(false);
  });
});
