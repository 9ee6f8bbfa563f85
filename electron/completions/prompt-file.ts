import type { StoredFile } from '../../shared/contract/files.ts';
import type { FilePart, Message } from '../../shared/contract/messages.ts';

/** A file of a prompt with its content: the text of a text file, or the bytes of any other file. */
export interface PromptFile extends StoredFile {
  readonly data: string | Buffer;
}

/** By file id, in lower case. */
export type PromptFiles = ReadonlyMap<string, PromptFile>;

export type FileReplacement = (
  { readonly fileId: string } | { readonly sourceId: string } | { readonly mediaType: string; readonly data: string }
) & {
  /** What a PDF is sent as; not checked yet. */
  readonly as?: string;
};

/** A replacement is a file if it has exactly the fields of one. Any other object is a value for the template, as before. */
export function fileReplacement(value: unknown): FileReplacement | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  const names = entries.map(([name]) => name).filter((name) => name !== 'as');
  if (!entries.every(([, inner]) => typeof inner === 'string')) return null;
  return ['fileId', 'sourceId', 'data,mediaType'].includes(names.sort().join()) ? (value as FileReplacement) : null;
}

/** The files that messages contain. */
export function filesOf(messages: readonly Message[], files: PromptFiles | undefined): PromptFiles {
  const used = new Map<string, PromptFile>();
  if (!files) return used;
  for (const { content } of messages) {
    for (const part of content) {
      const file = part.type === 'file' ? files.get(part.fileId) : undefined;
      if (file) used.set(file.id, file);
    }
  }
  return used;
}

/** What `{{media}}` puts into a message for a value. */
export function filePartOf(value: unknown, files: PromptFiles | undefined): FilePart | null {
  const replacement = fileReplacement(value);
  const file = replacement && 'fileId' in replacement ? files?.get(replacement.fileId.toLowerCase()) : undefined;
  if (!file) return null;
  const { id, mediaType, name, bytes } = file;
  return { type: 'file', fileId: id, mediaType, name, bytes };
}
