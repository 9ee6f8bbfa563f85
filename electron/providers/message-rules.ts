import { invalidField } from '../../shared/app-error.ts';
import type { Warning } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import { type FileKind, fileKindNames, fileKindOf } from '../../shared/file-kinds.ts';
import { providerName } from '../../shared/provider-names.ts';
import { detailsOf } from './catalogue.ts';
import type { ModelMetadata } from './model-metadata.ts';
import type { RuleSet } from './parameter-rules.ts';

function reject(issue: string): never {
  throw invalidField('promptText', issue, `The prompt ${issue}.`);
}

/**
 * Warnings about messages that a provider's API interprets differently. Throws `invalid_request` for those that it rejects. The
 * provider checks rules that depend on the model, and the caller gets its message.
 */
export function messageWarnings(ruleSet: RuleSet, messages: readonly Message[]): Warning[] {
  if (messages.length === 1 || ruleSet === 'OpenAiCompatible' || ruleSet === 'on-device') return [];
  const rules = detailsOf[ruleSet].messageRules;
  if (rules === undefined) return [];
  const name = providerName(ruleSet);
  const start = messages.findIndex(({ role }) => role !== 'system');
  if (rules.isSystemOnlyFirst && messages.some(({ role }, index) => role === 'system' && index > start))
    reject(`has a system message after other messages, which ${name} doesn't support`);
  if (messages.at(-1)?.role !== 'assistant') return [];
  if (rules.lastAssistant === 'rejected')
    reject(`ends with an assistant message, and ${name} needs a user message at the end`);
  if (rules.lastAssistant !== 'complete') return [];
  const message = `The prompt ends with an assistant message. ${name} doesn't continue it and starts a new answer.`;
  return [{ code: 'answer-not-continued', message }];
}

/** The files that an API accepts for any model. A text file is sent as text, so every API accepts it. */
const kindsOf: Readonly<Record<RuleSet, readonly FileKind[]>> = {
  OpenAi: ['image', 'pdf', 'audio', 'text'],
  Anthropic: ['image', 'pdf', 'text'],
  GoogleGemini: ['image', 'pdf', 'audio', 'text'],
  Groq: ['image', 'text'],
  Cohere: ['image', 'text'],
  OpenAiCompatible: ['image', 'pdf', 'audio', 'text'],
  'on-device': ['text'],
};

/** Providers turn the pages of a PDF into images, so a model without vision supports neither. */
const needsVision: ReadonlySet<FileKind> = new Set(['image', 'pdf']);

type FileSupport = Pick<ModelMetadata, 'ruleSet' | 'catalogueEntry'>;

function lacksVision({ catalogueEntry }: FileSupport): boolean {
  return catalogueEntry !== null && !catalogueEntry.capabilities.includes('images');
}

/** The kinds of files that a model supports, as far as that is known. */
export function supportedFileKinds(model: FileSupport): FileKind[] {
  return kindsOf[model.ruleSet].filter((kind) => !needsVision.has(kind) || !lacksVision(model));
}

/**
 * Throws `invalid_request` for a file that the model doesn't support, before anything is sent. If a model's support is unknown, its
 * provider decides.
 */
export function requireFileSupport(
  model: FileSupport & Pick<ModelMetadata, 'title'>,
  messages: readonly Message[],
): void {
  const { ruleSet, title } = model;
  for (const { role, content } of messages) {
    for (const part of content) {
      if (part.type !== 'file') continue;
      if (role !== 'user') reject(`has a file in a ${role} message, and models take files from users only`);
      const kind = fileKindOf(part.mediaType);
      if (!kindsOf[ruleSet].includes(kind)) {
        const provider = ruleSet === 'on-device' ? title : providerName(ruleSet);
        reject(`has the file "${part.name}" (${part.mediaType}), and ${provider} doesn't take ${fileKindNames[kind]}`);
      }
      if (needsVision.has(kind) && lacksVision(model))
        reject(`has the file "${part.name}" (${part.mediaType}), and ${title} doesn't take ${fileKindNames[kind]}`);
    }
  }
}
