import { describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { createTemplateCache, parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';

function render(text: string, replacements: Record<string, unknown> = {}) {
  const { text: rendered, unfilled } = renderTemplate(parseTemplate(text), replacements);
  return { text: rendered, unfilled };
}

function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('Nothing was refused');
}

describe('rendering', () => {
  test('lists each variable without a value once, in the order of the text', () => {
    expect(render('Dear {{name}}, {{greeting}} {{name}} {{b.c}} {{given}}', { given: '' })).toEqual({
      text: 'Dear ,    ',
      unfilled: ['name', 'greeting', 'b.c'],
    });
  });

  test('lists missing fields of items with their list, and a list or object that is missing completely', () => {
    const text =
      '{{#each items}}{{name}}{{@index}}{{/each}}{{#each none}}x{{/each}}{{#with who}}x{{/with}}{{lookup m "k"}}';
    expect(render(text, { items: [{ name: 'a' }, {}], m: {} })).toEqual({
      text: 'a01',
      unfilled: ['items.name', 'none', 'who', 'm.k'],
    });
  });

  test("doesn't list values that are only tested, or have an else", () => {
    expect(render('{{#if a}}x{{/if}}{{#unless b}}y{{/unless}}{{#each c}}{{else}}none{{/each}}{{#d}}{{/d}}')).toEqual({
      text: 'ynone',
      unfilled: [],
    });
  });

  test('a null replacement counts, and renders empty', () => {
    expect(render('[{{a}}]', { a: null })).toEqual({ text: '[]', unfilled: [] });
  });

  test('a key with dots fills the placeholder with the same text, unless an object does', () => {
    const text =
      '{{customer.name}} {{a/b}} {{#if customer.name}}yes{{/if}}{{#each list}} {{../customer.name}}{{/each}}';
    expect(render(text, { 'customer.name': 'flat', 'a/b': 'slash', list: [1] }).text).toBe('flat slash yes flat');
    expect(render(text, { customer: { name: 'deep' }, 'customer.name': 'flat', a: { b: 1 }, list: [] }).text).toBe(
      'deep 1 yes',
    );
  });

  test('consecutive values are joined, also numbers', () => {
    expect(render('{{a}}{{a}}{{b}}', { a: 1, b: true }).text).toBe('11true');
  });

  test('own properties only, with any names in the data', () => {
    const hostile = JSON.parse(
      '{"constructor": "own", "__proto__": {"x": "own too"}, "o": {"toString": 1, "valueOf": 2}}',
    ) as Record<string, unknown>;
    expect(
      render('{{constructor}} {{__proto__.x}} {{o}} {{o.hasOwnProperty}}{{lookup o "__proto__"}}', hostile).text,
    ).toBe('own own too [object Object] ');
    expect(
      render('{{constructor}}{{__proto__}}{{toString}}{{#with __proto__}}x{{/with}}{{f}}', { f: () => 'called' }).text,
    ).toBe('');
  });

  test('text without tags stays unchanged', () => {
    expect(render('{ "a": "\\{" } }} \u0000')).toEqual({ text: '{ "a": "\\{" } }} \u0000', unfilled: [] });
  });
});

describe('problems', () => {
  const cases: [text: string, line: number, column: number, issue: RegExp][] = [
    ['Hi {{name', 1, 4, /never closed/],
    ['{{!-- note', 1, 1, /comment is never closed/],
    ['a\n{{#if b}}\n{{#each c}}{{/each}}', 2, 1, /\{\{#if\}\} is never closed: \{\{\/if\}\} is missing/],
    ['{{#if a}}{{/each}}', 1, 13, /\{\{\/each\}\} stands where \{\{\/if\}\} is needed/],
    ['x {{/if}}', 1, 3, /closes a block that is not open/],
    ['x {{else}}', 1, 3, /outside of a block/],
    ['x {{}}', 1, 3, /empty/],
    ['{{a ! b}}', 1, 5, /"!" cannot stand here/],
    ['{{a/../b}}', 1, 3, /Invalid path: a\/\.\./],
    ['\r\n\r{{first name}}', 3, 3, /\{\{\[first name\]\}\}/],
    ['{{shout "x"}}', 1, 3, /no helper "shout"/],
    ['{{log x}}', 1, 3, /no helper "log"/],
    ['{{#repeat 3}}x{{/repeat}}', 1, 4, /no helper "repeat"/],
    ['{{name size=1}}', 1, 3, /no helper "name"/],
    ['{{> header}}', 1, 1, /Partials/],
    ['{{#> layout}}x{{/layout}}', 1, 1, /Partials/],
    ['{{* decorate}}', 1, 1, /Decorators/],
    ['{{#* inline "x"}}y{{/inline}}', 1, 1, /Decorators/],
    ['{{if a}}', 1, 3, /opens a block: write \{\{#if/],
    ['{{#if}}x{{/if}}', 1, 4, /takes one value/],
    ['{{#each a b}}x{{/each}}', 1, 4, /takes one value/],
    ['{{#if a b=1}}x{{/if}}', 1, 9, /no option "b"/],
    ['{{#each a includeZero=true}}x{{/each}}', 1, 11, /no option "includeZero"/],
    ['{{#if a as |b|}}x{{/if}}', 1, 4, /no block parameters/],
    ['{{lookup a}}', 1, 3, /a value and a key/],
    ['{{#lookup a b}}x{{/lookup}}', 1, 4, /opens no block/],
    ['{{#if (eq a b)}}x{{/if}}', 1, 8, /"eq" cannot stand in parentheses/],
    ['{{(lookup a b)}}', 1, 3, /starts with the name/],
    ['{{a\u0000}}', 1, 4, /U\+0000/],
  ];

  test.each(cases)('%j: line %i, column %i', (text, line, column, issue) => {
    const { problems, program } = parseTemplate(text);
    expect(problems[0]).toEqual({ field: 'promptText', issue: expect.stringMatching(issue), line, column });
    expect(program).toBeNull();
    const error = refusal(() => render(text));
    expect([error.code, error.details]).toEqual(['invalid_request', problems]);
  });

  test('reports every mistake in the use of names at once', () => {
    expect(parseTemplate('{{a b}}\n{{> c}}\n{{#if}}{{d e}}{{/if}}').problems.map(({ line }) => line)).toEqual([
      1, 2, 3,
    ]);
  });

  test('reports at most 50 mistakes', () => {
    expect(parseTemplate('{{a b}}'.repeat(1000)).problems).toHaveLength(50);
  });

  test('U+2028 ends no line', () => {
    expect(parseTemplate('\u2028{{a}}\n\u2028{{b c}}').problems).toMatchObject([{ line: 2, column: 4 }]);
  });
});

describe('limits', () => {
  const fill = (unit: string) => unit.repeat(Math.floor((4 * 1_048_576) / unit.length));

  const hostile: [name: string, text: string][] = [
    ['a million tags', fill('{{a}}')],
    ['a million comments', fill('{{!----}}')],
    ['a million segments', fill('{{[a]}}')],
    ['deep blocks', fill('{{#a}}')],
    ['a chain of else-ifs', `{{#if a}}${fill('{{else if b}}')}`],
    ['deep parentheses', `{{a ${fill('(')}`],
    ['one long tag', `{{a ${fill('b ')}}}`],
    ['a long path', `{{a${fill('.b')}}}`],
    ['a long way up', `{{${fill('../')}a}}`],
    ['an open string', `{{a "${fill('x')}`],
    ['an open segment', `{{a ${fill('[')}`],
    ['only braces', fill('{')],
    ['a string of tags before a mistake', `{{x "${fill('{{a')}"}} {{/if}}`],
    ['a string of segments before a mistake', `{{x "${fill('{{[')}"}} {{/if}}`],
    ['a string of raw blocks before a mistake', `{{x "${fill('{{{{a}}}}')}"}} {{/if}}`],
    ['blocks within blocks', `${'{{#if a}}'.repeat(99)}${fill('{{b}}')}`],
  ];

  test.each(hostile)('%s of 4 MB: a problem with its position, not a crash', (_, text) => {
    expect(parseTemplate(text).problems[0]).toEqual({
      field: 'promptText',
      issue: expect.any(String),
      line: 1,
      column: expect.any(Number),
    });
  });

  test('accepts 100 nested blocks, but not 101', () => {
    const nested = (depth: number) => `${'{{#if a}}'.repeat(depth)}deep${'{{/if}}'.repeat(depth)}`;
    expect(render(nested(100), { a: 1 }).text).toBe('deep');
    expect(parseTemplate(nested(101)).problems[0]?.issue).toMatch(/deeper than 100/);
  });

  test("a chain of else-ifs counts as nesting, consecutive blocks don't", () => {
    const chain = (length: number) => `{{#if a}}${'{{else if b}}'.repeat(length)}{{/if}}`;
    expect(parseTemplate(chain(99)).problems).toEqual([]);
    expect(parseTemplate(chain(100)).problems).toHaveLength(1);
    expect(parseTemplate(chain(50).repeat(20)).problems).toEqual([]);
  });

  const digits = '1'.repeat(1_000_000);
  const twoByteDigits = `1${'0'.repeat(999_998)}\u2009`;
  const deepObject = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as object;
  test.each([
    ['compares a text with a number', '{{#each l}}{{#with ../s}}{{/with}}{{/each}}', { s: digits }],
    ['compares a two-byte text with a number', '{{#each l}}{{#with ../s}}{{/with}}{{/each}}', { s: twoByteDigits }],
    [
      'compares a number with a text',
      '{{#with s}}{{#each ../l}}{{#with ../../s}}{{/with}}{{/each}}{{/with}}',
      { s: digits },
    ],
    [
      'compares equal texts',
      '{{#with s}}{{#each ../l}}{{#with ../../t}}{{/with}}{{/each}}{{/with}}',
      { s: digits, t: `1${digits.slice(1)}` },
    ],
    ['compares a list with a number', '{{#each l}}{{#with ../s}}{{/with}}{{/each}}', { s: [digits] }],
    ['looks a long key up', '{{#each l}}{{lookup ../o ../s}}{{/each}}', { o: { a: 1 }, s: digits }],
    [
      'looks up a key that V8 hashes by its length',
      '{{#each l}}{{lookup ../o ../s}}{{/each}}',
      { o: { a: 1 }, s: ['x'.repeat(17_000)] },
    ],
    ['follows a long path', `{{#each l}}{{#if ../deep${'.a'.repeat(9_000)}}}{{/if}}{{/each}}`, { deep: deepObject }],
    ['prints a long text', '{{#each l}}{{../s}}{{/each}}', { s: digits.slice(0, 100_000) }],
    ['looks for objects in a long list', '{{#each l}}{{../s}}{{/each}}', { s: [digits.slice(0, 100_000)] }],
  ])('a template that repeatedly %s uses steps by the length', (_, text, values) => {
    const template = parseTemplate(text);
    expect(template.problems).toEqual([]);
    const l = Array.from({ length: 50 }, (__, index) => index + 2);
    const limits = { steps: 20_000, characters: 8 * 1_048_576 };
    expect(refusal(() => renderTemplate(template, { ...values, l }, limits)).details).toEqual([
      { field: 'promptText', issue: expect.stringContaining('steps') },
    ]);
  });

  test('long values that are used once leave nearly all steps', () => {
    const text = '{{#with s}}{{.}}{{/with}}{{#if s}}{{#each l}}{{#with ../t}}{{/with}}{{/each}}{{/if}}{{lookup o s}}';
    const values = { s: digits, t: digits.slice(1), l: Array.from({ length: 10 }, () => `x${digits}`), o: { a: 1 } };
    expect(renderTemplate(parseTemplate(text), values, { steps: 90_000, characters: 4_000_000 }).text).toBe(digits);
  });

  test('loops end at the limit of steps', () => {
    const list = Array.from({ length: 200 }, () => 0);
    const loops = `${'{{#each @root.list}}'.repeat(6)}.${'{{/each}}'.repeat(6)}`;
    const error = refusal(() => render(loops, { list }));
    expect([error.code, error.details]).toEqual([
      'invalid_request',
      [{ field: 'promptText', issue: expect.stringContaining('steps') }],
    ]);
  });

  test('output ends at the limit of characters, also in nested lists', () => {
    const list = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    const issue = [{ field: 'promptText', issue: expect.stringContaining('longer than') }];
    expect(refusal(() => render('{{#each list}}{{../list}}{{/each}}', { list })).details).toEqual(issue);
    expect(refusal(() => render('{{list}}', { list: list.map(() => list) })).details).toEqual(issue);
  });

  test('prints lists nested a hundred thousand deep without an overflow', () => {
    let deep: unknown = 'core';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(render('{{deep}}', { deep }).text).toBe('core');
  });

  test('limits can be set lower', () => {
    const template = parseTemplate('{{a}}{{a}}');
    const limited = () => renderTemplate(template, { a: 'abc' }, { steps: 100, characters: 5 });
    expect(refusal(limited).message).toMatch(/longer than 5 characters/);
  });
});

describe('the cache', () => {
  test('returns the same parsed template for the same text', () => {
    const parse = createTemplateCache();
    expect(parse('{{a}}')).toBe(parse('{{a}}'));
  });

  test('drops the least recently used entry', () => {
    const parse = createTemplateCache({ templates: 2, characters: 1000 });
    const [a, b] = [parse('{{a}}'), parse('{{b}}')];
    expect(parse('{{a}}')).toBe(a);
    parse('{{c}}');
    expect([parse('{{a}}') === a, parse('{{b}}') === b]).toEqual([true, false]);
  });

  test('keeps no more characters than its limit', () => {
    const parse = createTemplateCache({ templates: 100, characters: 12 });
    const a = parse('{{a}}');
    parse('{{bb}}');
    parse('{{ccc}}');
    expect(parse('{{a}}')).not.toBe(a);
  });
});

describe('printed objects', () => {
  const tagsOf = (text: string) =>
    parseTemplate(text).objectTags.map(({ written, line, column }) => [written, line, column]);

  test.each([
    ['Hi {{.}}', [['.', 1, 6]]],
    ['a\n{{this}}{{#each l}}{{this}}{{.}}{{/each}}', [['this', 2, 3]]],
    ['{{customer}} {{customer.name}}', [['customer', 1, 3]]],
    [
      '{{#each l}}{{this}}: {{name}}{{/each}}{{l}}',
      [
        ['this', 1, 14],
        ['l', 1, 41],
      ],
    ],
    ['{{#if name.length}}{{name}}{{/if}}{{l}}{{#each l}}{{this}}{{/each}}{{l.length}}', []],
    ['{{#with customer}}{{name}}{{/with}}{{#if customer}}x{{/if}}', []],
  ])('lists tags that print an object for any values: %j', (text, tags) => {
    expect(tagsOf(text)).toEqual(tags);
  });

  test('a rendering lists the values that it printed as objects, each once', () => {
    const template = parseTemplate('{{a}}{{a}}{{b}}{{c}}{{d}}{{#each l}}{{this}}{{/each}}');
    const values = { a: {}, b: [1, [{}]], c: [1, 'x'], d: '[object Object]', l: [{ x: 1 }] };
    expect(renderTemplate(template, values).objects).toEqual(['a', 'b', 'l']);
  });
});
