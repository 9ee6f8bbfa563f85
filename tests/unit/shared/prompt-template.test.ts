import { expect, test } from 'vitest';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';

test('fills placeholders and names those without a replacement', () => {
  const template = parseTemplate('Dear {{name}}, {{greeting}}');
  expect(renderTemplate(template, { name: 'Ada' })).toEqual({ text: 'Dear Ada, ', unfilled: ['greeting'] });
});
