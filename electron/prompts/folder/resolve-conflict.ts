import type { z } from 'zod';
import { AppError } from '../../../shared/app-error.ts';
import type { FolderFile, FolderIssue, resolveFolderFile } from '../../../shared/contract/prompt-folders.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import { promptContent } from '../../../shared/prompt-content.ts';
import type { StoredFile } from '../../storage/prompts/folder-store.ts';
import { diskReason, removeFile } from './disk-file.ts';
import { requireContent, type ScannedFile } from './scanned-file.ts';
import {
  createFromFile,
  markInStep,
  neverInStep,
  readFile,
  readMine,
  takeFile,
  writeMine,
  type FolderOperations,
  type Mine,
} from './folder-operations.ts';
import { isSameVersion } from './same-content.ts';

export type Resolution = z.infer<NonNullable<typeof resolveFolderFile.body>>;

/** Both sides of a file that isn't in sync. */
interface Sides {
  readonly known: StoredFile | null;
  readonly mine: Mine | null;
  readonly file: ScannedFile | null;
}

async function sidesOf(work: FolderOperations, { path, promptId }: FolderIssue, signal: AbortSignal): Promise<Sides> {
  const stored = work.store.files(work.stored.id).find((file) => file.promptId === promptId) ?? null;
  const file = await readFile(work, path, signal);
  const mine = promptId === null ? null : readMine(work, promptId);
  // A new prompt whose file couldn't be written has no record.
  return { known: stored ?? (mine && neverInStep(mine, path)), mine, file };
}

export async function readSides(work: FolderOperations, issue: FolderIssue, signal: AbortSignal): Promise<FolderFile> {
  const { mine, file } = await sidesOf(work, issue, signal);
  return {
    issue,
    mine: mine?.content ?? null,
    versionId: mine?.prompt.latestVersionId ?? null,
    file: file && { text: file.text ?? '', hash: file.hash, prompt: file.content },
  };
}

const moved = () => new AppError('conflict', 'The prompt or its file has changed in the meantime. Compare them again.');

async function write(work: FolderOperations, { known, file }: Sides, mine: Mine, signal: AbortSignal): Promise<void> {
  try {
    const result = await writeMine(work, mine, { file, known: known! }, signal);
    if (result.kind === 'changed') throw moved();
    if (result.kind === 'refused') throw new AppError('conflict', `Couldn't write the file: ${result.message}.`);
  } catch (error) {
    const reason = diskReason(error);
    if (reason === null || error instanceof AppError) throw error;
    throw new AppError('conflict', `Couldn't write the file: ${reason}.`, { cause: error });
  }
}

async function keepMine(work: FolderOperations, sides: Sides, signal: AbortSignal): Promise<void> {
  const { known, mine, file } = sides;
  if (known === null) throw new AppError('invalid_request', 'There is no prompt to write to the file.');
  if (mine !== null) return write(work, sides, mine, signal);
  if (file !== null) await removeFile(work.stored.path, file.path, file.hash);
  work.store.removeFile(work.stored.id, known.promptId);
}

function keepFile(work: FolderOperations, { known, mine, file }: Sides, kind: FolderIssue['kind']): void {
  if (file !== null) {
    const content = requireContent(file);
    if (mine !== null) return takeFile(work, mine, file, content);
    if (known !== null) work.store.removeFile(work.stored.id, known.promptId);
    return createFromFile(work, file, content);
  }
  if (mine !== null && kind !== 'file-missing') throw new AppError('conflict', 'There is no file to use.');
  if (mine !== null) work.prompts.remove(mine.prompt.id);
  if (known !== null) work.store.removeFile(work.stored.id, known.promptId);
}

async function keepMerged(
  work: FolderOperations,
  sides: Sides,
  input: PromptInput,
  signal: AbortSignal,
): Promise<void> {
  const { mine, file } = sides;
  if (mine === null || file === null) throw new AppError('invalid_request', 'There is nothing to merge.');
  const target = promptContent(input);
  const { name, tags, description, folder: _folder, ...version } = target;
  work.prompts.update(mine.prompt.id, { name, tags, description });
  if (!isSameVersion(target, mine.content)) work.prompts.addVersion(mine.prompt.id, version);
  const merged = readMine(work, mine.prompt.id)!;
  // The file is merged now. After a failure below, only the prompt counts as changed.
  markInStep(work, mine.prompt, file.path, file.hash);
  await write(work, sides, merged, signal);
}

/** Applies the user's decision. Throws `conflict` if one of the sides has changed since it was shown. */
export async function resolveConflict(
  work: FolderOperations,
  issue: FolderIssue,
  { choice, prompt, versionId, hash }: Resolution,
  signal: AbortSignal,
): Promise<void> {
  const sides = await sidesOf(work, issue, signal);
  const isShown = (sides.mine?.prompt.latestVersionId ?? null) === versionId && (sides.file?.hash ?? null) === hash;
  if (!isShown) throw moved();
  if (choice === 'mine') await keepMine(work, sides, signal);
  else if (choice === 'file') keepFile(work, sides, issue.kind);
  else await keepMerged(work, sides, prompt!, signal);
}
