import { AppError } from '../../../shared/app-error.ts';
import type { FolderIssue } from '../../../shared/contract/prompt-folders.ts';
import type { Prompt, PromptVersionInput } from '../../../shared/contract/prompts.ts';
import type { PromptContent } from '../../../shared/prompt-content.ts';
import { detailsOf, type FolderStore, type StoredFile, type StoredFolder } from '../../storage/prompts/folder-store.ts';
import type { Prompts } from '../create-prompts.ts';
import type { PromptReader } from '../transfer/create-prompt-reader.ts';
import type { SystemOf } from '../transfer/model-names.ts';
import { createFileNames, folderPath } from '../transfer/writers/exported-prompt.ts';
import { FileChangedError, hashOf, moveFile, replaceFile } from './disk-file.ts';
import { readScannedFile, type ScannedFile, unreadable } from './scanned-file.ts';
import { contentOf, hasSameDetails, isSameVersion } from './same-content.ts';

/** The services and state of a linked folder. */
export interface FolderOperations {
  readonly stored: StoredFolder;
  readonly store: FolderStore;
  readonly prompts: Pick<Prompts, 'read' | 'readVersion' | 'create' | 'addVersion' | 'update' | 'remove'>;
  readonly reader: Pick<PromptReader, 'read' | 'edit'>;
  readonly systemOf: SystemOf;
}

/** A prompt with its newest version. */
export interface Mine {
  readonly prompt: Prompt;
  readonly content: PromptContent;
}

/** Null for a prompt that was deleted. */
export function readPrompt({ prompts }: Pick<FolderOperations, 'prompts'>, promptId: string): Prompt | null {
  try {
    return prompts.read(promptId);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Null for a prompt that was deleted. */
export function readMine(work: Pick<FolderOperations, 'prompts'>, promptId: string): Mine | null {
  const prompt = readPrompt(work, promptId);
  if (prompt === null) return null;
  return { prompt, content: contentOf(prompt, work.prompts.readVersion(prompt.id, prompt.latestVersionId)) };
}

export function readFile(work: FolderOperations, path: string, signal: AbortSignal): Promise<ScannedFile | null> {
  const { stored, reader, systemOf } = work;
  return readScannedFile({ root: stored.path, folder: stored.folder, reader, systemOf }, path, signal);
}

function inStep({ prompt }: Pick<Mine, 'prompt'>, path: string, hash: string): StoredFile {
  return { path, promptId: prompt.id, hash, versionId: prompt.latestVersionId, details: detailsOf(prompt) };
}

/** The record of a prompt that was never in sync with its file. */
export function neverInStep({ prompt }: Pick<Mine, 'prompt'>, path: string): StoredFile {
  return { path, promptId: prompt.id, hash: '', versionId: '', details: detailsOf(prompt) };
}

/** Whether a prompt has changed since it was in sync with its file. */
export function isChanged(file: StoredFile, { prompt }: Pick<Mine, 'prompt'>): boolean {
  const isMoved = prompt.folder !== file.details.folder;
  return prompt.latestVersionId !== file.versionId || isMoved || !hasSameDetails(prompt, file.details);
}

function versionInput(content: PromptContent, path: string): PromptVersionInput {
  const { name: _name, folder: _folder, tags: _tags, description: _description, ...version } = content;
  return { ...version, note: content.note ?? `Read from ${path}`.slice(0, 10_000) };
}

/** Updates the prompt from the file. Its folder stays. */
export function takeFile(
  work: FolderOperations,
  { prompt, content: mine }: Mine,
  file: ScannedFile,
  content: PromptContent,
): void {
  const { name, tags, description } = content;
  if (!hasSameDetails(mine, content)) work.prompts.update(prompt.id, { name, tags, description });
  if (!isSameVersion(mine, content)) work.prompts.addVersion(prompt.id, versionInput(content, file.path));
  markInStep(work, work.prompts.read(prompt.id), file.path, file.hash);
}

export function markInStep(work: FolderOperations, prompt: Prompt, path: string, hash: string): void {
  work.store.setFile(work.stored.id, inStep({ prompt }, path, hash));
}

/** Creates a prompt from a new file. Throws `invalid_request` if it could never run. */
export function createFromFile(work: FolderOperations, file: ScannedFile, content: PromptContent): void {
  const { name, folder, tags, description } = content;
  const prompt = work.prompts.create({ name, folder, tags, description, ...versionInput(content, file.path) });
  markInStep(work, prompt, file.path, file.hash);
}

/** The folder of a prompt relative to the linked one; null if the prompt is elsewhere in the library. */
function foldersBelow({ stored }: FolderOperations, folder: string | null): string | null {
  if (folder === stored.folder) return '';
  return folder?.startsWith(`${stored.folder}/`) === true ? folder.slice(stored.folder.length + 1) : null;
}

/** An unused name for a new file of a prompt. */
export function newPath(work: FolderOperations, { prompt }: Mine, taken: Iterable<string>): string {
  const below = foldersBelow(work, prompt.folder);
  return createFileNames('prompt', taken)({ name: prompt.name, folder: below });
}

/** The new path of a file whose prompt was moved within the linked folder; otherwise the same path. */
function movedPath(work: FolderOperations, known: StoredFile, { prompt }: Mine): string {
  const below = prompt.folder === known.details.folder ? null : foldersBelow(work, prompt.folder);
  if (below === null) return known.path;
  return [...folderPath(below), known.path.split('/').at(-1)!].join('/');
}

export type WriteResult =
  { readonly kind: 'written' | 'changed' } | { readonly kind: 'refused'; readonly message: string };

/**
 * Writes a prompt to its file, or to a new one if `file` is null. A file that has changed since it was read isn't overwritten. Throws the
 * errors of the disk.
 */
export async function writeMine(
  work: FolderOperations,
  mine: Mine,
  { file, known }: { file: ScannedFile | null; known: StoredFile },
  signal: AbortSignal,
): Promise<WriteResult> {
  const root = work.stored.path;
  if (file?.hash === unreadable) return { kind: 'refused', message: file.reason!.message };
  const edited = await work.reader.edit(
    { name: known.path, text: file?.text ?? null, current: file?.content ?? null, target: mine.content },
    { signal },
  );
  if (edited.text === null) return { kind: 'refused', message: edited.problem };
  const path = file === null ? known.path : movedPath(work, known, mine);
  try {
    if (file === null) await replaceFile(root, path, edited.text, null);
    else if (path !== known.path) {
      const isMoved = await moveFile(root, { from: known.path, to: path, text: edited.text, expectedHash: file.hash });
      if (!isMoved) return { kind: 'changed' };
    } else if (edited.text !== file.text) await replaceFile(root, path, edited.text, file.hash);
  } catch (error) {
    if (!(error instanceof FileChangedError)) throw error;
    // A scan finds no link and no folder, so that another scan would change nothing.
    if (file === null) return { kind: 'refused', message: `Something else has the name ${path}` };
    if (path === known.path) return { kind: 'changed' };
    return { kind: 'refused', message: `Another file already exists at ${path}` };
  }
  markInStep(work, mine.prompt, path, hashOf(edited.text));
  return { kind: 'written' };
}

export function issueOf(
  kind: FolderIssue['kind'],
  path: string,
  message: string,
  { prompt, line }: { prompt?: Pick<Prompt, 'id' | 'name'> | null; line?: number | null } = {},
): FolderIssue {
  // The window appends the line number and the full stop.
  const reason = message.replace(/\.$/, '');
  return {
    path,
    kind,
    message: reason,
    line: line ?? null,
    promptId: prompt?.id ?? null,
    promptName: prompt?.name ?? null,
  };
}
