import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isNode, isScalar, type Pair, parseDocument, Scalar, YAMLMap } from 'yaml';
import { promptContent, type PromptContent } from '../../../shared/prompt-content.ts';
import { frontMatter, readPicoKey } from '../transfer/formats/dotprompt.ts';
import { readPrompts, type ReadPrompts } from '../transfer/read-prompts.ts';
import { plainLines, TransferError } from '../transfer/source-text.ts';
import { literalTemplate } from '../transfer/templates/template-syntax.ts';
import { bodyOf, guarded } from '../transfer/dotprompt-body.ts';
import { dotpromptParameters, writeDotprompt } from '../transfer/writers/dotprompt.ts';
import { hasSameDetails, isSameVersion, settingsOf } from './same-content.ts';
import { parameterName } from '../transfer/parameter-names.ts';
import { writeDotpromptModel } from '../transfer/model-names.ts';

/** Sets or removes the value at a path of the front matter. */
type Put = (path: readonly string[], value: unknown) => void;

const empty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

function createPut(document: Document): Put {
  return (path, value) => {
    if (empty(value) && !document.hasIn(path)) return;
    if (!empty(value)) document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
    else {
      document.deleteIn(path);
      const outer = path.slice(0, -1);
      const left = outer.length === 0 ? null : document.getIn(outer);
      if (isMap(left) && left.items.length === 0) document.deleteIn(outer);
    }
  };
}

function editDetails(document: Document, current: PromptContent, target: PromptContent, put: Put): void {
  if (target.name !== current.name) put(['name'], target.name);
  if (target.description !== current.description) put(['description'], target.description);
  if (!isDeepStrictEqual(target.tags, current.tags)) put(['touchstone.tags'], target.tags);
  if (document.has('touchstone.note') && target.note !== current.note) put(['touchstone.note'], target.note);
  if (target.model === current.model && target.aiSystem === current.aiSystem) return;
  put(
    ['model'],
    target.model === null || target.aiSystem === null ? null : writeDotpromptModel(target.aiSystem, target.model),
  );
  if (document.has('touchstone.aiSystem')) put(['touchstone.aiSystem'], null);
}

/** The path of a setting in this file. Files name settings differently. */
function pathOf(document: Document, name: string): string[] {
  const config = document.get('config');
  const keys = isMap(config) ? config.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
  if (name === 'reasoning_effort' && keys.includes('reasoning')) return ['config', 'reasoning', 'effort'];
  const known = keys.find((key) => parameterName(key) === name);
  return ['config', known ?? dotpromptParameters[name] ?? name];
}

function editSettings(document: Document, current: PromptContent, target: PromptContent, put: Put): void {
  const [old, fresh] = [settingsOf(current), settingsOf(target)];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    if (isDeepStrictEqual(old.get(name), fresh.get(name))) continue;
    if (name === 'response_format') editFormat(document, old.get(name), fresh.get(name), put);
    else put(pathOf(document, name), fresh.get(name));
  }
}

function editFormat(document: Document, old: unknown, fresh: unknown, put: Put): void {
  const typeOf = (format: unknown) => (format as { type?: unknown } | undefined)?.type;
  const isOwn = document.has('touchstone.responseFormat');
  for (const path of [
    ['output', 'format'],
    ['config', 'response_format'],
    ['config', 'text'],
  ]) {
    if (document.hasIn(path)) put(path, null);
  }
  if (!isOwn && typeOf(old) === 'json_schema' && document.hasIn(['output', 'schema'])) put(['output', 'schema'], null);
  if (isOwn || fresh !== undefined) put(['touchstone.responseFormat'], fresh);
  if (fresh !== undefined && typeOf(fresh) !== 'text') put(['output', 'format'], 'json');
}

type VariableDetails = Omit<PromptContent['variables'][number], 'name'>;

function editVariables(document: Document, current: PromptContent, target: PromptContent, put: Put): void {
  const variablesOf = ({ variables }: PromptContent) =>
    new Map(variables.map(({ name, ...details }): [string, VariableDetails] => [name, details]));
  const [old, fresh] = [variablesOf(current), variablesOf(target)];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const [before, after] = [old.get(name), fresh.get(name)];
    if (isDeepStrictEqual(before, after)) continue;
    if (before?.defaultValue !== after?.defaultValue) put(['input', 'default', name], after?.defaultValue);
    if (before?.sampleValue !== after?.sampleValue) put(['touchstone.samples', name], after?.sampleValue);
    const isSame = before !== undefined && after !== undefined && before.description === after.description;
    if (!isSame) editSchema(document, name, after, put);
  }
}

/** A variable in the format of the file's schema. */
function editSchema(document: Document, name: string, details: VariableDetails | undefined, put: Put): void {
  const schema = document.getIn(['input', 'schema']);
  const isShort = isMap(schema) && !(schema.get('type') === 'object' && schema.has('properties'));
  if (!isShort) {
    const path = ['input', 'schema', 'properties', name];
    if (details === undefined) return put(path, null);
    if (!document.has('input') || !document.hasIn(['input', 'schema'])) put(['input', 'schema', 'type'], 'object');
    if (document.hasIn(path)) return put([...path, 'description'], details.description);
    const description = details.description === null ? {} : { description: details.description };
    return put(path, { type: 'string', ...description });
  }
  const pair = schema.items.find(({ key }) => readPicoKey(keyText(key))?.name === name);
  if (details === undefined) return pair && put(['input', 'schema', keyText(pair.key)], null);
  const { description } = details;
  if (pair === undefined)
    return put(['input', 'schema', name], description === null ? 'string' : `string, ${description}`);
  const { isOptional = false, kind = null } = readPicoKey(keyText(pair.key)) ?? {};
  if (isScalar(pair.value) && typeof pair.value.value === 'string' && kind === null) {
    const type = /^[^,]*/.exec(pair.value.value)![0].trim();
    return put(['input', 'schema', keyText(pair.key)], description === null ? type : `${type}, ${description}`);
  }
  const key =
    kind === null ? null : `${name}${isOptional ? '?' : ''}(${kind}${description === null ? '' : `, ${description}`})`;
  if (key !== null && isScalar(pair.key)) pair.key.value = key;
  put(['input', 'schema', key ?? keyText(pair.key)], pair.value);
}

const keyText = (key: unknown) => String(isScalar(key) ? key.value : key);

/** The length of a field's own lines, without the blank lines and comments before the next field. */
function ownLength(slice: string, indent: number): number {
  const lines = slice.split('\n');
  // The part after the last line ending is empty.
  let end = slice.length - lines.pop()!.length;
  while (lines.length > 1 && isBetween(lines.at(-1)!, indent)) end -= lines.pop()!.length + 1;
  return end;
}

function isBetween(line: string, indent: number): boolean {
  const text = line.trimStart();
  return text === '' || (text.startsWith('#') && line.length - text.length <= indent);
}

/** A rewritten field, in whole lines. */
function fieldText(pair: Pair, indent: number, old: string): string {
  const map = new YAMLMap();
  for (const node of [pair.key, pair.value]) {
    if (isNode(node)) Object.assign(node, { commentBefore: null, comment: null, spaceBefore: false });
  }
  map.items.push(pair);
  const text = new Document(map).toString({
    lineWidth: 0,
    indentSeq: !/(?:^|\n)( *)[^\s#-][^\n]*:[^\S\n]*(?:#[^\n]*)?\n\1- /.test(old),
    flowCollectionPadding: /[[{] /.test(old),
  });
  return text.replace(/^(?=[^\n])/gm, ' '.repeat(indent));
}

/** Replaces a value and keeps the rest of its line; null if that isn't possible. */
function replacedScalar(text: string, old: unknown, fresh: unknown, end: number): string | null {
  if (!isScalar(old) || !isScalar(fresh) || !old.range) return null;
  const [start, valueEnd] = old.range;
  const value = new Scalar(fresh.value);
  Object.assign(value, { type: fresh.type, format: fresh.format, minFractionDigits: fresh.minFractionDigits });
  const written = new Document(value).toString({ lineWidth: 0 }).trimEnd();
  if (written.includes('\n') || text.slice(start, valueEnd).includes('\n') || valueEnd === start) return null;
  return `${written}${text.slice(valueEnd, end)}`;
}

const startOf = (pair: Pair) => (pair.key as Scalar).range![0];
const valueOf = (node: unknown): unknown => (isNode(node) ? node.toJSON() : node);

function lineStart(text: string, pair: Pair): number {
  return text.lastIndexOf('\n', startOf(pair) - 1) + 1;
}

/** The lines of a map up to `end`. Unchanged fields stay exactly as they are. */
function mapText(text: string, old: YAMLMap, fresh: YAMLMap, end: number): string {
  const indent = startOf(old.items[0]!) - lineStart(text, old.items[0]!);
  const now = new Map(fresh.items.map((pair) => [keyText(pair.key), pair as Pair]));
  const known = new Set(old.items.map(({ key }) => keyText(key)));
  const added = [...now].filter(([name]) => !known.has(name)).map(([, pair]) => fieldText(pair, indent, ''));
  const parts = old.items.map((pair, index) => {
    const next = old.items[index + 1];
    const [start, stop] = [lineStart(text, pair), next === undefined ? end : lineStart(text, next)];
    const own = start + ownLength(text.slice(start, stop), indent);
    const changed = now.get(keyText(pair.key));
    const written = changed === undefined ? '' : pairText(text, pair, changed, { start, end: own, indent });
    return `${written}${next === undefined ? added.join('') : ''}${text.slice(own, stop)}`;
  });
  return parts.join('');
}

function pairText(
  text: string,
  old: Pair,
  fresh: Pair,
  { start, end, indent }: { start: number; end: number; indent: number },
): string {
  if (isDeepStrictEqual(valueOf(old.value), valueOf(fresh.value))) return text.slice(start, end);
  if (isMap(old.value) && isMap(fresh.value) && old.value.flow !== true && old.value.items.length > 0) {
    const inner = lineStart(text, old.value.items[0]!);
    return `${text.slice(start, inner)}${mapText(text, old.value, fresh.value, end)}`;
  }
  const scalar = replacedScalar(text, old.value, fresh.value, end);
  if (scalar !== null) return `${text.slice(start, (old.value as Scalar).range![0])}${scalar}`;
  return fieldText(fresh, indent, text.slice(start, end));
}

/** The front matter of a `.prompt` file, without its fences, with the target's values. */
function editFrontMatter(text: string, current: PromptContent, target: PromptContent): string {
  const document = parseDocument(text);
  if (!isMap(document.contents)) document.contents = new YAMLMap() as never;
  const put = createPut(document);
  editDetails(document, current, target, put);
  editSettings(document, current, target, put);
  editVariables(document, current, target, put);
  // An alias needs its anchor, so the whole document is written.
  const hasAliases = /(^|[\s[{,])[&*][^\s,\]}]/m.test(text);
  const before = parseDocument(text).contents;
  if ((document.contents as YAMLMap).items.length === 0) return isMap(before) ? '' : text;
  const isWhole = hasAliases || !isMap(before) || before.items.length === 0 || before.flow === true;
  if (isWhole) return document.toString({ lineWidth: 0 });
  const first = lineStart(text, before.items[0]!);
  return `${text.slice(0, first)}${mapText(text, before, document.contents as YAMLMap, text.length)}`;
}

export interface EditTask {
  /** The path relative to the folder. */
  readonly name: string;
  /** Null creates a new file. */
  readonly text: string | null;
  /** The content of the text. Null if it can't be read; then the whole file is replaced. */
  readonly current: PromptContent | null;
  readonly target: PromptContent;
}

export type EditedFile =
  { readonly text: string; readonly problem: null } | { readonly text: null; readonly problem: string };

function read(name: string, text: string): ReadPrompts {
  return readPrompts({ name, content: text, format: 'dotprompt', variableStyle: null, folder: null });
}

/** Whether a text has the target's content. Files have only the name of the model. */
function says(name: string, text: string, { current, target }: EditTask): boolean {
  const [found] = read(name, text).prompts;
  if (found === undefined) return false;
  const { aiSystem, model } = target;
  const isModelUnchanged = current !== null && current.model === model && current.aiSystem === aiSystem;
  if (!isModelUnchanged && (found.model?.model ?? null) !== model) return false;
  const content = { ...promptContent(found.prompt), aiSystem, model };
  return isSameVersion(content, target) && hasSameDetails(content, target);
}

function writeNew({ target }: Pick<EditTask, 'target'>): string {
  // The path of the file determines the folder of its prompt.
  return writeDotprompt({ prompt: { ...target, folder: null }, version: { ...target, note: null } }).content;
}

const hasSameText = (one: PromptContent, other: PromptContent) =>
  one.promptText === other.promptText && (one.systemMessage ?? '') === (other.systemMessage ?? '');

/** Replaces only the changed text in the template. Null unless the old text occurs exactly once. */
function replacedBody(body: string, current: PromptContent, target: PromptContent): string | null {
  let changed = body;
  for (const [old, fresh] of [
    [current.promptText, guarded(target.promptText)],
    [literalTemplate(current.systemMessage ?? ''), guarded(literalTemplate(target.systemMessage ?? ''))],
  ] as const) {
    if (old === fresh) continue;
    const at = old === '' ? -1 : changed.indexOf(old);
    if (at === -1 || changed.indexOf(old, at + 1) !== -1) return null;
    changed = `${changed.slice(0, at)}${fresh}${changed.slice(at + old.length)}`;
  }
  return changed;
}

/** Candidates for the new file. The first one changes the least. */
function* candidates(task: EditTask, text: string): Generator<string> {
  const { current, target } = task;
  if (current === null) return yield writeNew(task);
  const match = frontMatter.exec(text);
  const [front, body] = match === null ? [null, text] : [match[1]!, match[2] ?? ''];
  const fields = editFrontMatter(front === null || front === '' ? '' : `${front}\n`, current, target);
  const head = fields === '' ? '' : `---\n${fields}---\n`;
  if (hasSameText(current, target)) return yield `${head}${body}`;
  const replaced = replacedBody(body, current, target);
  if (replaced !== null) yield `${head}${replaced}`;
  yield `${head}${bodyOf(target)}\n`;
}

const linesOf = (text: string) => text.split(/(?<=\n)/);

/** Applies the file's line endings and byte order mark. Lines before and after the changed ones keep their own ending. */
function inManner(old: string, text: string): string {
  const [before, now] = [linesOf(old.replace(/^\uFEFF/, '')), linesOf(text)];
  const common = Math.min(before.length, now.length);
  const isSame = (one = '', other = '') => plainLines(one) === other;
  let start = 0;
  while (start < common && isSame(before[start], now[start])) start += 1;
  let end = 0;
  while (end < common - start && isSame(before.at(-1 - end), now.at(-1 - end))) end += 1;
  const isCarriage = /\r\n/.test(old) && !/[^\r]\n/.test(old);
  const changed = now.slice(start, now.length - end).join('');
  return [
    old.startsWith('\uFEFF') ? '\uFEFF' : '',
    ...before.slice(0, start),
    isCarriage ? changed.replaceAll('\n', '\r\n') : changed,
    ...before.slice(before.length - end),
  ].join('');
}

/**
 * Edits a file to have the target's content. Other fields, comments, order and formatting stay. Never returns a text with other content
 * than the target.
 */
export function editPromptFile(task: EditTask): EditedFile {
  const { name } = task;
  const target = {
    ...task.target,
    promptText: plainLines(task.target.promptText),
    systemMessage: task.target.systemMessage === null ? null : plainLines(task.target.systemMessage),
  };
  const old = task.text ?? '';
  const text = plainLines(old);
  try {
    for (const candidate of candidates({ ...task, target }, text)) {
      if (says(name, candidate, { ...task, target })) return { text: inManner(old, candidate), problem: null };
    }
    return { text: null, problem: "A file of this format can't contain this version" };
  } catch (error) {
    if (error instanceof TransferError) return { text: null, problem: error.message };
    throw error;
  }
}
