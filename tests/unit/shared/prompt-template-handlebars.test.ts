// @module-tag slow
import { parse } from '@handlebars/parser';
import { expect, test } from 'vitest';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import { handlebarsExamples } from '../../fixtures/handlebars-examples.ts';
import { fc } from '../../support/fast-check.ts';
import { createHandlebars } from '../../support/handlebars-peer.ts';
import { replacements, template } from '../../support/template-generator.ts';

const peer = createHandlebars();

/** Chains are read by the newer parser for both: Handlebars 4.7 itself leaves white space before the end of a chain. */
function renderWithHandlebars(text: string, data: object): string {
  const source = /else\s+if/.test(text) ? (parse(text) as hbs.AST.Program) : text;
  return peer.compile(source, { noEscape: true })(data);
}

function outcome(render: () => string): { text: string } | 'refused' {
  try {
    return { text: render() };
  } catch {
    return 'refused';
  }
}

test('renders generated templates like Handlebars itself', () => {
  let rendered = 0;
  fc.assert(
    fc.property(template, replacements, (text, data) => {
      const ours = outcome(() => renderTemplate(parseTemplate(text), data).text);
      const theirs = outcome(() => renderWithHandlebars(text, data));
      if (ours !== 'refused' && theirs !== 'refused') rendered++;
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 600, endOnFailure: true },
  );
  expect(rendered).toBeGreaterThan(300);
});

test.each(handlebarsExamples)(
  'renders the documentation example "$title" as Handlebars does',
  ({ text, data, output }) => {
    expect({
      ours: renderTemplate(parseTemplate(text), data).text,
      theirs: renderWithHandlebars(text, data),
    }).toEqual({ ours: output, theirs: output });
  },
);
