import { AppError } from '../../../shared/app-error.ts';
import type { ExportedFile, ExportFormat, TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import { Refusal } from './refusal.ts';
import { writeDotprompt } from './writers/dotprompt.ts';
import type { ExportedPrompt, Written } from './writers/exported-prompt.ts';
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

/** Most characters of one export: an answer of that size is held in memory. */
const mostCharacters = 64 * 1_048_576;

export type ExportEntry = TransferEntry & { promptId: string; promptName: string };

/** Writes prompts one by one; `exported` may read each when its turn comes. Throws `payload_too_large` for more than 64 MB. */
export function writeFiles(
  exported: Iterable<ExportedPrompt>,
  format: ExportFormat,
): { files: ExportedFile[]; entries: ExportEntry[] } {
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
      const { content, notes } = write(each);
      characters += content.length;
      if (characters > mostCharacters)
        throw new AppError('payload_too_large', 'The files exceed 64 MB. Export fewer prompts at a time.');
      files.push({ name: nameOf(each.prompt), content });
      for (const { field, message } of notes) entry(field, message, null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      entry('prompt', error.message, error.line);
    }
  }
  if (format !== 'jsonl' || files.length === 0) return { files, entries };
  return { files: [{ name: 'prompts.jsonl', content: files.map(({ content }) => content).join('') }], entries };
}
