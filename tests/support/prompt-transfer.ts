import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { PreviewedSource } from '../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../shared/contract/prompts.ts';
import { previewImport, type ImportRequest } from '../../electron/prompts/transfer/import-prompts.ts';
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

/** Previews one source, given as bytes or as text. */
export function preview(
  name: string,
  content: Uint8Array | string,
  options: Omit<ImportRequest, 'sources'> = {},
): PreviewedSource {
  const source =
    typeof content === 'string' ? { name, text: content } : { name, base64: Buffer.from(content).toString('base64') };
  return previewImport({ sources: [source], ...options }, systemOf)[0]!;
}

export const previewFixture = (name: string) => preview(name.split('/').at(-1)!, fixture(name));

/** `outcome field@line: message` of every entry, which is quick to read in a test. */
export function told({ entries }: Pick<PreviewedSource, 'entries'>): string[] {
  return entries.map(
    ({ outcome, field, line, message }) => `${outcome} ${field}${line === null ? '' : `@${line}`}: ${message}`,
  );
}

const id = '00000000-0000-4000-8000-000000000000';
const now = '2026-11-20T09:30:00.000Z';

/** A prompt as it is kept, ready for export. */
export function kept(input: PromptInput): ExportedPrompt {
  return {
    prompt: {
      id,
      name: input.name,
      folder: input.folder ?? null,
      tags: input.tags ?? [],
      description: input.description ?? null,
      latestVersionId: id,
      createdAt: now,
      updatedAt: now,
    },
    version: {
      id,
      promptId: id,
      number: 1,
      promptText: input.promptText,
      systemMessage: input.systemMessage ?? null,
      aiSystem: input.aiSystem ?? null,
      model: input.model ?? null,
      configuration: input.configuration ?? null,
      variables: (input.variables ?? []).map((variable) => ({
        name: variable.name,
        description: variable.description ?? null,
        defaultValue: variable.defaultValue ?? null,
        sampleValue: variable.sampleValue ?? null,
      })),
      note: input.note ?? null,
      createdAt: now,
    },
  };
}
