import { expect, test } from 'vitest';
import { readTemplate } from '../../../../../renderer/screens/playground/template-state.ts';
import { parseTemplate } from '../../../../../shared/prompt-template.ts';

test('names tags that print an object, for any values and for the values that are filled in', () => {
  const template = parseTemplate('{{.}} {{customer}} {{name}}');
  const draft = { values: { customer: '{"name": "Mara"}', name: 'Mara' }, jsonNames: ['customer'] };
  expect(readTemplate(template, template.variables, draft).printedObjects).toEqual(['.', 'customer']);
});
