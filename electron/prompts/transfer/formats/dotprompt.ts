import type { AST } from '@handlebars/parser';
import { createLineFinder } from '../../../../shared/prompt-template-variables.ts';
import { nodeSpan, parseSyntax, TemplateProblem } from '../../../../shared/prompt-template-syntax.ts';
import {
  isMap,
  listIn,
  mapIn,
  plain,
  readYaml,
  textIn,
  valueText,
  type ReadMap,
  type ReadYaml,
} from '../bounded-values.ts';
import {
  baseName,
  describeVariable,
  emptyDraft,
  note,
  roleOf,
  type Draft,
  type DraftMessage,
  type Reader,
} from '../draft.ts';
import { readDotpromptModel } from '../model-names.ts';
import { takeParameters } from '../parameter-names.ts';
import { lineAt, Refusal } from '../refusal.ts';
import { aiSystem } from '../../../../shared/contract/common.ts';

/** As the `dotprompt` package has it: the fields, and the template. */
export const frontMatter =
  /^---[^\S\r\n]*(?:\r\n|\r|\n)([\s\S]*?)(?:\r\n|\r|\n)---[^\S\r\n]*(?:(?:\r\n|\r|\n)([\s\S]*))?$/;

/**
 * Readers of `.prompt` files take away white space at the ends of a text. Where it belongs to the prompt, comments stand beside it: a
 * line of its own at the start, which renders as nothing, and two at the end, which are no line of their own.
 */
export const startGuard = /^\{\{!\}\}\r?\n/;
export const endGuard = '{{!}}{{!}}';

/** Whether a text begins with front matter. */
export function isDotprompt(text: string): boolean {
  return frontMatter.test(text) || /\{\{[~\s]*role\s+"/.test(text);
}

/** Fields of a `.prompt` file that say nothing of what is sent. */
const ignored = new Set(['variant', 'version', 'raw', 'ext', 'metadata']);

function unguarded(text: string): string {
  const started = text.trim().replace(startGuard, '');
  return started.endsWith(endGuard) ? started.slice(0, -endGuard.length) : started;
}

interface Marker {
  readonly role: string;
  readonly start: number;
  readonly end: number;
}

function markerOf(statement: AST.Statement): Marker | null {
  if (statement.type !== 'MustacheStatement') return null;
  const { path, params } = statement as AST.MustacheStatement;
  const name = (path as { original?: unknown }).original;
  const [first] = params;
  if (name === 'history' && params.length === 0) return { role: 'history', ...nodeSpan(statement) };
  if (name !== 'role' || first?.type !== 'StringLiteral' || params.length !== 1) return null;
  return { role: (first as AST.StringLiteral).value, ...nodeSpan(statement) };
}

/** Splits a template where roles begin. A text with a mistake is one message: what is wrong is told where it is read. */
function messagesOf(draft: Draft, body: string, firstLine: number): DraftMessage[] {
  let markers: Marker[];
  try {
    markers = parseSyntax(body).body.flatMap((statement: AST.Statement) => markerOf(statement) ?? []);
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    markers = [];
  }
  const messages: DraftMessage[] = [];
  const positionOf = createLineFinder(body);
  let role: DraftMessage['role'] = 'user';
  let done = 0;
  for (const marker of [...markers, { role: '', start: body.length, end: body.length }]) {
    const raw = body.slice(done, marker.start);
    const text = unguarded(raw);
    const line = firstLine - 1 + positionOf(done + raw.length - raw.trimStart().length).line;
    if (text !== '') messages.push({ role, text, line });
    if (marker.role === 'history') {
      note(draft, 'refused', 'template', '{{history}} is left out: a prompt has no messages before it', line);
      role = 'other';
    } else role = roleOf(marker.role);
    done = marker.end;
  }
  return messages;
}

/** A key of Picoschema: `name?(enum, description)`. */
export const picoKey = /^([^?(]+)(\??)(?:\(\s*(\w+)\s*(?:,\s*([\s\S]*?)\s*)?\))?$/;

function takeInput(draft: Draft, input: ReadMap | null): void {
  const schema = mapIn(input, 'schema');
  const properties = schema?.get('type') === 'object' ? mapIn(schema, 'properties') : null;
  for (const [key, value] of properties ?? schema ?? []) {
    const [, picoName = key, , , picoText = null] = picoKey.exec(key) ?? [];
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
    note(draft, 'translated', 'output.schema', 'The schema is response_format here', line);
    return;
  }
  if (output.has('schema')) note(draft, 'refused', 'output.schema', 'Only JSON Schema is taken, no shorter form', line);
  if (textIn(output, 'format') !== 'json') return;
  draft.parameters.set('response_format', { type: 'json_object' });
  note(draft, 'translated', 'output.format', 'json is response_format here', line);
}

/** What our own files say beyond the format, in an extension of it. */
function takeExtension(draft: Draft, fields: ReadMap): void {
  draft.folder = textIn(fields, 'touchstone.folder');
  draft.note = textIn(fields, 'touchstone.note');
  draft.tags = (listIn(fields, 'touchstone.tags') ?? []).filter((tag) => typeof tag === 'string');
  for (const [name, value] of mapIn(fields, 'touchstone.samples') ?? []) {
    describeVariable(draft, name, { sampleValue: valueText(value) });
  }
  const format = mapIn(fields, 'touchstone.responseFormat');
  if (format !== null) draft.parameters.set('response_format', plain(format));
}

function takeFields(draft: Draft, fields: ReadMap, lineOf: ReadYaml['lineOf']): void {
  draft.name = textIn(fields, 'name') ?? draft.name;
  draft.description = textIn(fields, 'description');
  const model = textIn(fields, 'model');
  if (model !== null) draft.model = modelNamed(model, textIn(fields, 'touchstone.aiSystem'));
  takeInput(draft, mapIn(fields, 'input'));
  takeOutput(draft, mapIn(fields, 'output'), lineOf(['output']));
  const config = mapIn(fields, 'config');
  if (config !== null) takeParameters(draft, config, { field: 'config', lineOf: (key) => lineOf(['config', key]) });
  takeExtension(draft, fields);
  for (const key of fields.keys()) {
    if (key === 'tools' || key === 'toolDefs')
      note(draft, 'refused', key, 'Tools are not part of a prompt', lineOf([key]));
    else if (ignored.has(key) || (key.includes('.') && !key.startsWith('touchstone.'))) {
      note(draft, 'refused', key, 'Has no place in a prompt', lineOf([key]));
    }
  }
}

function modelNamed(name: string, system: string | null): Draft['model'] {
  const known = aiSystem.safeParse(system);
  const read = readDotpromptModel(name);
  return known.success ? { aiSystem: known.data, model: read.aiSystem === null ? name : read.model } : read;
}

/** Files that others include have names that begin with a line. */
export function isPartial(path: string): boolean {
  return /(^|[\\/])_[^\\/]*$/.test(path);
}

/** `.prompt` files: front matter in YAML and a template of Handlebars, with roles. */
export const readDotprompt: Reader = (text, { name }) => {
  if (isPartial(name)) throw new Refusal('The file is a partial, which other prompts include; partials are not taken');
  const match = frontMatter.exec(text);
  if (match === null && /^---\s*$/m.test(text.slice(0, 10))) {
    throw new Refusal('The front matter is never closed by a line of ---; perhaps the file is cut off', 1);
  }
  const draft = emptyDraft(baseName(name));
  draft.style = 'handlebars';
  const body = match === null ? text : (match[2] ?? '');
  if (match !== null) {
    const yaml = readYaml(match[1]!, 2);
    if (yaml.value !== null && !isMap(yaml.value)) throw new Refusal('The front matter is no list of fields', 2);
    if (yaml.value !== null) takeFields(draft, yaml.value as ReadMap, yaml.lineOf);
  }
  draft.messages = messagesOf(draft, body, lineAt(text, text.length - body.length));
  return [draft];
};
