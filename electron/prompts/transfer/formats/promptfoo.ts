import { mostTransferredPrompts } from '../../../../shared/contract/prompt-transfer.ts';
import {
  isMap,
  listIn,
  mapIn,
  readJson,
  readYaml,
  textIn,
  valueText,
  type ReadMap,
  type ReadYaml,
} from '../bounded-values.ts';
import { baseName, describeVariable, emptyDraft, note, type Draft, type Reader } from '../draft.ts';
import { readPromptfooProvider } from '../model-names.ts';
import { takeParameters } from '../parameter-names.ts';
import { Refusal } from '../refusal.ts';
import { takeMessages } from './messages.ts';

interface Suite {
  readonly fields: ReadMap;
  readonly lineOf: ReadYaml['lineOf'];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** `id` and `config` of a provider, in each of the three ways that promptfoo takes them. */
function providerOf(entry: unknown): { id: string; config: ReadMap | null } | null {
  if (typeof entry === 'string') return { id: entry, config: null };
  if (!isMap(entry)) return null;
  const id = textIn(entry, 'id');
  if (id !== null) return { id, config: mapIn(entry, 'config') };
  const [first] = entry;
  return first === undefined ? null : { id: first[0], config: isMap(first[1]) ? mapIn(first[1], 'config') : null };
}

function takeProviders(draft: Draft, { fields, lineOf }: Suite): void {
  const entries = asList(fields.get('providers') ?? fields.get('targets'));
  let isTaken = false;
  entries.forEach((entry, index) => {
    const provider = providerOf(entry);
    const line = lineOf(['providers', index]);
    const model = provider === null ? null : readPromptfooProvider(provider.id);
    const title = provider?.id.slice(0, 100) ?? 'The entry';
    if (model === null) note(draft, 'refused', `providers[${index}]`, `${title} is not a provider here`, line);
    else if (isTaken)
      note(draft, 'refused', `providers[${index}]`, `${title}: a prompt has one model, the first one`, line);
    else {
      isTaken = true;
      draft.model = model;
      if (provider?.config)
        takeParameters(draft, provider.config, { field: `providers[${index}].config`, lineOf: () => line });
    }
  });
}

/** Tests after these are only counted. */
const mostTests = 100;

/** Values of `defaultTest` fill what is left out, those of the first test that has them are samples. */
function takeTests(draft: Draft, { fields, lineOf }: Suite): void {
  for (const [name, value] of mapIn(mapIn(fields, 'defaultTest'), 'vars') ?? []) {
    describeVariable(draft, name, { defaultValue: valueText(value) });
  }
  const tests = fields.get('tests');
  if (typeof tests === 'string')
    note(
      draft,
      'refused',
      'tests',
      `${tests.slice(0, 100)} is a file of its own, which is not read`,
      lineOf(['tests']),
    );
  const listed = listIn(fields, 'tests') ?? [];
  let others = Math.max(0, listed.length - mostTests);
  for (const test of listed.slice(0, mostTests)) {
    const vars = isMap(test) ? mapIn(test, 'vars') : null;
    let isNew = false;
    for (const [name, value] of vars ?? []) {
      if (draft.variables.get(name)?.sampleValue != null) continue;
      isNew = true;
      describeVariable(draft, name, { sampleValue: valueText(value) });
    }
    if (!isNew) others += 1;
  }
  if (others > 0)
    note(draft, 'refused', 'tests', `Values of ${others} more tests: a variable has one sample`, lineOf(['tests']));
  const hasAssertions = listed.some((test) => isMap(test) && test.has('assert'));
  if (hasAssertions) note(draft, 'refused', 'tests', 'Assertions are not part of a prompt', lineOf(['tests']));
}

/** Text that is a chat in JSON or YAML, as promptfoo takes it; null for plain text. */
function chatOf(text: string): readonly unknown[] | null {
  const isJson = /^\s*\[\s*\{/.test(text);
  if (!isJson && !/^\s*-\s+(role|content):/.test(text)) return null;
  try {
    const value = isJson ? readJson(text) : readYaml(text).value;
    return Array.isArray(value) && value.every((message) => isMap(message) && message.has('role')) ? value : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function draftOf(entry: unknown, name: string, line: number | null): Draft {
  const draft = emptyDraft(name);
  // promptfoo renders with Nunjucks, whatever the text looks like.
  draft.style = 'jinja';
  const text = typeof entry === 'string' ? entry : isMap(entry) ? (textIn(entry, 'raw') ?? textIn(entry, 'id')) : null;
  const label = isMap(entry) ? (textIn(entry, 'label') ?? textIn(entry, 'description')) : null;
  draft.name = label ?? name;
  if (text === null) draft.refusal = { message: 'It is neither a text nor an entry with one', line };
  else if (
    /^(file|https?|exec|langfuse|portkey|helicone):\/\//.test(text) ||
    /^[\w./\\*-]+\.(txt|json|ya?ml|js|mjs|ts|py|md|j2|csv)(:\w+)?$/.test(text)
  ) {
    draft.refusal = { message: `${text.slice(0, 100)} is a file of its own; import that file too`, line };
  } else takeMessages(draft, chatOf(text) ?? [text], line);
  return draft;
}

/** What our own files say beyond the format. */
function takeExtension(draft: Draft, extension: ReadMap | null): void {
  if (extension === null) return;
  draft.folder = textIn(extension, 'folder');
  draft.description = textIn(extension, 'description');
  draft.note = textIn(extension, 'note');
  draft.tags = (listIn(extension, 'tags') ?? []).filter((tag) => typeof tag === 'string');
  for (const [name, text] of mapIn(extension, 'variables') ?? []) {
    describeVariable(draft, name, { description: valueText(text) });
  }
}

const known = new Set(['prompts', 'providers', 'targets', 'tests', 'defaultTest', 'description', 'metadata', 'tags']);

/** Every prompt of a `promptfooconfig.yaml`, with the first provider and the values of the tests. */
export const readPromptfoo: Reader = (text, { name }) => {
  const { value, lineOf } = readYaml(text);
  if (!isMap(value) || !value.has('prompts')) throw new Refusal('There are no prompts in it');
  const suite = { fields: value, lineOf };
  const prompts = asList(value.get('prompts'));
  if (prompts.length > mostTransferredPrompts) throw new Refusal(`It has more than ${mostTransferredPrompts} prompts`);
  if (prompts.length === 0) throw new Refusal('There are no prompts in it', lineOf(['prompts']));
  const title = textIn(value, 'description') ?? baseName(name);
  return prompts.map((entry, index) => {
    const draft = draftOf(
      entry,
      prompts.length === 1 ? title : `${title} ${index + 1}`,
      lineOf(['prompts', index]) ?? lineOf(['prompts']),
    );
    takeExtension(draft, mapIn(mapIn(value, 'metadata'), 'touchstone'));
    takeProviders(draft, suite);
    takeTests(draft, suite);
    for (const key of value.keys()) {
      if (!known.has(key)) note(draft, 'refused', key, 'Has no place in a prompt', lineOf([key]));
    }
    return draft;
  });
};
