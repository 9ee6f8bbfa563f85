import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { PreviewedSource } from '../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../shared/contract/prompts.ts';
import { promptDetails, versionContent } from '../../shared/prompt-content.ts';
import { withModel } from '../../electron/prompts/transfer/model-names.ts';
import { previewImport } from '../../electron/prompts/transfer/import-prompts.ts';
import { findReferences, type FindTask } from '../../electron/prompts/transfer/referenced-files.ts';
import { readPrompts, type ReadTask } from '../../electron/prompts/transfer/read-prompts.ts';
import type { ExportedPrompt } from '../../electron/prompts/transfer/writers/exported-prompt.ts';

const fixtures = join(import.meta.dirname, '../fixtures/prompts');

/** Models by their usual beginnings, as the catalogue would find them. */
export function systemOf(aiSystem: AiSystem | null, model: string): AiSystem {
  const beginnings: [string, AiSystem][] = [
    ['gpt', 'OpenAi'],
    ['claude', 'Anthropic'],
    ['gemini', 'GoogleGemini'],
    ['llama', 'Groq'],
  ];
  const found = aiSystem ?? beginnings.find(([beginning]) => model.startsWith(beginning))?.[1];
  if (found === undefined || model.startsWith('unknown')) throw new AppError('invalid_request', 'unknown model');
  return found;
}

export function fixture(name: string): Buffer {
  return readFileSync(join(fixtures, name));
}

/** Previews one source, given as bytes or as text, in this thread. */
export function preview(
  name: string,
  content: Uint8Array | string,
  options: Partial<Pick<ReadTask, 'format' | 'variableStyle' | 'folder'>> = {},
): PreviewedSource {
  const task = { name, content, format: null, variableStyle: null, folder: null, ...options };
  const { format, prompts, entries } = readPrompts(task);
  const previewed = prompts.map((prompt, index) => ({ index, ...withModel(prompt, systemOf) }));
  return { name, format, prompts: previewed, entries: [...entries] };
}

/** Previews files that are imported together, in this thread. */
export async function previewTogether(
  files: Readonly<Record<string, Uint8Array | string>>,
): Promise<PreviewedSource[]> {
  const sources = Object.entries(files).map(([name, content]) => ({ name, content }));
  const reader = {
    read: (task: ReadTask) => Promise.resolve(readPrompts(task)),
    find: (task: FindTask) => Promise.resolve(findReferences(task)),
  };
  return previewImport({ sources }, { reader, systemOf, signal: AbortSignal.timeout(60_000) });
}

export const previewFixture = (name: string) => preview(name.split('/').at(-1)!, fixture(name));

/** `outcome field@line: message` of every entry, which is quick to read in a test. */
export function reported({ entries }: Pick<PreviewedSource, 'entries'>): string[] {
  return entries.map(
    ({ outcome, field, line, message }) => `${outcome} ${field}${line === null ? '' : `@${line}`}: ${message}`,
  );
}

const id = '00000000-0000-4000-8000-000000000000';
const now = '2026-11-20T09:30:00.000Z';

/** A prompt as it is kept, ready for export. */
export function storedPrompt(input: PromptInput): ExportedPrompt {
  const version = versionContent(input);
  const { aiSystem, model } = version;
  return {
    prompt: {
      ...promptDetails(input),
      id,
      latestVersionId: id,
      latestVersion: { number: 1, aiSystem, model },
      labels: [],
      createdAt: now,
      updatedAt: now,
    },
    version: { ...version, id, promptId: id, number: 1, createdAt: now },
  };
}
