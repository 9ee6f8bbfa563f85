import type { StoredFile } from '../../shared/contract/files.ts';
import type { FilePart, Message } from '../../shared/contract/messages.ts';

/** A file of a prompt with its content. */
export interface PromptFile extends StoredFile {
  readonly data: Buffer;
}

/** By file id, in lower case. */
export type PromptFiles = ReadonlyMap<string, PromptFile>;

export type FileReplacement = (
  { readonly fileId: string } | { readonly sourceId: string } | { readonly mediaType: string; readonly data: string }
) & {
  /** What a PDF is sent as; not checked yet, like the pages and their resolution. */
  readonly as?: string;
  readonly pages?: string;
  readonly resolution?: string;
};

/** Fields that say how the file is sent. The others only count beside `as`, so that fewer objects become files. */
const optionNames = ['as', 'pages', 'resolution'];

/** A replacement is a file if it has exactly the fields of one. Any other object is a value for the template, as before. */
export function fileReplacement(value: unknown): FileReplacement | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  const options = 'as' in value ? optionNames : [];
  const names = entries.map(([name]) => name).filter((name) => !options.includes(name));
  if (!entries.every(([, inner]) => typeof inner === 'string')) return null;
  return ['fileId', 'sourceId', 'data,mediaType'].includes(names.toSorted().join()) ? (value as FileReplacement) : null;
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

/** What `{{media}}` puts into a message for a value, which may be a list of files; null if it holds none. */
export function filePartsOf(value: unknown, files: PromptFiles | undefined): readonly FilePart[] | null {
  const parts = Array.isArray(value) ? value.map((one) => filePartOf(one, files)) : [filePartOf(value, files)];
  return parts.length === 0 || parts.includes(null) ? null : (parts as FilePart[]);
}

function filePartOf(value: unknown, files: PromptFiles | undefined): FilePart | null {
  const replacement = fileReplacement(value);
  const file = replacement && 'fileId' in replacement ? files?.get(replacement.fileId.toLowerCase()) : undefined;
  if (!file) return null;
  const { id, mediaType, name, bytes } = file;
  return { type: 'file', fileId: id, mediaType, name, bytes };
}
