import { setImmediate as nextTurn } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { AppError } from '../../../shared/app-error.ts';
import type { ExportedFile, ExportFormat, TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import { splitMessages } from '../../../shared/prompt-messages.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { settingRejection } from './parameter-names.ts';
import { TransferError } from './source-text.ts';
import { writeDotprompt } from './writers/dotprompt.ts';
import { createFileNames, type ExportedPrompt, type ExportNote, type Written } from './writers/exported-prompt.ts';
import { writePromptfoo } from './writers/promptfoo.ts';

/** The files as one zip archive. The time of its entries is constant, so that equal prompts make equal archives. */
export async function zipped(files: readonly ExportedFile[]): Promise<Buffer> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const mtime = new Date(1980, 0, 1);
  for (const { name, content } of files) zip.addBuffer(Buffer.from(content), name, { mtime });
  zip.end();
  return buffer(zip.outputStream);
}

/** A fence longer than every one inside. */
function fenced(text: string, language = ''): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** One line, with Markdown's special characters escaped. */
function inline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

function table({ version }: ExportedPrompt): string[] {
  if (version.variables.length === 0) return [];
  const rows = version.variables.map(({ name, description, defaultValue, sampleValue }) => {
    return `| ${[name, description, defaultValue, sampleValue].map((cell) => inline(cell ?? '')).join(' | ')} |`;
  });
  return [
    '## Variables',
    ['| Name | Description | Default | Sample |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ];
}

/** A page for people to read. Importing it doesn't restore the prompt. */
export function writeMarkdown(exported: ExportedPrompt): Written {
  const { prompt, version } = exported;
  const details = [
    prompt.folder === null ? null : `Folder: ${inline(prompt.folder)}`,
    prompt.tags.length === 0 ? null : `Tags: ${inline(prompt.tags.join(', '))}`,
    version.model === null ? null : `Model: ${inline(`${version.aiSystem} ${version.model}`)}`,
    `Version ${version.number} of ${version.createdAt}`,
    version.note === null ? null : `Note: ${inline(version.note)}`,
  ].filter((detail) => detail !== null);
  const sections = [
    `# ${inline(prompt.name)}`,
    ...(prompt.description === null ? [] : [prompt.description]),
    details.map((detail) => `- ${detail}`).join('\n'),
    ...(version.systemMessage === null ? [] : ['## System message', fenced(version.systemMessage)]),
    '## Prompt',
    fenced(version.promptText, 'handlebars'),
    ...table(exported),
    ...(version.configuration === null
      ? []
      : ['## Settings', fenced(JSON.stringify(version.configuration, null, 2), 'json')]),
  ];
  return { content: `${sections.join('\n\n')}\n`, notes: [] };
}

/** One line: a body of chat completions, with other fields under `touchstone`. */
export function writeJsonLine({ prompt, version }: ExportedPrompt): Written {
  const { promptText, systemMessage, aiSystem, model, configuration, variables, note } = version;
  const system = systemMessage === null ? [] : [{ role: 'system', content: systemMessage }];
  const { hasRoles } = parseTemplate(promptText);
  const blocks = (hasRoles ? splitMessages(promptText) : null) ?? [{ role: 'user', text: promptText }];
  const line = {
    messages: [...system, ...blocks.map(({ role, text }) => ({ role, content: text }))],
    ...(model === null ? {} : { model }),
    ...configuration,
    touchstone: {
      name: prompt.name,
      folder: prompt.folder,
      tags: prompt.tags,
      description: prompt.description,
      aiSystem,
      configuration,
      variables,
      note,
      ...(hasRoles && { promptText, systemMessage }),
    },
  };
  return { content: `${JSON.stringify(line)}\n`, notes: [] };
}

const writers: Readonly<Record<ExportFormat, { write: (exported: ExportedPrompt) => Written; extension: string }>> = {
  dotprompt: { write: writeDotprompt, extension: 'prompt' },
  promptfoo: { write: writePromptfoo, extension: 'promptfoo.yaml' },
  jsonl: { write: writeJsonLine, extension: 'jsonl' },
  markdown: { write: writeMarkdown, extension: 'md' },
};

/** Max characters of one export, which is in memory. */
const maxCharacters = 64 * 1_048_576;

export type ExportEntry = TransferEntry & { promptId: string; promptName: string };

/** The prompt with the settings that may be exported, and a list of the omitted ones. */
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
 * Reads the prompts of an export, one per turn of the event loop. Throws `payload_too_large` for texts that are too long for any export.
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

/** Writes prompts one by one. Throws `payload_too_large` for more than 64 MB. Takes seconds for long texts, so call it in a thread. */
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
      if (!(error instanceof TransferError)) throw error;
      entry('prompt', error.message, error.line);
    }
  }
  if (format !== 'jsonl' || files.length === 0) return { files, entries };
  return { files: [{ name: 'prompts.jsonl', content: files.map(({ content }) => content).join('') }], entries };
}
