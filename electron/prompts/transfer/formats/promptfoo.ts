import { maxTransferredPrompts } from '../../../../shared/contract/prompt-transfer.ts';
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
import { baseName, describeVariable, type Draft, emptyDraft, note, type Reader } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import type { ReferencedFiles } from '../referenced-files.ts';
import { readPromptfooProvider } from '../model-names.ts';
import { takeParameters } from '../parameter-names.ts';
import { takeMessages } from './openai-jsonl.ts';
import { pathOf, readObjectFiles, readPromptFiles, type PromptText } from './promptfoo-files.ts';
import { readSuiteVariables } from './promptfoo-tests.ts';

interface Suite {
  readonly fields: ReadMap;
  readonly lineOf: ReadYaml['lineOf'];
  readonly files: ReferencedFiles;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** `id` and `config` of a provider, in each of promptfoo's three forms. */
function providerOf(entry: unknown): { id: string; config: ReadMap | null } | null {
  if (typeof entry === 'string') return { id: entry, config: null };
  if (!isMap(entry)) return null;
  const id = textIn(entry, 'id');
  if (id !== null) return { id, config: mapIn(entry, 'config') };
  const [first] = entry;
  return first === undefined ? null : { id: first[0], config: isMap(first[1]) ? mapIn(first[1], 'config') : null };
}

/** Providers, including those in named files. */
function providerEntries(draft: Draft, { fields, lineOf, files }: Suite): unknown[] {
  return asList(fields.get('providers') ?? fields.get('targets')).flatMap((entry, index) => {
    if (typeof entry !== 'string' || !/^file:\/\/.*\.(?:ya?ml|json)$/.test(entry)) return [entry];
    try {
      return readObjectFiles(entry, files);
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      note(draft, 'refused', `providers[${index}]`, error.message, lineOf(['providers', index]));
      return [];
    }
  });
}

function takeProviders(draft: Draft, suite: Suite): void {
  const { lineOf } = suite;
  const entries = providerEntries(draft, suite);
  let isTaken = false;
  entries.forEach((entry, index) => {
    const provider = providerOf(entry);
    const line = lineOf(['providers', index]);
    const model = provider === null ? null : readPromptfooProvider(provider.id);
    const title = provider?.id.slice(0, 100) ?? '';
    if (model === null) note(draft, 'refused', `providers[${index}]`, `Unknown provider ${title}`, line);
    else if (isTaken)
      note(
        draft,
        'refused',
        `providers[${index}]`,
        `${title} is skipped; a prompt has one model, and the first one is used`,
        line,
      );
    else {
      isTaken = true;
      draft.model = model;
      if (provider?.config)
        takeParameters(draft, provider.config, { field: `providers[${index}].config`, lineOf: () => line });
    }
  });
}

/** Text that is a chat in JSON or YAML, as in promptfoo; null for plain text. */
function chatOf(text: string): readonly unknown[] | null {
  const isJson = /^\s*\[\s*\{/.test(text);
  if (!isJson && !/^\s*-\s+(role|content):/.test(text)) return null;
  try {
    const value = isJson ? readJson(text) : readYaml(text).value;
    return Array.isArray(value) && value.every((message) => isMap(message) && message.has('role')) ? value : null;
  } catch (error) {
    if (error instanceof TransferError) return null;
    throw error;
  }
}

interface Entry {
  readonly text: string | null;
  readonly label: string | null;
}

function entryOf(entry: unknown): Entry {
  if (!isMap(entry)) return { text: typeof entry === 'string' ? entry : null, label: null };
  return {
    text: textIn(entry, 'raw') ?? textIn(entry, 'id'),
    label: textIn(entry, 'label') ?? textIn(entry, 'description'),
  };
}

/** Older configurations have a map from texts or files to their labels. */
function promptEntries(prompts: unknown): readonly Entry[] {
  const isLegacy = isMap(prompts) && !['raw', 'id', 'label'].some((key) => prompts.has(key));
  return isLegacy
    ? [...prompts].map(([text, label]) => ({ text, label: valueText(label) }))
    : asList(prompts).map(entryOf);
}

/** The texts of an entry, which can be in files. Throws `TransferError`. */
function textsOf({ text }: Entry, files: ReferencedFiles): readonly PromptText[] {
  if (text === null) throw new TransferError("It's neither a text nor an entry with one");
  const path = pathOf(text);
  return path === null ? [{ text, file: null, name: null }] : readPromptFiles(path, files);
}

function draftsOf(entry: Entry, title: string, line: number | null, files: ReferencedFiles): Draft[] {
  try {
    const texts = textsOf(entry, files);
    return texts.map(({ text, file, name }, index) => {
      const label = entry.label === null || texts.length === 1 ? entry.label : `${entry.label} ${index + 1}`;
      const draft = emptyDraft(label ?? name ?? title);
      // promptfoo renders all texts with Nunjucks.
      draft.style = 'jinja';
      draft.file = file;
      takeMessages(draft, chatOf(text) ?? [text], file === null ? line : null);
      return draft;
    });
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    return [{ ...emptyDraft(entry.label ?? title), rejection: { message: error.message, line: error.line ?? line } }];
  }
}

/** Fields of our own files beyond the format. */
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
export const readPromptfoo: Reader = (text, { name, files }) => {
  const { value, lineOf } = readYaml(text);
  if (!isMap(value) || !value.has('prompts')) throw new TransferError('No prompts found');
  const entries = promptEntries(value.get('prompts'));
  if (entries.length === 0) throw new TransferError('No prompts found', lineOf(['prompts']));
  const title = textIn(value, 'description') ?? baseName(name);
  const drafts: Draft[] = [];
  for (const [index, entry] of entries.entries()) {
    const line = lineOf(['prompts', index]) ?? lineOf(['prompts']);
    drafts.push(...draftsOf(entry, entries.length === 1 ? title : `${title} ${index + 1}`, line, files));
    if (drafts.length > maxTransferredPrompts)
      throw new TransferError(`The file has more than ${maxTransferredPrompts} prompts; split it`);
  }
  const suite = readSuiteVariables(value, lineOf, files);
  for (const draft of drafts) {
    takeExtension(draft, mapIn(mapIn(value, 'metadata'), 'touchstone'));
    takeProviders(draft, { fields: value, lineOf, files });
    draft.suiteVariables = suite.variables;
    draft.entries.push(...suite.entries);
    for (const key of value.keys()) {
      if (!known.has(key)) note(draft, 'refused', key, 'Not supported in prompts', lineOf([key]));
    }
  }
  return drafts;
};
