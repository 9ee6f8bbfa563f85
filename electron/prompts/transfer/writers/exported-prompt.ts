import type { Prompt, PromptVersion } from '../../../../shared/contract/prompts.ts';

/** Reserved names of devices on Windows, with any extension, and a folder that no scan reads. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d|node_modules)$/i;
const maxCharacters = 80;
/** Leaves 15 of the 255 bytes of most disks for a number and the extension. */
const maxBytes = 240;

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s-]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function shortened(text: string): string {
  const { read } = new TextEncoder().encodeInto([...text].slice(0, maxCharacters).join(''), new Uint8Array(maxBytes));
  return text.slice(0, read);
}

function segment(text: string): string {
  const safe = text
    .normalize('NFC')
    // Control characters, characters that file systems forbid, dots that start an extension, and lone surrogates.
    .replace(/[\p{C}<>:"/\\|?*.]+/gu, '-')
    .replace(/\s+/g, ' ')
    .replace(/^[\s_-]+/, '');
  const short = shortened(withoutEnd(safe)).trimEnd();
  if (short === '') return 'prompt';
  return reserved.test(short) ? `${short}-prompt` : short;
}

/** The folders of a library as folders of a disk, separated by `/`. */
export function folderPath(folder: string | null): string[] {
  return (folder ?? '')
    .split('/')
    .filter((part) => part.trim() !== '')
    .slice(0, 8)
    .map(segment);
}

/**
 * Gives each prompt a file name that all common file systems accept. The names differ from each other and from existing ones, also
 * ignoring case.
 */
export function createFileNames(
  extension: string,
  alreadyTaken: Iterable<string> = [],
): (prompt: { name: string; folder: string | null }) => string {
  const taken = new Set([...alreadyTaken].map((path) => path.normalize('NFC').toLowerCase()));
  return ({ name, folder }) => {
    const path = [...folderPath(folder), segment(name)].join('/');
    for (let count = 1; ; count += 1) {
      const unique = `${path}${count === 1 ? '' : ` ${count}`}.${extension}`;
      if (taken.has(unique.toLowerCase())) continue;
      taken.add(unique.toLowerCase());
      return unique;
    }
  };
}

/** A prompt with the version that is exported. */
export interface ExportedPrompt {
  readonly prompt: Prompt;
  readonly version: PromptVersion;
}

/** The fields of a prompt that a file contains. */
export interface WritablePrompt {
  readonly prompt: Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;
  readonly version: Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;
}

/** The parts of a prompt that a format can't express. */
export interface ExportNote {
  readonly field: string;
  readonly message: string;
}

/** Content of one file. Throws `TransferError` for a prompt that the format can't express. */
export interface Written {
  readonly content: string;
  readonly notes: readonly ExportNote[];
}

/** The object's own fields with a value, in their order. */
export function present(fields: readonly (readonly [string, unknown])[]): Map<string, unknown> {
  const isThere = (value: unknown) =>
    value !== null &&
    value !== undefined &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0) &&
    !(value instanceof Map && value.size === 0);
  return new Map(fields.filter(([, value]) => isThere(value)));
}

/** Values of the variables that have one. */
export function valuesOf(
  { variables }: Pick<PromptVersion, 'variables'>,
  of: 'defaultValue' | 'sampleValue' | 'description',
): Map<string, string> {
  return new Map(
    variables.flatMap((variable) => (variable[of] === null ? [] : [[variable.name, variable[of]] as const])),
  );
}
