import {
  maxTransferredPrompts,
  type ImportFormat,
  type TransferEntry,
  type VariableStyle,
} from '../../../shared/contract/prompt-transfer.ts';
import { finishDraft, type FinishedPrompt } from './finish-draft.ts';
import { readSource } from './read-source.ts';
import { createReferencedFiles, type ReferencedFile } from './referenced-files.ts';

/** One file or pasted text, and how it is to be taken. */
export interface ReadTask {
  /** With its folders below the one that was chosen. */
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly format: ImportFormat | null;
  readonly variableStyle: VariableStyle | null;
  /** Where the prompts are put. */
  readonly folder: string | null;
  /** Those that an earlier reading of the same source asked for. */
  readonly files?: readonly ReferencedFile[];
}

export interface ReadPrompts {
  /** Null when nothing could be told from it. */
  readonly format: ImportFormat | null;
  readonly prompts: readonly FinishedPrompt[];
  /** What concerns the file as a whole, and prompts of it that are refused. */
  readonly entries: readonly TransferEntry[];
  /** Paths and patterns of other files that belong to it. */
  readonly references: readonly string[];
}

/** Most findings that are told of one prompt or file; an answer should not be much larger than its question. */
const maxEntries = 50;

/** The folders that a file stands in, below the one that the person chose. */
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

/** Reads a source whole, but for the models. Takes as long as a hostile file makes it take: it belongs in a thread of its own. */
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
    // One more than an import takes is enough to refuse it.
    if (prompts.length > maxTransferredPrompts) break;
  }
  const references = [...referenced.references];
  return { format: read.format, prompts, entries: read.entries.slice(0, maxEntries), references };
}
