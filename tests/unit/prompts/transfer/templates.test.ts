import nunjucks from 'nunjucks';
import { describe, expect, test } from 'vitest';
import { literalTemplate, translateJinja } from '../../../../electron/prompts/transfer/templates/template-syntax.ts';
import { translateSingleBraces } from '../../../../electron/prompts/transfer/finish-draft.ts';
import { TransferError } from '../../../../electron/prompts/transfer/source-text.ts';
import { parseTemplate, renderTemplate } from '../../../../shared/prompt-template.ts';
import { fc } from '../../../support/fast-check.ts';

const rendered = (template: string, values: Record<string, unknown> = {}) =>
  renderTemplate(parseTemplate(template), values).text;

function attempt<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof TransferError || String(error).includes('Template render error')) return null;
    throw error;
  }
}

const nasty = fc.string({
  unit: fc.constantFrom(
    '{',
    '{{',
    '}',
    '}}',
    '\\',
    '\n',
    ' ',
    'a',
    '{{!',
    '{{{',
    '#',
    '%',
    '~',
    '\r\n',
    '{{x}}',
    '\\{{',
  ),
  maxLength: 30,
});

test('a text that is converted to a template renders as itself', () => {
  fc.assert(
    fc.property(nasty, (text) => {
      expect(rendered(literalTemplate(text))).toBe(text);
    }),
    { numRuns: 1500 },
  );
});

describe('single braces', () => {
  /** The same text as Python's `format` would fill it. */
  const piece = fc.oneof(
    fc.constantFrom('{{', '}}', '\\', '\n', ' ', 'a', '"', '\\\\').map((written) => ({
      written,
      meant: written === '{{' ? '{' : written === '}}' ? '}' : written,
    })),
    fc
      .constantFrom('name', 'if', 'this', 'else', 'true', 'x_1', 'as')
      .map((name) => ({ written: `{${name}}`, meant: `<${name}>` })),
  );

  test('render as before', () => {
    const values = Object.fromEntries(
      ['name', 'if', 'this', 'else', 'true', 'x_1', 'as'].map((name) => [name, `<${name}>`]),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.map(({ written }) => written).join('');
        expect(rendered(translateSingleBraces(text), values)).toBe(pieces.map(({ meant }) => meant).join(''));
      }),
      { numRuns: 1500 },
    );
  });

  test.each([
    ['Say {name!r}', "{name!r} isn't a variable name", 1],
    ['a\n{price:.2f}', "{price:.2f} isn't a variable name", 2],
    ['{a.b}', "{a.b} isn't a variable name", 1],
    ['{}', "{} isn't a variable name", 1],
    ['a\n\nb } c', 'Unmatched }', 3],
  ])('rejects %j', (text, message, line) => {
    expect(() => translateSingleBraces(text)).toThrow(expect.objectContaining({ message, line }));
  });
});

describe('Jinja', () => {
  const environment = new nunjucks.Environment(null, { autoescape: false });
  const values = { a: 'one', b: '', c: '<&>', o: { k: 'two', n: { m: 'three' } }, l: ['x', 'y'] };

  const texts = ['text', ' ', '\n', '\n\n', '  \n', '{', '}', '\\', '"', '}}', '\r\n', '\t', '%}', '#}'];
  const tags = [
    '{{ a }}',
    '{{b}}',
    '{{ o.k }}',
    "{{ o['n'].m }}",
    '{{ l[1] }}',
    '{{ missing }}',
    '{% raw %}{{ a }}{% if %}{% endraw %}',
    '{%raw%} \n {%  endraw %}',
  ];
  const template = fc
    .array(fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...tags)), { maxLength: 12 })
    .map((pieces) => pieces.join(''));

  test('renders as in Nunjucks itself', () => {
    let translated = 0;
    fc.assert(
      fc.property(template, (text) => {
        // Random pieces may be no template at all, and some have no exact counterpart.
        const expected = attempt(() => environment.renderString(text, values));
        const made = attempt(() => translateJinja(text));
        if (expected === null || made === null) return;
        translated += 1;
        expect({ made, text: rendered(made, values) }).toEqual({ made, text: expected });
      }),
      { numRuns: 2000 },
    );
    expect(translated).toBeGreaterThan(300);
  });

  test.each([
    '{% if a %}x{% endif %}',
    '{% for x in l %}{{ x }}{% endfor %}',
    '{# note #}',
    '{{- a }}',
    '{{ a | upper }}',
    '{{ a | safe }}',
    '{{ a + b }}',
    '{%- raw %}x{% endraw %}',
  ])('rejects %s with its line', (text) => {
    expect(() => translateJinja(`a\n${text}`)).toThrow(expect.objectContaining({ line: 2 }));
  });

  test.each(['{{ a', '{% raw %}a', '{# a'])('rejects %s, which is never closed', (text) => {
    expect(() => translateJinja(text)).toThrow(/closed/);
  });
});
