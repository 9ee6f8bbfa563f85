import { AppError } from '../../../shared/app-error.ts';
import { promptContent, type PromptContent } from '../../../shared/prompt-content.ts';
import type { PromptReader } from '../transfer/create-prompt-reader.ts';
import { withModel, type SystemOf } from '../transfer/known-model.ts';
import { Refusal } from '../transfer/refusal.ts';
import { decodeText, plainLines } from '../transfer/source-text.ts';
import { diskReason, hashOf, readBytes } from './disk-file.ts';

/** Stands for the hash of a file that could not be read, and equals that of no file. */
const unreadable = 'unreadable';

/** A file as it is on disk now. */
export interface FoundFile {
  readonly path: string;
  readonly hash: string;
  /** Null for bytes that are no text. */
  readonly text: string | null;
  /** Null when it cannot be read as a prompt. */
  readonly content: PromptContent | null;
  /** Why not. */
  readonly reason: { readonly message: string; readonly line: number | null } | null;
}

export interface FileReading {
  readonly root: string;
  /** The library's folder that the root is. */
  readonly folder: string;
  readonly reader: Pick<PromptReader, 'read'>;
  readonly systemOf: SystemOf;
}

/** `replies/short.prompt` of the folder `support` is in the library's folder `support/replies`. */
export function libraryFolder(folder: string, path: string): string {
  return [folder, ...path.split('/').slice(0, -1)].join('/');
}

const byteOrderMark = Buffer.from('\uFEFF');

/** The text to the letter, as it is written back. */
function textOf(bytes: Buffer): { text: string | null; reason: FoundFile['reason'] } {
  try {
    const mark = bytes.subarray(0, 3).equals(byteOrderMark) ? '\uFEFF' : '';
    return { text: `${mark}${decodeText(bytes)}`, reason: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { text: null, reason: { message: error.message, line: error.line } };
  }
}

/** Null for a file that is not there. What cannot be read has its reason. */
export async function readFoundFile(
  { root, folder, reader, systemOf }: FileReading,
  path: string,
  signal: AbortSignal,
): Promise<FoundFile | null> {
  let bytes: Buffer | null;
  try {
    bytes = await readBytes(root, path);
  } catch (error) {
    const message = diskReason(error);
    if (message === null) throw error;
    return { path, hash: unreadable, text: null, content: null, reason: { message, line: null } };
  }
  if (bytes === null) return null;
  const hash = hashOf(bytes);
  const { text, reason } = textOf(bytes);
  if (text === null) return { path, hash, text, content: null, reason };
  const task = {
    name: path,
    content: plainLines(text),
    format: 'dotprompt',
    variableStyle: null,
    folder: null,
  } as const;
  const { prompts, entries } = await reader.read(task, { signal });
  const [found] = prompts;
  if (found === undefined) {
    const refused = entries.find(({ outcome }) => outcome === 'refused');
    const message = refused?.message ?? 'The file contains no prompt';
    return { path, hash, text, content: null, reason: { message, line: refused?.line ?? null } };
  }
  const content = promptContent(withModel(found, systemOf).prompt);
  return { path, hash, text, content: { ...content, folder: libraryFolder(folder, path) }, reason: null };
}

/** Throws `invalid_request` for a file that cannot be read as a prompt. */
export function requireContent(file: FoundFile): PromptContent {
  if (file.content !== null) return file.content;
  throw new AppError('invalid_request', `Couldn't read the file: ${file.reason?.message ?? 'it contains no prompt'}.`);
}
