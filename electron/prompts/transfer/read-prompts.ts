import {
  type ImportFormat,
  maxTransferredPrompts,
  type TransferEntry,
  type VariableStyle,
} from '../../../shared/contract/prompt-transfer.ts';
import { finishDraft, type FinishedPrompt } from './finish-draft.ts';
import { createReferencedFiles, type ReferencedFile, type ReferencedFiles } from './referenced-files.ts';
import { baseName, type Draft, emptyDraft, type Reader } from './draft.ts';
import { decodeText, TransferError } from './source-text.ts';
import { readCsv } from './formats/csv.ts';
import { isDotprompt, readDotprompt } from './formats/dotprompt.ts';
import { readLangfuse } from './formats/langfuse.ts';
import { readOpenAiJsonl } from './formats/openai-jsonl.ts';
import { readPromptfoo } from './formats/promptfoo.ts';

/** A plain text. The newline that editors add at the end of a file isn't part of it. */
const readPlainText: Reader = (text, { name }) => {
  const draft = emptyDraft(baseName(name));
  if (/\.(j2|jinja2?|njk)$/i.test(name)) draft.style = 'jinja';
  if (/\.(hbs|handlebars|mustache)$/i.test(name)) draft.style = 'handlebars';
  draft.messages = [{ role: 'user', text: text.replace(/\r?\n$/, ''), line: 1 }];
  return [draft];
};

const readers: Readonly<Record<ImportFormat, Reader>> = {
  dotprompt: readDotprompt,
  promptfoo: readPromptfoo,
  langfuse: readLangfuse,
  'openai-jsonl': readOpenAiJsonl,
  csv: readCsv,
  text: readPlainText,
};

/** File extensions that determine the format. */
const endings: readonly (readonly [RegExp, ImportFormat])[] = [
  [/\.prompt$/i, 'dotprompt'],
  [/\.jsonl$/i, 'openai-jsonl'],
  [/\.(csv|tsv)$/i, 'csv'],
  [/\.ya?ml$/i, 'promptfoo'],
  [/\.(md|j2|jinja2?|njk|hbs|handlebars|mustache)$/i, 'text'],
];

/** A promptfoo configuration in JSON, detected by its usual name, or by `prompts`, because a prompt of Langfuse has `prompt`. */
function isPromptfooJson(name: string, text: string): boolean {
  if (/promptfooconfig[^/\\]*\.json$/i.test(name)) return true;
  return /\.json$/i.test(name) && /^\s*\{/.test(text) && /"prompts"\s*:/.test(text) && !/"prompt"\s*:/.test(text);
}

/** The format of a source, from its name and then from its text. */
function formatOf(name: string, text: string): ImportFormat {
  const ending = endings.find(([pattern]) => pattern.test(name))?.[1];
  if (ending !== undefined) return ending;
  if (/^prompts:\s/.test(text)) return 'promptfoo';
  if (isDotprompt(text)) return 'dotprompt';
  if (/^\s*\{[^\n]*"(messages|body)"\s*:/.test(text)) return 'openai-jsonl';
  if (isPromptfooJson(name, text)) return 'promptfoo';
  const isLangfuse = /\.json$/i.test(name) || /^\s*[[{]\s*[{"][\s\S]{0,20000}"prompt"\s*:/.test(text);
  return isLangfuse ? 'langfuse' : 'text';
}

/** Aliases of YAML let a small file hold large prompts. */
function rejectMultiplied(drafts: readonly Draft[], length: number): void {
  const characters = drafts.reduce(
    (sum, { messages }) => sum + messages.reduce((all, { text }) => all + text.length, 0),
    0,
  );
  if (characters > Math.max(6_000_000, 2 * length))
    throw new TransferError('The prompts in this file are too large in total');
}

export interface ReadSource {
  readonly format: ImportFormat | null;
  readonly drafts: readonly Draft[];
  /** Why nothing is imported. */
  readonly entries: TransferEntry[];
}

/** Reads one file or pasted text. Never throws: errors are in the entries. */
export function readSource(
  source: { readonly name: string; readonly content: string | Uint8Array; readonly files: ReferencedFiles },
  chosen: ImportFormat | null,
): ReadSource {
  let format = chosen;
  try {
    const text = typeof source.content === 'string' ? source.content : decodeText(source.content);
    if (text.trim() === '') throw new TransferError('The file is empty');
    format ??= formatOf(source.name, text);
    const drafts = readers[format](text, source);
    rejectMultiplied(drafts, text.length);
    return { format, drafts, entries: [] };
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    return {
      format,
      drafts: [],
      entries: [{ outcome: 'refused', field: 'file', message: error.message, line: error.line }],
    };
  }
}

/** One file or pasted text, with its options. */
export interface ReadTask {
  /** The path relative to the chosen folder. */
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly format: ImportFormat | null;
  readonly variableStyle: VariableStyle | null;
  /** The folder for the prompts. */
  readonly folder: string | null;
  /** Files that an earlier read of the same source requested. */
  readonly files?: readonly ReferencedFile[];
}

export interface ReadPrompts {
  /** Null if the format is unknown. */
  readonly format: ImportFormat | null;
  readonly prompts: readonly FinishedPrompt[];
  /** Issues of the whole file, and its rejected prompts. */
  readonly entries: readonly TransferEntry[];
  /** Paths and patterns of other files that it needs. */
  readonly references: readonly string[];
}

/** Max findings for one prompt or file, so that a response isn't much larger than its request. */
const maxEntries = 50;

/** The folders of a file, relative to the chosen one. */
function folderOf(name: string, folder: string | null): string | null {
  const parts = name
    .split(/[\\/]/)
    .slice(0, -1)
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  const path = [...(folder === null ? [] : [folder]), ...parts].join('/');
  return path === '' ? null : path;
}

function within(folder: string | null, own: string | null): string | null {
  return own === null || folder === null ? own : `${folder}/${own}`;
}

function valueCharacters({ prompt }: FinishedPrompt): number {
  const lengths = (prompt.variables ?? []).map(
    ({ defaultValue, sampleValue }) => (defaultValue?.length ?? 0) + (sampleValue?.length ?? 0),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

function tooLarge(format: ReadPrompts['format']): ReadPrompts {
  const message = 'The prompts in this file are too large in total';
  return {
    format,
    prompts: [],
    entries: [{ outcome: 'refused', field: 'file', message, line: null }],
    references: [],
  };
}

/** Reads a source except for its models. Call it in a thread: a malicious file can make it take very long. */
export function readPrompts({ name, content, format, variableStyle, folder, files = [] }: ReadTask): ReadPrompts {
  const referenced = createReferencedFiles(name, files);
  const read = readSource({ name, content, files: referenced }, format);
  const bytes = [content, ...files.map((file) => file.content)].reduce((sum, { length }) => sum + length, 0);
  let characters = 0;
  const prompts: FinishedPrompt[] = [];
  for (const draft of read.drafts) {
    draft.folder = within(folder, draft.folder);
    const prompt = finishDraft(draft, { folder: folderOf(name, folder), style: variableStyle });
    if (prompt === null) read.entries.push(...draft.entries.filter(({ field }) => field === 'prompt'));
    else {
      prompts.push({ ...prompt, entries: prompt.entries.slice(0, maxEntries) });
      characters += valueCharacters(prompt);
    }
    // Prompts share values, which would let a small file make large ones.
    if (characters > Math.max(6_000_000, 2 * bytes)) return tooLarge(read.format);
    // One more than the maximum is enough to reject the import.
    if (prompts.length > maxTransferredPrompts) break;
  }
  const references = [...referenced.references];
  return { format: read.format, prompts, entries: read.entries.slice(0, maxEntries), references };
}
