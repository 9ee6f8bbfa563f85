import { expect, test } from 'vitest';
import { parseTemplate } from '../../../shared/prompt-template.ts';

/** Name and kind of every field, with the fields of items in brackets. */
function fields(text: string): string[] {
  return parseTemplate(text).variables.map(({ name, kind, itemFields }) =>
    [name, kind, ...(itemFields.length === 0 ? [] : [`[${itemFields.join(', ')}]`])].join(' '),
  );
}

test.each<[text: string, expected: string[]]>([
  ['no tags', []],
  ['{{a}} {{{b}}} {{&c}} {{a}}', ['a text', 'b text', 'c text']],
  [
    '{{customer.name}} {{customer/city}} {{[full name]}} {{"quoted"}}',
    ['customer.name text', 'customer.city text', 'full name text', 'quoted text'],
  ],
  ['{{#if a}}x{{else if b}}y{{/if}}{{#unless c}}z{{/unless}}', ['a condition', 'b condition', 'c condition']],
  ['{{#if a}}{{a}}{{/if}}', ['a text']],
  ['{{#if customer}}{{customer.name}}{{/if}}', ['customer.name text']],
  ['{{#each items}}{{name}} {{price.net}}{{/each}}', ['items list [name, price.net]']],
  ['{{#each items}}{{this}} {{@index}} {{.}}{{/each}}', ['items list']],
  ['{{#each items}}{{../title}} {{@root.footer}}{{/each}}', ['items list', 'title text', 'footer text']],
  ['{{#each items as |item index|}}{{index}} {{item.name}} {{title}}{{/each}}', ['items list [name, title]']],
  [
    '{{#each orders}}{{#each lines}}{{sku}} {{../id}} {{../../shop}}{{/each}}{{/each}}',
    ['orders list [lines, id]', 'shop text'],
  ],
  ['{{#if items.length}}{{#each items}}{{this}}{{/each}}{{/if}}', ['items list']],
  ['{{items.[0].name}} {{items.1.name}}', ['items list [name]']],
  [
    '{{#with customer}}{{name}} {{address.city}} {{../title}}{{/with}}',
    ['customer.name text', 'customer.address.city text', 'title text'],
  ],
  ['{{#with customer as |c|}}{{c.name}}{{/with}}', ['customer.name text']],
  ['{{#with customer}}static{{/with}}', ['customer object']],
  ['{{#each customer.orders}}{{id}}{{/each}}{{customer.name}}', ['customer.orders list [id]', 'customer.name text']],
  ['{{#list}}{{name}}{{/list}}{{^list}}none{{/list}}{{#flag}}yes{{/flag}}', ['list list [name]', 'flag condition']],
  ['{{lookup map "key"}} {{lookup map key}}', ['map.key text', 'key text']],
  ['{{#each people}}{{lookup ../cities @index}}{{/each}}', ['people list', 'cities list']],
  ['{{this}} {{@root}} {{@index}} {{! note }}', []],
  ['{{media url=photo}}{{media url=photo}}', ['photo file']],
  ['{{#if photo}}{{media url=photo}}{{/if}}', ['photo file']],
  ['{{#with photo}}{{media url=this}}{{/with}}', ['photo file']],
  ['{{#each photos}}{{media url=this}}{{/each}}', ['photos files']],
  ['{{media url=photos.[0]}}', ['photos files']],
  ['{{#each pages}}{{media url=scan}}{{title}}{{/each}}', ['pages list [scan, title]']],
  ['{{#if (lookup flags name)}}x{{/if}}', ['name text', 'flags object']],
])('%j needs %j', (text, expected) => {
  expect(fields(text)).toEqual(expected);
});

test("returns the position of each variable's first use", () => {
  expect(parseTemplate('Hi {{name}},\n  {{{ user.name }}} {{name}}').variables).toEqual([
    {
      name: 'name',
      kind: 'text',
      itemFields: [],
      line: 1,
      column: 6,
      positions: [
        { start: 5, end: 9 },
        { start: 35, end: 39 },
      ],
    },
    { name: 'user.name', kind: 'text', itemFields: [], line: 2, column: 7, positions: [{ start: 19, end: 28 }] },
  ]);
});

test('fields stay known while another name is used wrongly', () => {
  expect(fields('{{a}} {{b c}}')).toEqual(['a text']);
});
