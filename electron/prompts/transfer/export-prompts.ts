import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { ExportedFile, ExportFormat, TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import { settingRejection } from './parameter-names.ts';
import { Refusal } from './refusal.ts';
import { writeDotprompt } from './writers/dotprompt.ts';
import type { ExportedPrompt, ExportNote, Written } from './writers/exported-prompt.ts';
import { createFileNames } from './writers/file-names.ts';
import { writeJsonLine } from './writers/jsonl.ts';
import { writeMarkdown } from './writers/markdown.ts';
import { writePromptfoo } from './writers/promptfoo.ts';

const writers: Readonly<Record<ExportFormat, { write: (exported: ExportedPrompt) => Written; extension: string }>> = {
  dotprompt: { write: writeDotprompt, extension: 'prompt' },
  promptfoo: { write: writePromptfoo, extension: 'promptfoo.yaml' },
  jsonl: { write: writeJsonLine, extension: 'jsonl' },
  markdown: { write: writeMarkdown, extension: 'md' },
};

/** Characters of one export, which is held in memory. */
const maxCharacters = 64 * 1_048_576;

export type ExportEntry = TransferEntry & { promptId: string; promptName: string };

/** The prompt with the settings that a file for others may have, and what is left out. */
function withSafeSettings({ prompt, version }: ExportedPrompt): { safe: ExportedPrompt; notes: ExportNote[] } {
  if (version.configuration === null) return { safe: { prompt, version }, notes: [] };
  const notes: ExportNote[] = [];
  const settings = Object.entries(version.configuration).filter(([key, value]) => {
    const message = settingRejection(key, value);
    if (message !== null) notes.push({ field: `configuration.${key}`, message });
    return message === null;
  });
  const configuration = settings.length === 0 ? null : Object.fromEntries(settings);
  return { safe: { prompt, version: { ...version, configuration } }, notes };
}

export interface WriteTask {
  readonly exported: readonly ExportedPrompt[];
  readonly format: ExportFormat;
}

export interface WrittenFiles {
  readonly files: ExportedFile[];
  readonly entries: ExportEntry[];
}

const tooLarge = () => new AppError('payload_too_large', 'The files exceed 64 MB. Export fewer prompts at a time.');

/**
 * Reads the prompts of an export, each in a turn of the event loop of its own. Throws `payload_too_large` for texts that no export has room
 * for.
 */
export async function readExported(prompts: Iterable<ExportedPrompt>): Promise<ExportedPrompt[]> {
  const exported: ExportedPrompt[] = [];
  let characters = 0;
  for (const each of prompts) {
    characters += each.version.promptText.length;
    if (characters > maxCharacters) throw tooLarge();
    exported.push(each);
    await nextTurn();
  }
  return exported;
}

/**
 * Writes prompts one by one. Throws `payload_too_large` for more than 64 MB. Takes seconds for long texts: it belongs in a thread of its
 * own.
 */
export function writeFiles({ exported, format }: WriteTask): WrittenFiles {
  const { write, extension } = writers[format];
  const nameOf = createFileNames(extension);
  const files: ExportedFile[] = [];
  const entries: ExportEntry[] = [];
  let characters = 0;
  for (const each of exported) {
    const entry = (field: string, message: string, line: number | null) => {
      entries.push({
        outcome: 'refused',
        field,
        message,
        line,
        promptId: each.prompt.id,
        promptName: each.prompt.name,
      });
    };
    try {
      const { safe, notes: leftOut } = withSafeSettings(each);
      const { content, notes } = write(safe);
      characters += content.length;
      if (characters > maxCharacters) throw tooLarge();
      files.push({ name: nameOf(each.prompt), content });
      for (const { field, message } of [...leftOut, ...notes]) entry(field, message, null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      entry('prompt', error.message, error.line);
    }
  }
  if (format !== 'jsonl' || files.length === 0) return { files, entries };
  return { files: [{ name: 'prompts.jsonl', content: files.map(({ content }) => content).join('') }], entries };
}
