import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { EditorState, Facet } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import type { EditorView } from '@codemirror/view';
import { templateTags } from './template-highlights.ts';

export interface NameSuggestion {
  name: string;
  /** Shown beside the name: `unfilled`, the value, its length. */
  detail: string;
  /** Start offsets of the name's uses in the template. */
  starts: readonly number[];
}

/** Names that the completion suggests. */
export interface TemplateNames {
  /** Variables of the template and those that have a value. */
  variables: readonly NameSuggestion[];
  /** Keys of the items of a list or an object, by the variable's path. */
  members: Readonly<Record<string, readonly string[]>>;
  /** False while the template has a mistake, such as `{{}}`: what was typed since it had none may be missing. */
  isComplete: boolean;
}

/** A getter, so that the names may change without a new editor. Its names are of the present text, for which it may have to wait. */
export type ReadNames = () => TemplateNames | Promise<TemplateNames>;

export const templateNames = Facet.define<ReadNames, ReadNames>({
  combine: (values) => values[0] ?? (() => ({ variables: [], members: {}, isComplete: true })),
});

const blockHelpers: readonly [name: string, meaning: string][] = [
  ['if', 'when it has a value'],
  ['unless', 'when it has none'],
  ['each', 'for every item of a list'],
  ['with', 'inside an object'],
  ['ifEquals', 'when two values are equal'],
  ['unlessEquals', 'when two values differ'],
];
/** Helpers that are complete, and helpers that need an argument: the cursor stays in the tag. */
const helpers: readonly [text: string, meaning: string, needsArgument: boolean][] = [
  ['role "system"', 'starts a system message', false],
  ['role "user"', 'starts a user message', false],
  ['role "model"', 'starts an assistant message', false],
  ['history', 'the conversation of an agent so far', false],
  ['media url=', 'a file', true],
  ['json ', 'a value as JSON', true],
];
const itemNames: readonly [name: string, meaning: string][] = [
  ['this', 'the item itself'],
  ['@index', 'number of the item, from 0'],
  ['@key', 'name of the entry'],
  ['@first', 'true for the first'],
  ['@last', 'true for the last'],
];

interface Inside {
  /** Start offset of the word at the cursor. */
  from: number;
  word: string;
  /** `#`, `/` or nothing. */
  sign: string;
  isFirstWord: boolean;
}

/** The part of an unclosed tag before the cursor; null outside of tags, in comments and in strings. */
export function readInside(before: string, offset: number): Inside | null {
  const open = before.lastIndexOf('{{');
  if (open < 0 || before.lastIndexOf('}}') > open) return null;
  const match = /^\{{2,3}~?\s*([#/^&]?)\s*(?:(.*[\s(=]))?([^\s(=]*)$/s.exec(before.slice(open));
  if (!match || before.slice(open).startsWith('{{!')) return null;
  const [, sign = '', earlier = '', word = ''] = match;
  if (((earlier + word).match(/"/g)?.length ?? 0) % 2 === 1) return null;
  return { from: offset - word.length, word, sign, isFirstWord: earlier === '' };
}

/** The names of the blocks that are open at an offset, the innermost last, each with its subject. */
function openBlocks(state: EditorState, offset: number): { name: string; subject: string }[] {
  const { text, blocks } = state.field(templateTags);
  return blocks
    .filter(({ open, close }) => open.end <= offset && (close === null || offset <= close.start + 3))
    .map(({ name, open }) => ({
      name,
      subject: /^\{\{~?\s*[#^]\s*\S+\s+([^\s}|]+)/.exec(text.slice(open.start, open.end))?.[1] ?? '',
    }));
}

/** Inserts the name with closing braces, and replaces those that follow the cursor. */
function applyTag(name: string) {
  return (view: EditorView, _completion: Completion, from: number, to: number): void => {
    const closed = view.state.sliceDoc(to, to + 2) === '}}';
    view.dispatch({
      changes: { from, to: closed ? to + 2 : to, insert: `${name}}}` },
      selection: { anchor: from + name.length + 2 },
      userEvent: 'input.complete',
    });
  };
}

/** Inserts a helper with closing braces, with the cursor at its argument. */
function applyHelper(text: string) {
  return (view: EditorView, _completion: Completion, from: number, to: number): void => {
    const closed = view.state.sliceDoc(to, to + 2) === '}}';
    view.dispatch({
      changes: { from, to: closed ? to + 2 : to, insert: `${text}}}` },
      selection: { anchor: from + text.length },
      userEvent: 'input.complete',
    });
  };
}

/** Inserts a block and its closing tag, with the cursor at the variable's name. */
function applyBlock(name: string) {
  return (view: EditorView, _completion: Completion, from: number, to: number): void => {
    const closed = view.state.sliceDoc(to, to + 2) === '}}';
    view.dispatch({
      changes: { from, to: closed ? to + 2 : to, insert: `${name} }}{{/${name.replace('#', '')}}}` },
      selection: { anchor: from + name.length + 1 },
      userEvent: 'input.complete',
    });
  };
}

function suggestionsFor(state: EditorState, inside: Inside, { variables, members }: TemplateNames): Completion[] {
  const open = openBlocks(state, inside.from);
  const innermost = open.at(-1);
  if (inside.sign === '/') {
    return open.toReversed().map(({ name }, index) => ({
      label: name,
      detail: 'closes the block',
      type: 'keyword',
      boost: -index,
      apply: applyTag(name),
    }));
  }
  if (inside.sign === '#' && inside.isFirstWord) {
    return blockHelpers.map(([label, detail]) => ({ label, detail, type: 'keyword', apply: applyBlock(label) }));
  }
  const isLoop = open.some(({ name }) => name === 'each');
  const keys = new Set(open.flatMap(({ subject }) => members[subject] ?? []));
  // The template parses the unfinished name at the cursor as a variable.
  const isBeingTyped = ({ starts }: NameSuggestion): boolean => starts.length === 1 && starts[0] === inside.from;
  const finish = inside.isFirstWord ? applyTag : () => undefined;
  const named = (label: string, detail: string, type: string, boost: number): Completion => {
    const apply = finish(label);
    return { label, detail, type, boost, ...(apply && { apply }) };
  };
  return [
    ...[...keys].map((key) => named(key, `of each ${innermost?.subject ?? ''}`.trim(), 'property', 20)),
    ...variables
      .filter((variable) => !keys.has(variable.name) && !isBeingTyped(variable))
      .map(({ name, detail }) => named(name, detail, 'variable', 10)),
    ...(isLoop ? itemNames.map(([label, detail]) => named(label, detail, 'keyword', 0)) : []),
    ...(inside.isFirstWord && innermost ? [named('else', `of ${innermost.name}`, 'keyword', 0)] : []),
    ...(inside.isFirstWord && innermost ? [named(`/${innermost.name}`, 'closes the block', 'keyword', 5)] : []),
    ...(inside.isFirstWord
      ? blockHelpers.map(([name, detail]): Completion => ({
          label: `#${name}`,
          detail,
          type: 'keyword',
          boost: -10,
          apply: applyBlock(`#${name}`),
        }))
      : []),
    ...(inside.isFirstWord && inside.sign === ''
      ? helpers
          .filter(([text]) => text !== 'history' || !variables.some(({ name }) => name === 'history'))
          .map(([text, detail, needsArgument]): Completion => ({
            label: text.trim(),
            detail,
            type: 'keyword',
            boost: -20,
            apply: needsArgument ? applyHelper(text) : applyTag(text),
          }))
      : []),
  ];
}

export async function completeTemplate(context: CompletionContext): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  const inside = readInside(context.state.sliceDoc(line.from, context.pos), context.pos);
  if (!inside) return null;
  const names = await context.state.facet(templateNames)();
  const options = suggestionsFor(context.state, inside, names);
  return { from: inside.from, options, ...(names.isComplete && { validFor: /^[\w.@#/-]*$/ }) };
}

export function templateCompletion(names: ReadNames): Extension {
  return [
    templateNames.of(names),
    EditorState.languageData.of(() => [{ closeBrackets: { brackets: ['{'] } }]),
    closeBrackets(),
    autocompletion({ override: [completeTemplate], icons: false, interactionDelay: 0 }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap]),
  ];
}
