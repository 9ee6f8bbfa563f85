import { invalidField } from '../../shared/app-error.ts';
import type { FilePart, Message } from '../../shared/contract/messages.ts';
import { providerName } from '../../shared/provider-names.ts';
import type { ModelMetadata } from './model-metadata.ts';
import type { RuleSet } from './parameter-rules.ts';

type FileKind = 'image' | 'pdf' | 'audio' | 'text';

function kindOf({ mediaType }: FilePart): FileKind {
  if (mediaType.startsWith('image/')) return 'image';
  if (mediaType.startsWith('audio/')) return 'audio';
  return mediaType === 'application/pdf' ? 'pdf' : 'text';
}

const kindNames: Readonly<Record<FileKind, string>> = {
  image: 'images',
  pdf: 'PDF files',
  audio: 'audio',
  text: 'text files',
};

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

/**
 * Throws `invalid_request` for a file that the model doesn't support, before anything is sent. If a model's support is unknown, its
 * provider decides.
 */
export function requireFileSupport(
  { ruleSet, catalogueEntry, title }: Pick<ModelMetadata, 'ruleSet' | 'catalogueEntry' | 'title'>,
  messages: readonly Message[],
): void {
  for (const { role, content } of messages) {
    for (const part of content) {
      if (part.type !== 'file') continue;
      if (role !== 'user') reject(`has a file in a ${role} message, and models take files from users only`);
      const kind = kindOf(part);
      if (!kindsOf[ruleSet].includes(kind)) {
        const provider = ruleSet === 'on-device' ? title : providerName(ruleSet);
        reject(`has the file "${part.name}" (${part.mediaType}), and ${provider} doesn't take ${kindNames[kind]}`);
      }
      const lacksVision = catalogueEntry !== null && !catalogueEntry.capabilities.includes('images');
      if (needsVision.has(kind) && lacksVision)
        reject(`has the file "${part.name}" (${part.mediaType}), and ${title} doesn't take ${kindNames[kind]}`);
    }
  }
}

function reject(issue: string): never {
  throw invalidField('promptText', issue, `The prompt ${issue}.`);
}
