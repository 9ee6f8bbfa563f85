import type { ImportFormat, TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import { baseName, type Draft, emptyDraft, type Reader } from './draft.ts';
import { readCsv } from './formats/csv.ts';
import { isDotprompt, readDotprompt } from './formats/dotprompt.ts';
import { readLangfuse } from './formats/langfuse.ts';
import { readOpenAiJsonl } from './formats/openai-jsonl.ts';
import { readPromptfoo } from './formats/promptfoo.ts';
import type { ReferencedFiles } from './referenced-files.ts';
import { Refusal } from './refusal.ts';
import { decodeText } from './source-text.ts';

/** A text as it is. The newline that editors put at the end of a file is not part of it. */
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

/** Endings that say what a file is. */
const endings: readonly (readonly [RegExp, ImportFormat])[] = [
  [/\.prompt$/i, 'dotprompt'],
  [/\.jsonl$/i, 'openai-jsonl'],
  [/\.(csv|tsv)$/i, 'csv'],
  [/\.(md|j2|jinja2?|njk|hbs|handlebars|mustache)$/i, 'text'],
];

/** A promptfoo configuration in JSON: known by its usual name, or by `prompts` where a prompt of Langfuse has `prompt`. */
function isPromptfooJson(name: string, text: string): boolean {
  if (/promptfooconfig[^/\\]*\.json$/i.test(name)) return true;
  return /\.json$/i.test(name) && /^\s*\{/.test(text) && /"prompts"\s*:/.test(text) && !/"prompt"\s*:/.test(text);
}

/** What a source is, from its name and then from its text. */
function formatOf(name: string, text: string): ImportFormat {
  const ending = endings.find(([pattern]) => pattern.test(name))?.[1];
  if (ending !== undefined) return ending;
  if (isDotprompt(text)) return 'dotprompt';
  if (/^\s*\{[^\n]*"(messages|body)"\s*:/.test(text)) return 'openai-jsonl';
  if (isPromptfooJson(name, text)) return 'promptfoo';
  if (/\.json$/i.test(name) || /^\s*[[{]\s*[{"][\s\S]{0,20000}"prompt"\s*:/.test(text)) return 'langfuse';
  return /\.ya?ml$/i.test(name) || /^prompts:\s/.test(text) ? 'promptfoo' : 'text';
}

/** Aliases of YAML let a small file hold large prompts. */
function refuseMultiplied(drafts: readonly Draft[], length: number): void {
  const characters = drafts.reduce(
    (sum, { messages }) => sum + messages.reduce((all, { text }) => all + text.length, 0),
    0,
  );
  if (characters > Math.max(6_000_000, 2 * length))
    throw new Refusal('The prompts in this file are too large in total');
}

export interface ReadSource {
  readonly format: ImportFormat | null;
  readonly drafts: readonly Draft[];
  /** Why nothing is taken. */
  readonly entries: TransferEntry[];
}

/** Reads one file or pasted text. Never throws: what cannot be read is in the entries. */
export function readSource(
  source: { readonly name: string; readonly content: string | Uint8Array; readonly files: ReferencedFiles },
  chosen: ImportFormat | null,
): ReadSource {
  let format = chosen;
  try {
    const text = typeof source.content === 'string' ? source.content : decodeText(source.content);
    if (text.trim() === '') throw new Refusal('The file is empty');
    format ??= formatOf(source.name, text);
    const drafts = readers[format](text, source);
    refuseMultiplied(drafts, text.length);
    return { format, drafts, entries: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      format,
      drafts: [],
      entries: [{ outcome: 'refused', field: 'file', message: error.message, line: error.line }],
    };
  }
}
