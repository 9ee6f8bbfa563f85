import { describe, expect, test } from 'vitest';
import { newCheck, readChecks, writeChecks } from '../../../../../renderer/screens/compare/setup/check-drafts.ts';
import { checkKindNames } from '../../../../../renderer/screens/compare/setup/check-kinds.ts';
import {
  missingVariables,
  neededVariables,
  suggestedColumn,
  targetChange,
  targetOf,
} from '../../../../../renderer/screens/compare/setup/column-mapping.ts';
import { valuesDataset } from '../../../../../renderer/screens/compare/setup/inputs-section.tsx';
import { readSetup, writeSetup } from '../../../../../renderer/screens/compare/setup/setup-draft.ts';
import { verdictOf } from '../../../../../renderer/screens/compare/list/comparison-list.tsx';
import { draftVariant, emptySetup, type SetupDraft } from '../../../../../renderer/stores/comparison-drafts.ts';
import { exampleDraft, getActiveDraft, useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { type Check, checkList } from '../../../../../shared/contract/checks.ts';
import type { ComparisonReport } from '../../../../../shared/contract/comparison-results.ts';
import type { Dataset } from '../../../../../shared/contract/datasets.ts';
import { comparisonInput, type Comparison } from '../../../../../shared/contract/comparisons.ts';
import { parseTemplate } from '../../../../../shared/prompt-template.ts';

const id = '3f1c2a5e-0000-4000-8000-000000000001';

/** One of each kind, with every field that it has. */
const everyCheck: readonly Check[] = [
  { kind: 'equals', value: 'a  b', ignoreCase: true },
  { kind: 'contains', column: 'expected', not: true, name: 'Names it', weight: 0.5 },
  { kind: 'regularExpression', pattern: '^\\d+ {{n}}', flags: 'im' },
  { kind: 'length', unit: 'words', min: 0, max: 80 },
  { kind: 'jsonSchema', schema: { type: 'object' } },
  { kind: 'field', path: 'items.0.name', value: 'x' },
  { kind: 'toolCall', tool: 'find', arguments: { order: '{{no}}' } },
  { kind: 'citation', min: 2 },
  { kind: 'latency', maxMs: 1500 },
  { kind: 'cost', maxCost: 0.01 },
  { kind: 'javascript', code: 'answer\n  .length > 3' },
  { kind: 'similarity', column: 'expected', threshold: -0.25 },
  { kind: 'moderation', categories: ['violence', 'selfHarm'] },
  { kind: 'refusal', not: true },
  { kind: 'judge', judgeId: id },
  {
    kind: 'all',
    checks: [{ kind: 'any', weight: 0, checks: [{ kind: 'refusal' }, { kind: 'contains', value: 'x' }] }],
  },
  { kind: 'any', checks: [{ kind: 'equals', value: '1' }] },
];

function read(checks: Parameters<typeof readChecks>[0]) {
  const problems = new Map<string, string>();
  return { checks: readChecks(checks, problems), problems: Object.fromEntries(problems) };
}

describe('checks of a setup', () => {
  test('every kind survives reading and writing', () => {
    expect(everyCheck.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...checkKindNames]));
    expect(checkKindNames).toHaveLength(17);
    expect(read(writeChecks(everyCheck))).toEqual({ checks: everyCheck, problems: {} });
  });

  test('a new check of every kind names what it needs, and what it leaves out is valid', () => {
    const problemsOf = (kind: Check['kind']) => Object.keys(read([newCheck(kind, [])]).problems);
    const incomplete = new Set(checkKindNames.filter((kind) => problemsOf(kind).length > 0));
    for (const kind of checkKindNames) {
      const isValid = checkList.safeParse(read([newCheck(kind, [])]).checks).success;
      expect([kind, isValid || incomplete.has(kind)]).toEqual([kind, true]);
    }
    expect(checkKindNames.filter((kind) => !incomplete.has(kind))).toEqual(['citation', 'moderation', 'refusal']);
    expect(read([newCheck('contains', [{ name: 'gold', type: 'expected' }])])).toEqual({
      checks: [{ kind: 'contains', column: 'gold' }],
      problems: {},
    });
  });

  test('a bad field is named by its place, inside others too', () => {
    const draft = (kind: Check['kind'], fields: Record<string, string>) => ({ ...newCheck(kind, []), fields });
    const inner = { ...newCheck('all', []), checks: [draft('length', { min: '9', max: '3' }), draft('length', {})] };
    expect(
      read([
        draft('jsonSchema', { schema: '{"type": ' }),
        draft('toolCall', { tool: 'x', arguments: '[1]' }),
        draft('latency', { maxMs: 'soon', weight: '1001' }),
        draft('similarity', { value: 'x', threshold: '1,5' }),
        draft('citation', { min: '1.5' }),
        draft('regularExpression', { pattern: 'x', flags: 'g' }),
        inner,
        newCheck('any', []),
      ]).problems,
    ).toEqual({
      'checks[0].schema': expect.stringContaining('Invalid JSON at line 1'),
      'checks[1].arguments': 'Must be a JSON object',
      'checks[2].maxMs': 'Enter a number',
      'checks[2].weight': 'Must be a number from 0 to 1,000',
      'checks[3].threshold': 'Must be 1 or less',
      'checks[4].min': 'Enter a whole number',
      'checks[5].flags': 'Must be some of i, m and s',
      'checks[6].checks[0].max': 'Must be at least the minimum',
      'checks[6].checks[1].max': 'Enter a minimum or a maximum',
      'checks[7].checks': 'Add a check',
    });
  });
});

const columns = [
  { name: 'Title', type: 'text' },
  { name: 'ticket_text', type: 'text' },
  { name: 'customer', type: 'json' },
  { name: 'gold', type: 'expected' },
] as const;

describe('columns of a setup', () => {
  const needs = [
    { template: parseTemplate('{{ticket.text}} {{customer.name}} {{#if vip}}!{{/if}} {{tone}}'), defaults: ['tone'] },
    { template: parseTemplate('{{gold}}'), defaults: [] },
  ];

  test('variables need a column unless they have a default or only decide', () => {
    const needed = neededVariables(needs);
    expect(needed).toEqual(['ticket.text', 'customer.name', 'gold']);
    // A column for checks fills no variable, unless it is mapped.
    expect(missingVariables(needed, columns, { variables: {} })).toEqual(['ticket.text', 'gold']);
    expect(missingVariables(needed, columns, { variables: { 'ticket.text': 'gone', gold: 'gold' } })).toEqual([
      'ticket.text',
    ]);
    expect(missingVariables(needed, columns, { variables: { ticket: 'customer', gold: 'Title' } })).toEqual([]);
  });

  test('the column with the most similar name is suggested', () => {
    expect(suggestedColumn('ticket.text', columns)).toBe('ticket_text');
    expect(suggestedColumn('order.title', columns)).toBe('Title');
    expect(suggestedColumn('order.no', columns)).toBeNull();
  });

  test('a column has one use, and a change of it leaves the others', () => {
    const before = { variables: { 'ticket.text': 'Title', x: 'gold' }, checksOnly: [], titleColumn: null };
    const [title, text, customer, gold] = columns;
    const names = ['ticket.text', 'customer.name', 'x'];
    expect(targetOf(title, names, before)).toEqual({ kind: 'variable', name: 'ticket.text' });
    expect(targetOf(text, names, before)).toEqual({ kind: 'none' });
    expect(targetOf(customer, names, before)).toEqual({ kind: 'variable', name: 'customer' });
    expect(targetOf(gold, names, { ...before, variables: {} })).toEqual({ kind: 'checks' });
    const after = targetChange('Title', { kind: 'title' }, before);
    expect(after).toEqual({ variables: { x: 'gold' }, checksOnly: [], titleColumn: 'Title' });
    expect(targetChange('Title', { kind: 'checks' }, after)).toEqual({
      variables: { x: 'gold' },
      checksOnly: ['Title'],
      titleColumn: null,
    });
  });
});

const dataset = { id, version: 2, name: 'Tickets', rowCount: 3, columns } as unknown as Dataset;
const context = { dataset, needed: [], models: [] };

function setup(change: Partial<SetupDraft> = {}): SetupDraft {
  const variant = draftVariant(getActiveDraft(useDrafts.getState()), { isVersion: false });
  return { ...emptySetup({ variants: [variant, { ...variant, id: 'b' }], datasetId: id }), ...change };
}

describe('a setup', () => {
  test('becomes the request of a comparison, and is read back from it', () => {
    const draft = setup({
      name: ' Mine ',
      baselineId: 'b',
      variables: { ticket: 'Title', old: 'gone' },
      titleColumn: 'Title',
      repeats: '3',
      maxCost: '$2,50',
      isRandomOrder: true,
      seed: '7',
      checks: writeChecks([{ kind: 'contains', column: 'gold' }]),
    });
    const { input, problems } = readSetup(draft, context);
    expect([...problems]).toEqual([]);
    expect(comparisonInput.safeParse(input).success).toBe(true);
    expect(input).toMatchObject({
      name: 'Mine',
      datasetId: id,
      baseline: 'B',
      variables: { ticket: 'Title' },
      titleColumn: 'Title',
      repeats: 3,
      maxCost: 2.5,
      seed: 7,
      variants: [
        { name: 'A', aiSystem: 'ServiceAi', configuration: { max_tokens: 120, temperature: 0.2, top_p: 0.95 } },
        { name: 'B' },
      ],
    });
    const variants = input!.variants.map((variant) => ({ ...variant, promptId: null, promptVersionId: null }));
    const comparison = { basedOn: null, ...input!, variants, datasetVersion: 2 } as unknown as Comparison;
    const again = readSetup(writeSetup(comparison), context).input;
    expect(again).toEqual({ ...input, datasetVersion: 2 });
  });

  test('has its columns also while its dataset loads', () => {
    const filled = { variables: { ticket: 'Title' }, titleColumn: 'Title' };
    expect(readSetup(setup(filled), { ...context, dataset: null }).input).toMatchObject(filled);
    expect(readSetup(setup(), { ...context, dataset: null }).input).not.toHaveProperty('titleColumn');
  });

  test('names every field that is wrong', () => {
    const draft = setup({ datasetId: null, repeats: '0', concurrency: 'many', maxCost: '-1', attempts: '11' });
    const [variant] = draft.variants;
    const variants = [
      { ...variant!, prompt: null },
      { ...variant!, id: 'b', parameters: { temperature: '3' } },
    ];
    const { input, problems } = readSetup({ ...draft, variants }, { ...context, dataset: null });
    expect(input).toBeNull();
    expect(Object.fromEntries(problems)).toEqual({
      'variants[0].prompt': 'Choose a prompt',
      'variants[1].configuration': 'temperature: Must be 2 or less',
      datasetId: 'Choose a dataset or import a file',
      repeats: 'Must be 1 or more',
      concurrency: 'Enter a whole number',
      maxCost: 'Enter dollars above 0',
      attempts: 'Must be 10 or less',
    });
    expect(readSetup(setup({ variants: [] }), context).problems.get('variants')).toBe('Add a variant');
    const missing = readSetup(setup(), { ...context, needed: ['ticket.text'] }).problems;
    expect(missing.get('variables.ticket.text')).toBe('No column for ticket.text');
    const twice = setup({ variants: draft.variants.map((one) => ({ ...one, name: 'same' })) });
    expect(readSetup(twice, context).problems.get('variants[1].name')).toBe('Is given more than once');
  });

  test('starts with the values of the open prompt', () => {
    const open = getActiveDraft(useDrafts.getState());
    expect(valuesDataset(open)).toMatchObject({
      columns: [
        { name: 'passage', type: 'text' },
        { name: 'question', type: 'text' },
      ],
      rows: [exampleDraft.values],
    });
    expect(valuesDataset({ ...open, promptText: 'Hello' })).toBeNull();
    const json = { ...open, promptText: '{{#each list}}{{this}}{{/each}}', values: { list: '["a"]' } };
    expect(valuesDataset(json)).toMatchObject({ columns: [{ name: 'list', type: 'json' }], rows: [{ list: ['a'] }] });
  });
});

test('the verdict of a list is about the best variant, or else the first that is worse', () => {
  const report = (...verdicts: ['better' | 'worse' | 'unclear', number][]) =>
    ({
      variants: [
        { difference: null },
        ...verdicts.map(([verdict, estimate]) => ({
          difference: { verdict, estimate, sentence: `${verdict} ${estimate}` },
        })),
      ],
    }) as unknown as ComparisonReport;
  expect(verdictOf(report(['unclear', 0.3], ['better', 0.1], ['better', 0.2]))).toBe('better 0.2');
  expect(verdictOf(report(['unclear', 0.3], ['worse', -0.1]))).toBe('worse -0.1');
  expect(verdictOf(report(['unclear', 0.3]))).toBe('unclear 0.3');
  expect(verdictOf(report())).toBeNull();
});
