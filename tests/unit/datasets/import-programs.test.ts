import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runScript } from '../../../electron/comparisons/checks/script-runner.ts';
import { inspectTable } from '../../../electron/datasets/import/inspect-table.ts';
import { openTable } from '../../../electron/datasets/import/open-table.ts';
import { checkList, type Check } from '../../../shared/contract/checks.ts';

const directory = mkdtempSync(join(tmpdir(), 'touchstone-tables-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function inspect(fileName: string, content: string, definition: string | null = null) {
  const path = join(directory, 'table');
  writeFileSync(path, content);
  const found = await inspectTable(await openTable({ path, fileName, format: null, sheet: null, definition }));
  expect(checkList.safeParse(found.report.checks).error).toBeUndefined();
  return found;
}

/** Whether the check of one kind passes, by its script. */
async function passes(check: Check | undefined, answer: string, row: object) {
  if (check?.kind !== 'javascript') throw new Error(`is ${check?.kind}`);
  return (await runScript(check.code, { answer, row, toolCalls: [], latencyMs: 20, cost: 0.1 })).pass;
}

const skipped = ({ report }: Awaited<ReturnType<typeof inspect>>) =>
  report.entries.filter(({ outcome }) => outcome === 'skipped').map(({ field, message }) => `${field}: ${message}`);

describe('tests of promptfoo', () => {
  test('lists of variables become combinations, with the values and assertions of defaultTest', async () => {
    const found = await inspect(
      'promptfooconfig.yaml',
      `prompts: ['Translate {{text}} to {{language}}']
providers: [openai:gpt-4o-mini]
defaultTest:
  vars: { tone: polite }
  assert:
    - type: latency
      threshold: 2000
tests:
  - description: greetings
    vars:
      language: [French, German]
      text: [Hello, Goodbye]
      options: [[1, 2]]
    assert:
      - type: contains
        value: '{{language}}: {{unknown}}'
      - type: not-icontains
        value: sorry
    metadata: { team: a }
  - vars: { language: Spanish, text: file://text.txt }
    options: { disableDefaultAsserts: true, transform: output.trim() }
    assert:
      - { type: python, value: 'len(output) > 3' }
      - { type: llm-rubric, value: Is it Spanish? }
`,
    );
    expect(found.report.format).toBe('promptfoo');
    expect(found.rows.map(({ language, text: word, tone }) => [language, word, tone])).toEqual([
      ['French', 'Hello', 'polite'],
      ['French', 'Goodbye', 'polite'],
      ['German', 'Hello', 'polite'],
      ['German', 'Goodbye', 'polite'],
      ['Spanish', undefined, 'polite'],
    ]);
    expect(found.rows[2]).toEqual({
      description: 'greetings',
      team: 'a',
      language: 'German',
      text: 'Hello',
      tone: 'polite',
      options: [[1, 2]],
      __expected: 2000,
      __expected2: 'German: {{unknown}}',
      __expected3: 'sorry',
    });
    const inAny = (check: object) => ({
      kind: 'any',
      name: expect.any(String),
      checks: [expect.objectContaining({ kind: 'javascript' }), check],
    });
    expect(found.report.checks).toEqual([
      inAny({ kind: 'latency', maxMs: 2000 }),
      inAny({ kind: 'contains', column: '__expected2' }),
      inAny({ kind: 'contains', not: true, ignoreCase: true, value: 'sorry' }),
    ]);
    expect(found.report.judges).toEqual([
      {
        name: 'llm_rubric',
        promptText: 'Does the answer meet this rubric?\n\nIs it Spanish?\n\nThe answer:\n{{answer}}',
        verdict: { kind: 'passOrFail' },
        model: null,
      },
    ]);
    expect(skipped(found)).toEqual([
      'options.transform: Datasets have no such field',
      "vars.text: text.txt isn't among the imported files; add it, or import the whole folder",
      'python: Is Python, which an import never runs',
    ]);
  });

  test('the columns of CSV files, with types, thresholds and scripts in their cells', async () => {
    const csv = [
      'question,__expected1,__expected2,__description,__metadata:topic,__prefix',
      'a,Paris,"javascript: output.length < 9",one,city,Hi',
      'b,contains-any: Rome,fn: return 1,two,city,',
      'c,similar(0.6):Berlin,,three,,',
      'd,"regex: ^[A-Z]",not-equals: x,,,',
    ].join('\n');
    const found = await inspect('tests.csv', csv);
    expect(found.report.format).toBe('promptfoo');
    expect(found.rows[0]).toMatchObject({ question: 'a', description: 'one', topic: 'city', __expected: 'Paris' });
    expect(skipped(found)).toEqual(['__prefix: Datasets have no such field']);
    const inner = found.report.checks.map((check) => ('checks' in check ? check.checks[1]! : check));
    expect(inner.map(({ kind }) => kind).toSorted()).toEqual(
      ['equals', 'javascript', 'javascript', 'javascript', 'similarity', 'equals'].toSorted(),
    );
    const script = inner.find((check) => check.kind === 'javascript' && check.code.includes('new Function'));
    expect(await passes(script, 'short', found.rows[0]!)).toBe(true);
    expect(await passes(script, 'much longer', found.rows[0]!)).toBe(false);
    expect(await passes(script, 'any', found.rows[1]!)).toBe(true);
    const pattern = inner.find((check) => check.kind === 'javascript' && check.code.includes('new RegExp'));
    expect([await passes(pattern, 'Yes', found.rows[3]!), await passes(pattern, 'no', found.rows[3]!)]).toEqual([
      true,
      false,
    ]);
    const [absent] = (found.report.checks[0] as { checks: Check[] }).checks;
    expect(await passes(absent, '', {})).toBe(true);
  });

  test.each([
    ['contains:paris', { kind: 'contains', value: 'paris' }],
    ['not-contains:sorry', { kind: 'contains', not: true, value: 'sorry' }],
    ['icontains:bonjour', { kind: 'contains', ignoreCase: true, value: 'bonjour' }],
    ['similar:hello', { kind: 'similarity', value: 'hello', threshold: 0.8 }],
    ['similar:cosine:hello', { kind: 'similarity', value: 'hello' }],
    ['similar(0.6):cosine', { kind: 'similarity', value: 'cosine', threshold: 0.6 }],
    ['note:paris', { kind: 'equals', value: 'note:paris' }],
  ])('the cell %s has its type before the first colon', async (cell, check) => {
    const { report } = await inspect('tests.csv', `question,__expected\na,${cell}\n`);
    expect(report.checks).toMatchObject([check]);
  });

  test('JSON, JSONL and scenarios, and a configuration that belongs to a CSV file', async () => {
    const tests = [
      { vars: { q: '1' }, assert: [{ type: 'is-json', value: { type: 'object' } }] },
      { vars: { q: '2' } },
    ];
    const json = await inspect('tests.json', JSON.stringify(tests));
    const lines = await inspect('tests.jsonl', tests.map((one) => JSON.stringify(one)).join('\n'));
    expect(lines).toEqual(json);
    expect(json.rows).toEqual([{ q: '1', __expected: { type: 'object' } }, { q: '2' }]);
    expect(json.report.checks).toMatchObject([{ kind: 'any', checks: [{}, { kind: 'jsonSchema' }] }]);
    const scenarios = await inspect(
      'a.yaml',
      'scenarios:\n  - config: [{vars: {l: a}}, {vars: {l: b}}]\n    tests: [{vars: {q: x}}, {vars: {q: z}}]\n',
    );
    expect(scenarios.rows).toEqual([
      { l: 'a', q: 'x' },
      { l: 'a', q: 'z' },
      { l: 'b', q: 'x' },
      { l: 'b', q: 'z' },
    ]);
    const config = 'prompts: [x]\ndefaultTest: {vars: {tone: dry}, assert: [{type: cost, threshold: 0.01}]}\n';
    const table = await inspect('rows.csv', 'q\n1\n', config);
    expect(table.rows).toEqual([{ tone: 'dry', q: '1', __expected: 0.01 }]);
    expect(table.report.checks).toEqual([{ kind: 'cost', maxCost: 0.01 }]);
  });

  test('combinations end at the limit of rows, and problems name their line', async () => {
    const values = JSON.stringify(Array.from({ length: 400 }, (_, index) => String(index)));
    await expect(inspect('a.yaml', `tests: [{vars: {a: ${values}, b: ${values}, c: ${values}}}]`)).rejects.toThrow(
      'at most 100,000 rows',
    );
    await expect(inspect('a.yaml', 'tests:\n  - vars: {a: [}\n')).rejects.toThrow('has a problem in line 2');
    await expect(inspect('a.yaml', 'description: x\n')).rejects.toThrow('has no rows');
    await expect(inspect('a.yaml', `tests: ${'['.repeat(100_000)}`)).rejects.toThrow('nested more than 64 levels');
    await expect(inspect('a.yaml', 'tests: file://cases.csv\n')).rejects.toThrow('has no rows');
  });
});

describe('OpenAI Evals', () => {
  const item = (question: string, answer: string) => JSON.stringify({ item: { question, answer }, sample: {} });
  const output = '{{sample.output_text}}';

  test('graders of the API become checks and proposals for judges', async () => {
    const messages = [
      { role: 'developer', content: 'Grade the answer.' },
      { role: 'user', content: { type: 'input_text', text: `Question {{item.question}}, answer ${output}` } },
    ];
    const definition = {
      name: 'capitals',
      data_source_config: { type: 'custom' },
      testing_criteria: [
        { type: 'string_check', name: 'exact', input: output, reference: '{{item.answer}}', operation: 'eq' },
        { type: 'string_check', name: 'has', input: output, reference: 'in {{ item.answer  }}', operation: 'ilike' },
        {
          type: 'string_check',
          name: 'json',
          input: '{{sample.output_json.city}}',
          reference: '{{item.answer}}',
          operation: 'ne',
        },
        {
          type: 'text_similarity',
          name: 'rouge',
          input: output,
          reference: '{{item.answer}}',
          evaluation_metric: 'rouge_l',
          pass_threshold: 0.8,
        },
        {
          type: 'text_similarity',
          name: 'bleu',
          input: output,
          reference: '{{item.answer}}',
          evaluation_metric: 'bleu',
        },
        { type: 'python', name: 'code', source: 'def grade(sample, item): return 1.0' },
        { type: 'score_model', name: 'style', model: 'o4-mini', input: messages, range: [1, 7], pass_threshold: 4.5 },
        {
          type: 'label_model',
          name: 'tone',
          model: 'gpt-4.1',
          input: messages,
          labels: ['ok', 'bad'],
          passing_labels: ['ok'],
        },
        {
          type: 'multi',
          name: 'both',
          calculate_output: '0.7 * same + 0.3 * near',
          graders: {
            same: { type: 'string_check', input: output, reference: '{{item.answer}}', operation: 'eq' },
            near: {
              type: 'text_similarity',
              input: output,
              reference: '{{item.answer}}',
              evaluation_metric: 'fuzzy_match',
              pass_threshold: 0.5,
            },
          },
        },
      ],
    };
    const found = await inspect(
      'samples.jsonl',
      `${item('France?', 'Paris')}\n${item('Italy?', 'Rome')}`,
      JSON.stringify(definition),
    );
    expect(found.rows).toEqual([
      { question: 'France?', answer: 'Paris' },
      { question: 'Italy?', answer: 'Rome' },
    ]);
    const { checks, judges, format } = found.report;
    expect(format).toBe('openai-evals');
    expect(checks.slice(0, 3)).toEqual([
      { kind: 'equals', name: 'exact', column: 'answer' },
      { kind: 'contains', name: 'has', value: 'in {{answer}}', ignoreCase: true },
      { kind: 'field', name: 'json', path: 'city', column: 'answer', not: true },
    ]);
    expect(checks.slice(4)).toMatchObject([
      { kind: 'equals', name: 'same', weight: 0.7 },
      { name: 'near', weight: 0.3 },
    ]);
    expect(await passes(checks[3], 'the Paris', { answer: 'Paris' })).toBe(false);
    expect(await passes(checks[3], 'paris!', { answer: 'Paris' })).toBe(true);
    expect(await passes(checks[5], 'Pari', { answer: 'Paris' })).toBe(true);
    expect(judges).toMatchObject([
      { name: 'style', model: 'o4-mini', verdict: { kind: 'score', min: 1, max: 7, passFrom: 5 } },
      { name: 'tone', verdict: { kind: 'passOrFail' } },
    ]);
    expect(judges[0]!.promptText).toContain('Question {{question}}, answer {{answer}}');
    expect(judges[1]!.promptText).toContain('The verdict is "pass" for ok');
    expect(skipped(found)).toEqual([
      'bleu: No check computes bleu',
      'code: Is Python, which an import never runs',
      'sample: Is an earlier answer',
    ]);
  });

  test('an eval with its rows in one file, and one without rows', async () => {
    const definition = {
      testing_criteria: [
        { type: 'string_check', name: 'x', input: output, reference: '{{item.a}}', operation: 'like' },
      ],
      data_source: { type: 'jsonl', source: { type: 'file_content', content: [{ item: { a: 'b' } }] } },
    };
    const found = await inspect('eval.json', JSON.stringify(definition, null, 2));
    expect([found.rows, found.report.checks]).toEqual([[{ a: 'b' }], [{ kind: 'contains', name: 'x', column: 'a' }]]);
    await expect(inspect('eval.json', JSON.stringify({ testing_criteria: [] }))).rejects.toThrow(
      'has graders and no rows',
    );
  });

  test('samples of the registry, with the classes that its file names', async () => {
    const samples = [
      {
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: '2+2?' },
        ],
        ideal: ['4', 'four'],
      },
      { input: 'Sky?', ideal: 'The Blue!' },
    ];
    const registry = `basic:
  id: basic.dev.v0
basic.dev.v0: {class: 'evals.elsuite.basic.match:Match', args: {samples_jsonl: a.jsonl}}
includes: {class: 'evals.elsuite.basic.includes:Includes', args: {ignore_case: true}}
fuzzy: {class: 'evals.elsuite.basic.fuzzy_match:FuzzyMatch'}
fact: {class: 'evals.elsuite.modelgraded.classify:ModelBasedClassify', args: {modelgraded_spec: fact}}
own:
  class: evals.elsuite.modelgraded.classify:ModelBasedClassify
  args: {modelgraded_spec: humor}
humor: {prompt: 'Is {completion} funny?', choice_strings: [Yes, No], choice_scores: {Yes: 1, No: 0}}
chess: {class: 'evals.elsuite.chess:Chess'}
`;
    const found = await inspect('samples.jsonl', samples.map((one) => JSON.stringify(one)).join('\n'), registry);
    expect(found.rows[0]).toMatchObject({ input_text: '2+2?', system: 'Be brief.', ideal: ['4', 'four'] });
    const [match, includes, fuzzy] = found.report.checks;
    const row = found.rows[0]!;
    expect([await passes(match, 'four, I think', row), await passes(match, 'It is 4', row)]).toEqual([true, false]);
    expect(await passes(includes, 'It is FOUR', row)).toBe(true);
    expect(await passes(fuzzy, 'blue', { ideal: 'The Blue!' })).toBe(true);
    expect(await passes(fuzzy, 'red', { ideal: 'The Blue!' })).toBe(false);
    expect(found.report.judges.map(({ name }) => name)).toEqual(['fact', 'humor']);
    expect(found.report.judges[1]!.promptText).toContain('Is {{answer}} funny?');
    expect(skipped(found)).toEqual(['chess: Its class Chess is Python, which an import never runs']);
  });
});

test('test data and evaluators of GitHub Models', async () => {
  const found = await inspect(
    'summary.prompt.yml',
    `name: Summary
model: openai/gpt-4o-mini
messages: [{role: user, content: '{{input}}'}]
testData:
  - input: The quick brown fox
    expected: fox
  - input: Lorem
    expected: ipsum
evaluators:
  - name: has
    string: {contains: '{{expected}}'}
  - name: starts
    string: {startsWith: 'Summary:'}
  - name: near
    uses: github/similarity
  - name: quality
    llm:
      modelId: openai/gpt-4o
      prompt: 'Rate {{completion}}'
      choices: [{choice: '1', score: 0.0}, {choice: '5', score: 1.0}]
  - name: other
    uses: github/unknown
`,
  );
  expect(found.columns.map(({ name, type }) => `${name}: ${type}`)).toEqual(['input: text', 'expected: expected']);
  expect(found.report.checks).toMatchObject([
    { kind: 'contains', name: 'has', column: 'expected' },
    { kind: 'javascript', name: 'starts' },
    { kind: 'similarity', name: 'near', column: 'expected' },
  ]);
  expect(await passes(found.report.checks[1], 'Summary: x', {})).toBe(true);
  expect(found.report.judges).toMatchObject([{ name: 'quality', model: 'openai/gpt-4o' }]);
  expect(found.report.judges[0]!.promptText).toContain('Rate {{answer}}');
  expect(skipped(found)).toEqual([
    'messages: Are a prompt: import the file in the library, too',
    'other: No check does this',
  ]);
});

test('items of Langfuse in JSON and CSV', async () => {
  const items = [
    { id: '1', status: 'ACTIVE', input: { q: 'Why?' }, expectedOutput: 'So', metadata: { a: 1 }, datasetId: 'd' },
    { id: '2', status: 'ARCHIVED', input: { q: 'Old?' }, expectedOutput: 'No', metadata: null, datasetId: 'd' },
  ];
  const json = await inspect('items.json', JSON.stringify(items));
  const rows = [{ input: { q: 'Why?' }, expectedOutput: 'So', metadata: { a: 1 } }];
  expect([json.report.format, json.rows]).toEqual(['langfuse', rows]);
  const csv = await inspect(
    'items.csv',
    'id,source_trace_id,input,expected_output,metadata\n1,t,"{""q"": ""Why?""}","""So""","{""a"": 1}"\n',
  );
  expect(csv.rows).toEqual([{ input: { q: 'Why?' }, expected_output: 'So', metadata: { a: 1 } }]);
  expect(skipped(csv)).toContain('source_trace_id: Describes the item in Langfuse');
});
