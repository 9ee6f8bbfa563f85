// @module-tag slow
import { expect, test } from 'vitest';
import { joinMessages, splitMessages, type WrittenBlock } from '../../../shared/prompt-messages.ts';
import { fc } from '../../support/fast-check.ts';
import { template } from '../../support/template-generator.ts';

const read = (text: string) => splitMessages(text)?.map(({ role, text: body }) => [role, body]) ?? null;

const fragment = fc.oneof(
  template,
  fc.constantFrom(
    ' ',
    '\n',
    '{',
    '}',
    '\\',
    '\\\\',
    'text',
    '{{#if a}}',
    '{{/if}}',
    '{{!-- ',
    '{{role}}',
    '{{role "tool"}}',
  ),
  fc
    .tuple(
      fc.constantFrom('{{', '{{~', '{{{', '{{&', '{{ '),
      fc.constantFrom('"system"', '"user"', "'model'", '"assistant"'),
      fc.constantFrom('}}', '~}}', '}}}', '\n}}'),
    )
    .map(([open, role, close]) => `${open}role ${role}${close}`),
);
const source = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(''));

test('a template without roles is one user message', () => {
  expect(splitMessages('Hello {{name}}\n')).toEqual([
    { role: 'user', opening: '', text: 'Hello {{name}}\n', start: 0, end: 15 },
  ]);
  expect(read('')).toEqual([['user', '']]);
});

test('splits at the roles, with offsets', () => {
  const text = 'Hi\n{{role "system"}}Be kind.\n{{~role "model"~}}\nHello';
  const blocks = splitMessages(text)!;
  expect(blocks.map(({ role, opening, text: body }) => [role, opening, body])).toEqual([
    ['user', '', 'Hi\n'],
    ['system', '{{role "system"}}', 'Be kind.'],
    ['assistant', '\n{{~role "model"~}}\n', 'Hello'],
  ]);
  for (const { start, end, opening, text: body } of blocks) expect(text.slice(start, end)).toBe(opening + body);
});

test('white space before the first role makes no message', () => {
  expect(read(' \n{{role "system"}}S')).toEqual([['system', 'S']]);
});

test('a role directly after escaped braces keeps its tag', () => {
  const text = '\\{{{{role "system"}}Be kind.';
  expect(read(text)).toEqual([
    ['user', '\\{{'],
    ['system', 'Be kind.'],
  ]);
  expect(joinMessages(splitMessages(text)!)).toBe(text);
});

test("roles inside blocks can't be split", () => {
  expect(splitMessages('{{#each items}}{{role "user"}}{{this}}{{/each}}')).toBeNull();
});

test('a role without a known name, an escaped one and one in a comment are text', () => {
  for (const text of [
    '{{role}}',
    '{{role "tool"}}',
    '{{role name}}',
    '\\{{role "user"}}',
    '{{!-- {{role "user"}} --}}',
    '{{role "user"}}}',
  ]) {
    expect(read(text)).toEqual([['user', text]]);
  }
});

test('joins what it split without loss', () => {
  let several = 0;
  fc.assert(
    fc.property(source, (text) => {
      const blocks = splitMessages(text);
      if (!blocks) return;
      if (blocks.length > 1) several++;
      expect(joinMessages(blocks)).toBe(text);
      expect(blocks.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
    }),
    { numRuns: 2000, endOnFailure: true },
  );
  expect(several).toBeGreaterThan(200);
});

const role = fc.constantFrom('system', 'user', 'assistant');
const body = fc.constantFrom(
  '',
  ' ',
  'text',
  ' text',
  'text\n',
  '{',
  '}',
  '\\',
  'a\\\\',
  '{{name}}',
  '{{~name~}}',
  '\n',
);

test('new, moved and changed blocks keep their roles and texts', () => {
  const block: fc.Arbitrary<WrittenBlock> = fc.record(
    {
      role,
      text: body,
      opening: fc.constantFrom('', '{{role "user"}}', '\n{{~role "system"~}}\n', '\n{{role "model"}}'),
    },
    { requiredKeys: ['role', 'text'] },
  ) as fc.Arbitrary<WrittenBlock>;
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), (blocks) => {
      const text = joinMessages(blocks);
      expect(read(text)).toEqual(blocks.map((one) => [one.role, one.text]));
    }),
    { numRuns: 2000, endOnFailure: true },
  );
});

test('writes new messages on separate lines', () => {
  expect(
    joinMessages([
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'Hello\n' },
      { role: 'user', text: ' Bye' },
    ]),
  ).toBe('{{role "system"~}}\nBe kind.\n{{~role "user"~}}\nHi\n{{~role "model"~}}\nHello\n{{role "user"}} Bye');
});

test('splits 4 MB of roles', () => {
  const text = '{{role "user"}}'.repeat(280_000);
  expect(splitMessages(text)).toHaveLength(280_000);
});
