import { maxTransferredPrompts, type TransferEntry } from '../../../../shared/contract/prompt-transfer.ts';
import {
  isMap,
  listIn,
  mapIn,
  readJson,
  type ReadMap,
  readYaml,
  type ReadYaml,
  textIn,
  valueText,
} from '../bounded-values.ts';
import { baseName, describeVariable, type Draft, emptyDraft, note, type Reader } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import type { ReferencedFiles } from '../referenced-files.ts';
import { readPromptfooProvider } from '../model-names.ts';
import { takeParameters } from '../parameter-names.ts';
import { takeMessages } from './openai-jsonl.ts';
import { pathOf, type PromptText, readObjectFiles, readPromptFiles, readValueFile } from './promptfoo-files.ts';
import type { PromptVariable } from '../../../../shared/contract/prompts.ts';

/** Further tests are only counted. */
const maxTests = 100;
/** A longer value would make every prompt that uses it as large. */
const maxValueCharacters = 100_000;
/** Fields of objects that become separate values, for templates that use them: `customer.name`. */
const maxFields = 200;

interface SuiteVariables {
  readonly variables: ReadonlyMap<string, Partial<PromptVariable>>;
  readonly entries: readonly TransferEntry[];
}

/** `customer` and `customer.name`: a template may use the object or a field of it. */
function* valuesIn(name: string, value: unknown): Generator<readonly [string, unknown]> {
  yield [name, value];
  if (isMap(value)) for (const [key, inner] of value) yield* valuesIn(`${name}.${key}`, inner);
}

class SuiteReader {
  readonly variables = new Map<string, Partial<PromptVariable>>();
  readonly entries: TransferEntry[] = [];
  private readonly files: ReferencedFiles;

  constructor(files: ReferencedFiles) {
    this.files = files;
  }

  skip(field: string, message: string, line: number | null): void {
    note(this, 'refused', field, message, line);
  }

  /** The result of reading a file, or nothing with the reason in the report. */
  attempt<Result>(field: string, line: number | null, read: () => Result): Result | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      this.skip(field, error.message, line);
      return null;
    }
  }

  /** Objects of the configuration or of files that it names. */
  objects(value: unknown, field: string, line: number | null): ReadMap[] {
    const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    return list.flatMap((item) => {
      if (isMap(item)) return [item];
      if (typeof item !== 'string') return [];
      return this.attempt(field, line, () => readObjectFiles(item, this.files)) ?? [];
    });
  }

  /** Sets the default or sample of variables. Returns whether one of them had none yet. */
  take(vars: unknown, kind: 'defaultValue' | 'sampleValue', line: number | null): boolean {
    const field = kind === 'defaultValue' ? 'defaultTest' : 'tests';
    let isNew = false;
    for (const values of this.objects(vars, field, line)) {
      for (const [name, given] of values) {
        if (this.variables.get(name)?.[kind] != null) continue;
        isNew = true;
        const isFile = typeof given === 'string' && given.startsWith('file://');
        this.set(name, isFile ? this.attempt(field, line, () => readValueFile(given, this.files)) : given, kind, line);
      }
    }
    return isNew;
  }

  private set(name: string, value: unknown, kind: 'defaultValue' | 'sampleValue', line: number | null): void {
    let fields = 0;
    for (const [path, inner] of valuesIn(name, value)) {
      if (++fields > maxFields) break;
      const text = valueText(inner);
      if (text !== null && text.length > maxValueCharacters) {
        const limit = maxValueCharacters.toLocaleString('en');
        this.skip('tests', `The value of ${path.slice(0, 100)} is longer than ${limit} characters`, line);
      } else this.variables.set(path, { ...this.variables.get(path), [kind]: text });
    }
  }
}

/** A row of a CSV file is a test whose columns are variables, except for those that begin with two underscores. */
function varsOf(test: ReadMap): unknown {
  if (test.has('vars')) return test.get('vars');
  const isTest = [...test.keys()].some((key) => key === 'assert' || key === 'description' || key === 'options');
  return isTest ? null : new Map([...test].filter(([key]) => !key.startsWith('__')));
}

const hasAssertions = (test: ReadMap) =>
  test.has('assert') || [...test.keys()].some((key) => key.startsWith('__expected'));

/** Values of `defaultTest` become defaults; those of the first test with the variable become samples. */
function readSuiteVariables(fields: ReadMap, lineOf: ReadYaml['lineOf'], files: ReferencedFiles): SuiteVariables {
  const reader = new SuiteReader(files);
  const defaultLine = lineOf(['defaultTest']);
  for (const test of reader.objects(fields.get('defaultTest'), 'defaultTest', defaultLine))
    reader.take(mapIn(test, 'vars') ?? test.get('vars'), 'defaultValue', defaultLine);
  const line = lineOf(['tests']);
  const tests = reader.objects(fields.get('tests'), 'tests', line);
  let others = Math.max(0, tests.length - maxTests);
  for (const test of tests.slice(0, maxTests)) if (!reader.take(varsOf(test), 'sampleValue', line)) others += 1;
  if (others > 0) reader.skip('tests', `Skipped the values of ${others} more tests; a variable has one sample`, line);
  if (tests.some(hasAssertions)) reader.skip('tests', "Prompts can't contain assertions", line);
  return reader;
}

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
