import { scanTags } from '../../../../shared/prompt-template-tags.ts';
import { createLineFinder } from '../../../../shared/prompt-template-variables.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { isMap, mapIn, plain, readYaml, textIn, valueText, type ReadMap, type ReadYaml } from '../bounded-values.ts';
import {
  baseName,
  describeVariable,
  type Draft,
  type DraftMessage,
  emptyDraft,
  isPartial,
  note,
  type Reader,
} from '../draft.ts';
import { lineAt, TransferError } from '../source-text.ts';
import { readDotpromptModel } from '../model-names.ts';
import { takeParameters } from '../parameter-names.ts';
import { readBody } from '../dotprompt-body.ts';
import { aiSystem } from '../../../../shared/contract/common.ts';

/** As in the `dotprompt` package: the fields, and the template. */
export const frontMatter =
  /^---[^\S\r\n]*(?:\r\n|\r|\n)([\s\S]*?)(?:\r\n|\r|\n)---[^\S\r\n]*(?:(?:\r\n|\r|\n)([\s\S]*))?$/;

/** Whether a text starts with front matter. */
export function isDotprompt(text: string): boolean {
  return frontMatter.test(text) || /\{\{[~\s]*role\s+"/.test(text);
}

/** Fields that don't affect what is sent. */
const ignored = new Set(['variant', 'version', 'raw', 'ext', 'metadata']);
const fieldNames = new Set(['name', 'description', 'model', 'config', 'input', 'output', 'tools', 'toolDefs']);
/** Data of every template; other names after `@` are the state of a session. */
const templateData = new Set(['root', 'index', 'key', 'first', 'last']);

function messagesOf(draft: Draft, body: string, firstLine: number): DraftMessage[] {
  const positionOf = createLineFinder(body);
  const messages = readBody(body).map(({ role, text, start }) => {
    return { role, text, line: firstLine - 1 + positionOf(start).line };
  });
  const [tag] = messages.flatMap(({ text }) => parseTemplate(text).historyTags);
  if (tag) note(draft, 'warning', 'template', '{{history}} needs a conversation: the prompt runs only as an agent');
  return messages.filter(({ text }) => text !== '');
}

/** Tags with `{{@state.x}}` render as nothing here: a prompt has no session. */
function noteSessionState(draft: Draft, body: string, firstLine: number): void {
  const positionOf = createLineFinder(body);
  const known = new Set<string>();
  for (const { start, end, kind } of scanTags(body)) {
    if (kind === 'comment') continue;
    for (const [, path = ''] of body.slice(start, end).matchAll(/[{~#/^(\s=]@([A-Za-z_][\w.]{0,100})/g)) {
      if (templateData.has(path.split('.')[0]!) || known.has(path)) continue;
      known.add(path);
      const line = firstLine - 1 + positionOf(start).line;
      note(draft, 'warning', 'template', `{{@${path}}} renders empty: prompts here have no session state`, line);
    }
  }
}

/** A text of the front matter; null for anything else, which is reported. */
function takenText(draft: Draft, fields: ReadMap, key: string, lineOf: ReadYaml['lineOf']): string | null {
  const value = fields.get(key);
  if (typeof value === 'string' || value === undefined || value === null) return value ?? null;
  note(draft, 'refused', key, 'Must be text', lineOf([key]));
  return null;
}

/** Reports unknown keys of a map, and a value that isn't a map. */
function noteUnknownKeys(
  draft: Draft,
  fields: ReadMap,
  key: string,
  known: readonly string[],
  lineOf: ReadYaml['lineOf'],
) {
  const value = fields.get(key);
  if (value === undefined || value === null) return;
  if (!isMap(value)) return note(draft, 'refused', key, 'Must be a map of fields', lineOf([key]));
  for (const inner of value.keys()) {
    if (known.includes(inner) || inner.startsWith('touchstone.')) continue;
    note(draft, 'refused', `${key}.${inner}`, 'Unknown field', lineOf([key, inner]));
  }
}

function takeTags(draft: Draft, fields: ReadMap, lineOf: ReadYaml['lineOf']): void {
  const tags = fields.get('touchstone.tags');
  if (tags === undefined || tags === null) return;
  const list: readonly unknown[] = Array.isArray(tags) ? tags : [tags];
  draft.tags = list.filter((tag) => typeof tag === 'string');
  if (!Array.isArray(tags) || draft.tags.length < list.length)
    note(draft, 'refused', 'touchstone.tags', 'Must be a list of texts', lineOf(['touchstone.tags']));
}

export interface PicoKey {
  readonly name: string;
  readonly isOptional: boolean;
  readonly kind: string | null;
  readonly description: string | null;
}

/** Reads a key of Picoschema, `name?(enum, description)`; null for any other key. */
export function readPicoKey(key: string): PicoKey | null {
  const [, name, optional, , inner] = /^([^?(]+)(\??)(\(([^]*)\))?$/.exec(key) ?? [];
  if (name === undefined) return null;
  if (inner === undefined) return { name, isOptional: optional !== '', kind: null, description: null };
  const comma = inner.indexOf(',');
  const kind = (comma < 0 ? inner : inner.slice(0, comma)).trim();
  if (!/^\w+$/.test(kind)) return null;
  return { name, isOptional: optional !== '', kind, description: comma < 0 ? null : inner.slice(comma + 1).trim() };
}

function takeInput(draft: Draft, input: ReadMap | null): void {
  const schema = mapIn(input, 'schema');
  const properties = schema?.get('type') === 'object' ? mapIn(schema, 'properties') : null;
  for (const [key, value] of properties ?? schema ?? []) {
    const { name: picoName = key, description: picoText = null } = readPicoKey(key) ?? {};
    const name = properties === null ? picoName : key;
    const pico = typeof value === 'string' ? (/^[^,]*,\s*(.+)$/s.exec(value)?.[1] ?? picoText) : picoText;
    describeVariable(draft, name, { description: isMap(value) ? textIn(value, 'description') : pico });
    note(draft, 'taken', `input.schema.${key}`, `Variable ${name}`);
  }
  for (const [name, value] of mapIn(input, 'default') ?? []) {
    describeVariable(draft, name, { defaultValue: valueText(value) });
  }
}

function takeOutput(draft: Draft, output: ReadMap | null, line: number | null): void {
  if (output === null) return;
  const schema = mapIn(output, 'schema');
  const isJsonSchema =
    typeof schema?.get('type') === 'string' &&
    (mapIn(schema, 'properties') !== null || schema.get('type') !== 'object');
  if (schema !== null && isJsonSchema) {
    const name = textIn(output, 'touchstone.name') ?? 'answer';
    draft.parameters.set('response_format', { type: 'json_schema', json_schema: { name, schema: plain(schema) } });
    note(draft, 'translated', 'output.schema', 'Stored as response_format', line);
    return;
  }
  if (output.has('schema'))
    note(draft, 'refused', 'output.schema', 'Only JSON Schema is supported, not Picoschema', line);
  const format = output.get('format');
  if (format === undefined || format === null || format === 'text') return;
  if (format !== 'json') return note(draft, 'refused', 'output.format', 'Only json and text are supported', line);
  draft.parameters.set('response_format', { type: 'json_object' });
  note(draft, 'translated', 'output.format', 'Stored as response_format', line);
}

/** Fields of our own files beyond the format, in an extension of it. */
function takeExtension(draft: Draft, fields: ReadMap): void {
  draft.folder = textIn(fields, 'touchstone.folder');
  draft.note = textIn(fields, 'touchstone.note');
  for (const [name, value] of mapIn(fields, 'touchstone.samples') ?? []) {
    describeVariable(draft, name, { sampleValue: valueText(value) });
  }
  const format = mapIn(fields, 'touchstone.responseFormat');
  if (format !== null) draft.parameters.set('response_format', plain(format));
}

function takeFields(draft: Draft, fields: ReadMap, lineOf: ReadYaml['lineOf']): void {
  draft.name = takenText(draft, fields, 'name', lineOf) ?? draft.name;
  draft.description = takenText(draft, fields, 'description', lineOf);
  const model = takenText(draft, fields, 'model', lineOf);
  if (model !== null) draft.model = modelNamed(model, textIn(fields, 'touchstone.aiSystem'));
  takeInput(draft, mapIn(fields, 'input'));
  takeOutput(draft, mapIn(fields, 'output'), lineOf(['output']));
  const config = mapIn(fields, 'config');
  if (config !== null) takeParameters(draft, config, { field: 'config', lineOf: (key) => lineOf(['config', key]) });
  noteUnknownKeys(draft, fields, 'input', ['schema', 'default'], lineOf);
  noteUnknownKeys(draft, fields, 'output', ['schema', 'format'], lineOf);
  if (config === null) noteUnknownKeys(draft, fields, 'config', [], lineOf);
  takeExtension(draft, fields);
  takeTags(draft, fields, lineOf);
  for (const key of fields.keys()) {
    if (key === 'tools' || key === 'toolDefs')
      note(draft, 'refused', key, "Prompts can't contain tools", lineOf([key]));
    else if (ignored.has(key) || (key.includes('.') && !key.startsWith('touchstone.'))) {
      note(draft, 'refused', key, 'Not supported in prompts', lineOf([key]));
    } else if (!fieldNames.has(key) && !key.startsWith('touchstone.'))
      note(draft, 'refused', key, 'Unknown field', lineOf([key]));
  }
}

function modelNamed(name: string, system: string | null): Draft['model'] {
  const known = aiSystem.safeParse(system);
  const read = readDotpromptModel(name);
  return known.success ? { aiSystem: known.data, model: read.aiSystem === null ? name : read.model } : read;
}

/** `.prompt` files: front matter in YAML and a template of Handlebars, with roles. */
export const readDotprompt: Reader = (text, { name }) => {
  if (isPartial(name))
    throw new TransferError("The file is a partial for other prompts to include; partials aren't imported");
  const match = frontMatter.exec(text);
  if (match === null && /^---\s*$/m.test(text.slice(0, 10))) {
    throw new TransferError('The front matter has no closing --- line; the file may be incomplete', 1);
  }
  const draft = emptyDraft(baseName(name));
  draft.style = 'handlebars';
  const body = match === null ? text : (match[2] ?? '');
  if (match !== null) {
    const yaml = readYaml(match[1]!, 2);
    if (yaml.value !== null && !isMap(yaml.value)) throw new TransferError("The front matter isn't a map of fields", 2);
    if (yaml.value !== null) takeFields(draft, yaml.value as ReadMap, yaml.lineOf);
  }
  const firstLine = lineAt(text, text.length - body.length);
  draft.messages = messagesOf(draft, body, firstLine);
  noteSessionState(draft, body, firstLine);
  return [draft];
};
