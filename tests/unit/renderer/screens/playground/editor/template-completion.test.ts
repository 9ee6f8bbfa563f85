import { type Completion, CompletionContext } from '@codemirror/autocomplete';
import { EditorState, type TransactionSpec } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import {
  matchedTags,
  templateHighlights,
  tokensOfTag,
} from '../../../../../../renderer/screens/playground/editor/template-highlights.ts';
import {
  completeTemplate,
  readInside,
  templateNames,
  type TemplateNames,
} from '../../../../../../renderer/screens/playground/editor/template-completion.ts';
import { scanTags } from '../../../../../../shared/prompt-template-tags.ts';

/** The cursor stands at the bar. */
function stateAt(text: string): EditorState {
  const head = text.indexOf('|');
  const names = {
    variables: [
      { name: 'customer.name', detail: 'Mara', starts: [2] },
      { name: 'cu', detail: 'unfilled', starts: [head - 2] },
    ],
    members: { orders: ['id', 'item'] },
    isComplete: true,
  };
  return EditorState.create({
    doc: text.replace('|', ''),
    selection: { anchor: head },
    extensions: [templateHighlights, templateNames.of(() => names)],
  });
}

async function labels(text: string): Promise<string[]> {
  const state = stateAt(text);
  const result = await completeTemplate(new CompletionContext(state, state.selection.main.head, false));
  return (result?.options ?? []).toSorted((a, b) => (b.boost ?? 0) - (a.boost ?? 0)).map(({ label }) => label);
}

describe('the suggestions', () => {
  test('in a tag: variables, without the one that is being typed, and blocks', async () => {
    expect(await labels('{{customer.name}} {{cu|}}')).toEqual([
      'customer.name',
      '#if',
      '#unless',
      '#each',
      '#with',
      '#ifEquals',
      '#unlessEquals',
      'role "system"',
      'role "user"',
      'role "model"',
      'history',
      'media url=',
      'json',
    ]);
  });
  test('after a number sign: blocks', async () => {
    expect(await labels('{{#|}}')).toEqual(['if', 'unless', 'each', 'with', 'ifEquals', 'unlessEquals']);
  });
  test.each([
    ['role "user"', '{{role "user"}}|'],
    ['media url=', '{{media url=|}}'],
    ['json', '{{json |}}'],
    ['history', '{{history}}|'],
    ['#ifEquals', '{{#ifEquals |}}{{/ifEquals}}'],
  ])('completes the helper %s', async (label, expected) => {
    // Without a DOM: the suggestion only reads the state and dispatches a change.
    const view = { state: stateAt('{{|}}'), dispatch: (change: TransactionSpec) => change };
    view.dispatch = (change) => {
      view.state = view.state.update(change).state;
      return change;
    };
    const { from, options } = (await completeTemplate(new CompletionContext(view.state, 2, false)))!;
    const option = options.find((each) => each.label === label)!;
    (option.apply as (view: object, option: Completion, from: number, to: number) => void)(view, option, from, 2);
    const { head } = view.state.selection.main;
    expect(`${view.state.sliceDoc(0, head)}|${view.state.sliceDoc(head)}`).toBe(expected);
  });
  test('of a text that has just changed wait until its names are read', async () => {
    const read = Promise.withResolvers<TemplateNames>();
    const state = EditorState.create({
      doc: '{{cu',
      extensions: [templateHighlights, templateNames.of(() => read.promise)],
    });
    const result = completeTemplate(new CompletionContext(state, 4, false));
    const customer = { name: 'customer.name', detail: 'no value', starts: [] };
    read.resolve({ variables: [customer], members: {}, isComplete: true });
    expect((await result)?.options.map(({ label }) => label)).toContain('customer.name');
  });
  test.each([true, false])(
    'are sought again with the next letter unless all names are known: %s',
    async (isComplete) => {
      const names = { variables: [], members: {}, isComplete };
      const state = EditorState.create({ doc: '{{', extensions: [templateHighlights, templateNames.of(() => names)] });
      const result = await completeTemplate(new CompletionContext(state, 2, false));
      expect(result?.validFor !== undefined).toBe(isComplete);
    },
  );
  test('after a slash: the open blocks, the innermost first', async () => {
    expect(await labels('{{#if a}}{{#each b}}{{/|')).toEqual(['each', 'if']);
  });
  test("in a loop: the names of its items first, and the loop's own variables", async () => {
    const offered = await labels('{{#each orders}}{{|}}{{/each}}');
    expect(offered.slice(0, 3)).toEqual(['id', 'item', 'customer.name']);
    expect(offered).toEqual(expect.arrayContaining(['@index', 'this', 'else', '/each']));
  });
  test.each(['plain |text', '{{a}} |', '{{! a comment |}}', '{{lookup a "str|'])('nothing in %j', async (text) => {
    expect(await labels(text)).toEqual([]);
  });
});

test('the second word of a tag is a variable, not the start of a block', async () => {
  expect(readInside('{{#each or', 10)).toEqual({ from: 8, word: 'or', sign: '#', isFirstWord: false });
});

test.each([
  ['{{#each o|rders}}{{id}}{{else}}x{{/each}}', ['{{#each orders}}', '{{else}}', '{{/each}}']],
  ['{{#each orders}}{{i|d}}{{/each}}', []],
  ['{{#if a}}{{#each b}}x{{/ea|ch}}{{/if}}', ['{{#each b}}', '{{/each}}']],
])('highlights matching tags with the cursor in %j: %j', (text, tags) => {
  const state = stateAt(text);
  expect(matchedTags(state).map(({ start, end }) => state.sliceDoc(start, end))).toEqual(tags);
});

test.each([
  ['{{#each orders as |o i|}}', 'brace:{{ key:#each var:orders key:as brace:| var:o var:i brace:| brace:}}'],
  ['{{~lookup a "k" 3~}}', 'brace:{{~ key:lookup var:a str:"k" num:3 brace:~}}'],
  ['{{{raw.value}}}', 'brace:{{{ var:raw.value brace:}}}'],
  ['{{! note }}', 'com:{{! note }}'],
  ['{{/if}}', 'brace:{{ key:/if brace:}}'],
  ['{{half', 'brace:{{ var:half'],
])('colours the parts of the tag %s', (text, expected) => {
  const [tag] = scanTags(text);
  const tokens = tag ? tokensOfTag(text, tag) : [];
  expect(tokens.map(({ kind, start, end }) => `${kind}:${text.slice(start, end)}`).join(' ')).toBe(expected);
});

test('colours a long string of braces in one pass', () => {
  const text = `{{lookup a "${'}'.repeat(400_000)}"}}`;
  const [tag] = scanTags(text);
  expect(tokensOfTag(text, tag!).map(({ kind }) => kind)).toEqual(['brace', 'key', 'var', 'str', 'brace']);
});
