import { fc } from './fast-check.ts';

/** Templates that use everything the template language has, and data that fits them often enough to be interesting. */

const name = fc.constantFrom(
  'a',
  'b',
  'items',
  'user',
  'name',
  'x-y',
  'this',
  '[a b]',
  'a.b',
  'user/name',
  'items.[0]',
  'length',
);
const up = fc.constantFrom('', '', '', '', '../', './', '@root.', 'this.');
const data = fc.constantFrom('@index', '@key', '@first', '@last', '@root', '@../index', '@root.user.name');
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(up, name)
      .map(([prefix, one]) => (prefix === '@root.' && one === 'this' ? '@root' : prefix + one)),
  },
  { weight: 1, arbitrary: data },
  { weight: 1, arbitrary: fc.constantFrom('v', 'k', 'v.name', 'k.length') },
);
const validPath = path.map((one) => one.replace(/^this\.this$/, 'this'));
const literal = fc.constantFrom('"a"', "'b c'", '0', '12', '-1.5', 'true', 'false', 'null', 'undefined');
const lookup = fc.tuple(validPath, fc.oneof(validPath, literal)).map(([target, key]) => `lookup ${target} ${key}`);
const argument = fc.oneof(
  { weight: 5, arbitrary: validPath },
  { weight: 1, arbitrary: literal },
  { weight: 1, arbitrary: lookup.map((call) => `(${call})`) },
);
const space = fc.constantFrom('', '', ' ', '\n', '  \n', ' \n\n ', '\t', '\r\n');
const content = fc.oneof(
  space,
  fc.constantFrom('text', 'x ', '}', '{ ', '<b>&"', '\\', '\n- ', 'ü😀', '\\{{a}}', '\\\\'),
);
const strip = fc.constantFrom('', '', '', '~');

const tag = (inner: string, before: string, after: string): string => `{{${before}${inner}${after}}}`;

const leaf = fc.oneof(
  { weight: 4, arbitrary: content },
  { weight: 4, arbitrary: fc.tuple(validPath, strip, strip).map(([one, before, after]) => tag(one, before, after)) },
  { weight: 1, arbitrary: fc.oneof(lookup, literal).map((one) => `{{ ${one} }}`) },
  { weight: 1, arbitrary: validPath.map((one) => `{{{${one}}}}`) },
  { weight: 1, arbitrary: validPath.map((one) => `{{& ${one}}}`) },
  { weight: 1, arbitrary: fc.tuple(strip, strip).map(([before, after]) => tag('!-- }} --', before, after)) },
  { weight: 1, arbitrary: fc.constant('{{! note }}') },
);

const parameters = fc.constantFrom('', '', ' as |v|', ' as |v k|');

export const template: fc.Arbitrary<string> = fc.letrec<{ body: string; block: string }>((tie) => ({
  body: fc.array(fc.oneof({ depthSize: 'small' }, leaf, tie('block')), { maxLength: 5 }).map((parts) => parts.join('')),
  block: fc
    .record({
      head: fc.oneof(
        fc
          .tuple(
            fc.constantFrom('if', 'unless'),
            argument,
            fc.constantFrom('', '', ' includeZero=true', ' includeZero=a'),
          )
          .map((parts) => ({
            open: `#${parts[0]} ${parts[1]}${parts[2]}`,
            close: parts[0],
          })),
        fc.tuple(fc.constantFrom('each', 'with'), argument, parameters).map((parts) => ({
          open: `#${parts[0]} ${parts[1]}${parts[2]}`,
          close: parts[0],
        })),
        fc.tuple(fc.constantFrom('#', '^'), validPath).map((parts) => ({ open: parts.join(''), close: parts[1] })),
        argument.map((one) => ({ open: `^if ${one}`, close: 'if' })),
      ),
      body: tie('body'),
      chain: fc.option(fc.tuple(argument, tie('body')), { freq: 4, nil: null }),
      otherwise: fc.option(fc.tuple(fc.constantFrom('else', '^'), tie('body')), { freq: 2, nil: null }),
      strips: fc.array(strip, { minLength: 8, maxLength: 8 }),
    })
    .map(({ head, body, chain, otherwise, strips }) => {
      const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = ''] = strips;
      const isInverse = head.open.startsWith('^');
      const chained = chain && !isInverse ? tag(`else if ${chain[0]}`, c, d) + chain[1] : '';
      const other = otherwise ? tag(otherwise[0], e, f) + otherwise[1] : '';
      return tag(head.open, a, b) + body + chained + other + tag(`/${head.close}`, g, h);
    }),
})).body;

const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, -2.5, '', 'text', '<i>', 'length', 'name');
const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'name', 'items', 'user', 'x-y', 'a b'), tie('value'), { maxKeys: 4 }),
  ),
})).value;

export const replacements = fc
  .record(
    { a: value, b: value, items: value, user: value, name: value, 'x-y': value, 'a b': value },
    { requiredKeys: [] },
  )
  // As it comes over a wire: without undefined, without objects that have no prototype.
  .map((values): Record<string, unknown> => JSON.parse(JSON.stringify(values)));
