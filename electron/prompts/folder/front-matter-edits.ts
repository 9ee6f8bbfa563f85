import { isMap, isPair, isScalar, parseDocument, Document, YAMLMap, type Pair, type Scalar } from 'yaml';
import { parameterName } from '../transfer/parameter-names.ts';
import { writeDotpromptModel } from '../transfer/model-names.ts';
import { dotpromptParameters } from '../transfer/writers/dotprompt.ts';
import { picoKey } from '../transfer/formats/dotprompt.ts';
import { settingsOf, type PromptContent } from './prompt-content.ts';
import { isDeepStrictEqual } from 'node:util';

/** Sets what stands at a path of the front matter, or takes it away. */
type Put = (path: readonly string[], value: unknown) => void;

const empty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Changes fields of YAML and remembers which of the outer ones were touched. */
function createEditor(document: Document): { put: Put; touched: Set<string> } {
  const touched = new Set<string>();
  const put: Put = (path, value) => {
    touched.add(path[0]!);
    if (!empty(value)) document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
    else {
      document.deleteIn(path);
      const outer = path.slice(0, -1);
      const left = outer.length === 0 ? null : document.getIn(outer);
      if (isMap(left) && left.items.length === 0) document.deleteIn(outer);
    }
  };
  return { put, touched };
}

function editDetails(document: Document, current: PromptContent, wanted: PromptContent, put: Put): void {
  if (wanted.name !== current.name) put(['name'], wanted.name);
  if (wanted.description !== current.description) put(['description'], wanted.description);
  if (!isDeepStrictEqual(wanted.tags, current.tags)) put(['touchstone.tags'], wanted.tags);
  if (document.has('touchstone.note') && wanted.note !== current.note) put(['touchstone.note'], wanted.note);
  if (wanted.model === current.model && wanted.aiSystem === current.aiSystem) return;
  put(
    ['model'],
    wanted.model === null || wanted.aiSystem === null ? null : writeDotpromptModel(wanted.aiSystem, wanted.model),
  );
  if (document.has('touchstone.aiSystem')) put(['touchstone.aiSystem'], null);
}

/** Where a setting stands: files name them in many ways. */
function placeOf(document: Document, name: string): string[] {
  const config = document.get('config');
  const keys = isMap(config) ? config.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
  if (name === 'reasoning_effort' && keys.includes('reasoning')) return ['config', 'reasoning', 'effort'];
  const known = keys.find((key) => parameterName(key) === name);
  return ['config', known ?? dotpromptParameters[name] ?? name];
}

function editSettings(document: Document, current: PromptContent, wanted: PromptContent, put: Put): void {
  const [old, fresh] = [settingsOf(current), settingsOf(wanted)];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    if (isDeepStrictEqual(old.get(name), fresh.get(name))) continue;
    if (name === 'response_format') editFormat(document, old.get(name), fresh.get(name), put);
    else put(placeOf(document, name), fresh.get(name));
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

type Facts = Omit<PromptContent['variables'][number], 'name'>;

function editVariables(document: Document, current: PromptContent, wanted: PromptContent, put: Put): void {
  const factsOf = ({ variables }: PromptContent) =>
    new Map(variables.map(({ name, ...facts }): [string, Facts] => [name, facts]));
  const [old, fresh] = [factsOf(current), factsOf(wanted)];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const [before, after] = [old.get(name), fresh.get(name)];
    if (isDeepStrictEqual(before, after)) continue;
    if (before?.defaultValue !== after?.defaultValue) put(['input', 'default', name], after?.defaultValue);
    if (before?.sampleValue !== after?.sampleValue) put(['touchstone.samples', name], after?.sampleValue);
    const isSame = before !== undefined && after !== undefined && before.description === after.description;
    if (!isSame) editSchema(document, name, after, put);
  }
}

/** A variable in the schema, in the form that the schema has. */
function editSchema(document: Document, name: string, facts: Facts | undefined, put: Put): void {
  const schema = document.getIn(['input', 'schema']);
  const isShort = isMap(schema) && !(schema.get('type') === 'object' && schema.has('properties'));
  if (!isShort) {
    const path = ['input', 'schema', 'properties', name];
    if (facts === undefined) return put(path, null);
    if (!document.has('input') || !document.hasIn(['input', 'schema'])) put(['input', 'schema', 'type'], 'object');
    if (document.hasIn(path)) return put([...path, 'description'], facts.description);
    const description = facts.description === null ? {} : { description: facts.description };
    return put(path, { type: 'string', ...description });
  }
  const pair = schema.items.find(({ key }) => picoKey.exec(keyText(key))?.[1] === name);
  if (facts === undefined) return pair && put(['input', 'schema', keyText(pair.key)], null);
  const { description } = facts;
  if (pair === undefined)
    return put(['input', 'schema', name], description === null ? 'string' : `string, ${description}`);
  const [, , optional = '', kind] = picoKey.exec(keyText(pair.key)) ?? [];
  if (isScalar(pair.value) && typeof pair.value.value === 'string' && kind === undefined) {
    const type = /^[^,]*/.exec(pair.value.value)![0].trim();
    return put(['input', 'schema', keyText(pair.key)], description === null ? type : `${type}, ${description}`);
  }
  const key =
    kind === undefined ? null : `${name}${optional}(${kind}${description === null ? '' : `, ${description}`})`;
  if (key !== null && isScalar(pair.key)) pair.key.value = key;
  put(['input', 'schema', key ?? keyText(pair.key)], pair.value);
}

const keyText = (key: unknown) => String(isScalar(key) ? key.value : key);

/** Blank lines and comments between two fields, which belong to neither. */
const between = /(?:^[^\S\n]*(?:#[^\n]*)?\n)*$/;

/** One field written anew, in the manner of the old text. */
function fieldText(pair: Pair, old: string): string {
  const map = new YAMLMap();
  const key = pair.key as Scalar;
  key.commentBefore = null;
  key.spaceBefore = false;
  map.items.push(pair);
  const indent = /\n( +)\S/.exec(old)?.[1]?.length ?? 2;
  return new Document(map).toString({
    lineWidth: 0,
    indent: Math.max(1, indent),
    indentSeq: !/\n-\s/.test(old),
    flowCollectionPadding: /[[{] /.test(old),
  });
}

/** The front matter with some fields changed: all others stay as they were written, to the letter. */
function withEdits(text: string, touched: ReadonlySet<string>, changed: Document): string {
  const before = parseDocument(text);
  const old = isMap(before.contents) ? before.contents.items : [];
  const starts = old.map(({ key }) => (key as Scalar).range![0]);
  const now = new Map((changed.contents as YAMLMap).items.map((pair) => [keyText(pair.key), pair as Pair]));
  const parts = [text.slice(0, starts[0] ?? text.length)];
  old.forEach(({ key }, index) => {
    const slice = text.slice(starts[index], starts[index + 1] ?? text.length);
    const name = keyText(key);
    if (!touched.has(name)) return parts.push(slice);
    const rest = between.exec(slice)?.[0] ?? '';
    const pair = now.get(name);
    return parts.push(pair === undefined ? '' : fieldText(pair, slice.slice(0, slice.length - rest.length)), rest);
  });
  const known = new Set(old.map(({ key }) => keyText(key)));
  const added = [...now].filter(([name]) => !known.has(name)).map(([, pair]) => fieldText(pair, ''));
  const whole = parts.join('');
  return `${whole}${whole === '' || whole.endsWith('\n') ? '' : '\n'}${added.join('')}`;
}

/** The fields of a `.prompt` file, without their fences, changed from what they say now to what is wanted. */
export function editFrontMatter(text: string, current: PromptContent, wanted: PromptContent): string {
  const document = parseDocument(text);
  if (!isMap(document.contents)) document.contents = new YAMLMap() as never;
  const { put, touched } = createEditor(document);
  editDetails(document, current, wanted, put);
  editSettings(document, current, wanted, put);
  editVariables(document, current, wanted, put);
  if (touched.size === 0) return text;
  // An alias needs its anchor beside it, and is written only with the whole.
  const hasAliases = /(^|[\s[{,])[&*][^\s,\]}]/m.test(text);
  return hasAliases ? document.toString({ lineWidth: 0 }) : withEdits(text, touched, document);
}
