import { expect, test } from 'vitest';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { memberNames, readFields, readReplacements, writeFields } from '../../../../renderer/drafts/variable-model.ts';

function fieldsOf(template: string, values: Record<string, string> = {}, jsonNames: string[] = []) {
  return readFields(parseTemplate(template).variables, { values, jsonNames });
}

test('fields are in the order of the text, each with its use', () => {
  const fields = fieldsOf('{{b.c}} {{#each orders}}{{id}}{{/each}}{{#if late}}x{{/if}}{{b.c}}', { 'b.c': 'filled' });
  expect(fields.map(({ name, kind, isJson, isFilled }) => ({ name, kind, isJson, isFilled }))).toEqual([
    { name: 'b.c', kind: 'text', isJson: false, isFilled: true },
    { name: 'orders', kind: 'list', isJson: true, isFilled: false },
    { name: 'late', kind: 'condition', isJson: false, isFilled: false },
  ]);
});

test('a variable that is used whole and in parts has one field, for JSON', () => {
  expect(fieldsOf('{{a}} {{a.b}}').map(({ name, isJson }) => ({ name, isJson }))).toEqual([
    { name: 'a', isJson: true },
  ]);
});

test.each([
  ['[{"id": "NW",}]', 'Invalid JSON at line 1, column 14: expected double-quoted property name'],
  ['[1,\n2', "Invalid JSON at line 2, column 2: expected ',' or ']' after array element"],
  ['[1', 'Invalid JSON at line 1, column 3: the text ends too early'],
  ['nope', 'Invalid JSON at line 1, column 2: unexpected "o"'],
  ['7', 'Must be a JSON list, such as ["a", "b"]'],
])('rejects the list %j at its position', (text, problem) => {
  const [field] = fieldsOf('{{#each items}}{{this}}{{/each}}', { items: text });
  expect(field?.problem).toMatch(problem.startsWith('Invalid JSON') ? new RegExp(`^${problem.slice(0, 22)}`) : problem);
  expect(field?.problem === null).toBe(false);
});

test('replacements are nested by their names and contain only valid, non-empty fields', () => {
  const template = '{{a.b}} {{a.c}} {{d}} {{empty}} {{#each list}}{{this}}{{/each}} {{__proto__}}';
  const values = { 'a.b': '1', 'a.c': '2', d: '{"n": 3}', empty: ' ', list: '[broken' };
  expect(readReplacements(fieldsOf(template, values, ['d']))).toEqual({ a: { b: '1', c: '2' }, d: { n: 3 } });
});

test('a variable named like a prototype is an ordinary name', () => {
  const replacements = readReplacements(fieldsOf('{{constructor}}', { constructor: 'x' }));
  expect(Object.entries(replacements)).toEqual([['constructor', 'x']]);
});

test('replacements fill the fields that send them again', () => {
  const { variables } = parseTemplate('{{a.b}} {{n}} {{#each list}}{{id}}{{/each}} {{flat.key}} {{unused}}');
  const sent = { a: { b: 'text' }, n: 5, list: [{ id: 1 }], 'flat.key': 'x' };
  const written = writeFields(variables, sent);
  expect(written.values).toEqual({ 'a.b': 'text', n: '5', list: '[\n  {\n    "id": 1\n  }\n]', 'flat.key': 'x' });
  expect(readReplacements(readFields(variables, written))).toEqual({
    a: { b: 'text' },
    n: 5,
    list: [{ id: 1 }],
    flat: { key: 'x' },
  });
});

test('names inside a list come from the template and from its value', () => {
  const [field] = fieldsOf('{{#each orders}}{{id}}{{/each}}', { orders: '[{"item": "Frame", "late": 6}]' });
  expect(field && memberNames(field)).toEqual(['id', 'item', 'late']);
});
