import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { FolderIssue } from '../../../shared/contract/prompt-folders.ts';
import type { StoredFile } from '../../storage/prompts/folder-store.ts';
import { baseName, isPartial } from '../transfer/draft.ts';
import { diskReason } from './disk-file.ts';
import { libraryFolder, type ScannedFile } from './scanned-file.ts';
import {
  createFromFile,
  isChanged,
  issueOf,
  markInStep,
  neverInStep,
  newPath,
  readFile,
  readMine,
  readPrompt,
  takeFile,
  writeMine,
  type FolderOperations,
  type Mine,
} from './folder-operations.ts';
import { hasSameDetails, isSameVersion } from './same-content.ts';

/** Earlier results by stamp, so that unchanged files aren't read again. */
export type HashCache = Map<
  string,
  { readonly stamp: string; readonly hash: string; readonly reason: ScannedFile['reason'] }
>;

export interface Reconciliation {
  readonly issues: FolderIssue[];
  /** Whether something changed during the scan, so that another scan is needed. */
  readonly isStale: boolean;
}

interface Pass {
  readonly work: FolderOperations;
  readonly tree: ReadonlyMap<string, string>;
  readonly hashes: HashCache;
  readonly signal: AbortSignal;
  readonly issues: FolderIssue[];
  isStale: boolean;
}

/** Yields to the event loop after this many files, because scanning unchanged files never waits. */
const filesAtOnce = 25;

const conflictMessage = 'Both the prompt and its file changed';
const partialMessage = "The file is a partial for other files; prompts can't include partials";
const noFileYet = 'The prompt has no file yet';

async function read(pass: Pass, path: string): Promise<ScannedFile | null> {
  const stamp = pass.tree.get(path);
  const file = stamp === undefined ? null : await readFile(pass.work, path, pass.signal);
  if (file !== null && stamp !== undefined) pass.hashes.set(path, { stamp, hash: file.hash, reason: file.reason });
  return file;
}

function findStored(pass: Pass, path: string) {
  const known = pass.hashes.get(path);
  return known !== undefined && known.stamp === pass.tree.get(path) ? known : null;
}

/** Reads a file unless it is unchanged. */
async function changedFile(pass: Pass, path: string, knownHash: string): Promise<ScannedFile | 'same' | null> {
  if (findStored(pass, path)?.hash === knownHash) return 'same';
  const file = await read(pass, path);
  return file?.hash === knownHash ? 'same' : file;
}

function tell(pass: Pass, ...issue: Parameters<typeof issueOf>): void {
  pass.issues.push(issueOf(...issue));
}

async function write(pass: Pass, known: StoredFile, mine: Mine, file: ScannedFile | null): Promise<void> {
  try {
    const result = await writeMine(pass.work, mine, { file, known }, pass.signal);
    if (result.kind === 'changed') pass.isStale = true;
    if (result.kind === 'refused') tell(pass, 'not-written', known.path, result.message, { prompt: mine.prompt });
  } catch (error) {
    const reason = diskReason(error);
    if (reason === null) throw error;
    tell(pass, 'not-written', known.path, reason, { prompt: mine.prompt });
  }
}

/** Saves a changed file as a version, unless the prompt has changed, too. */
function meet(pass: Pass, known: StoredFile, mine: Mine, file: ScannedFile): void {
  const { prompt } = mine;
  if (file.content === null) {
    const { message, line } = file.reason!;
    return tell(pass, 'broken', file.path, message, { prompt, line });
  }
  const isSame = hasSameDetails(mine.content, file.content) && isSameVersion(mine.content, file.content);
  if (isSame) return markInStep(pass.work, prompt, file.path, file.hash);
  if (isChanged(known, mine)) return tell(pass, 'conflict', file.path, conflictMessage, { prompt });
  takeFile(pass.work, mine, file, file.content);
}

async function reconcileKnown(pass: Pass, known: StoredFile): Promise<void> {
  const { work } = pass;
  const prompt = readPrompt(work, known.promptId);
  const found = await changedFile(pass, known.path, known.hash);
  // Most files are unchanged, so their texts aren't read.
  if (prompt !== null && found === 'same' && !isChanged(known, { prompt })) return;
  if (prompt === null) {
    if (found === null) work.store.removeFile(work.stored.id, known.promptId);
    else {
      const message = 'The prompt was deleted, but its file still exists';
      tell(pass, 'prompt-deleted', known.path, message, { prompt: { id: known.promptId, name: known.details.name } });
    }
    return;
  }
  if (found === null) {
    const message = known.hash === '' ? noFileYet : 'The file is missing';
    return tell(pass, 'file-missing', known.path, message, { prompt });
  }
  // The prompt may have changed while the file was read.
  const now = readMine(work, known.promptId);
  if (now === null) pass.isStale = true;
  else if (found !== 'same') meet(pass, known, now, found);
  else if (isChanged(known, now)) {
    const file = await readFile(work, known.path, pass.signal);
    if (file === null || file.hash !== known.hash) pass.isStale = true;
    else await write(pass, known, now, file);
  }
}

/** The missing file of the same content that a new file was, at best of the same name; removes it from the list. */
function takeSource(missing: StoredFile[] = [], path: string, newNames: ReadonlySet<string>): StoredFile | null {
  const isNamed = (file: StoredFile) => baseName(file.path) === baseName(path);
  const from = missing.find(isNamed) ?? missing.find((file) => !newNames.has(baseName(file.path))) ?? missing[0];
  if (from === undefined) return null;
  missing.splice(missing.indexOf(from), 1);
  return from;
}

/** A missing file and a new file with the same content are one moved file. */
function followMove(pass: Pass, from: StoredFile, to: ScannedFile): void {
  const { work } = pass;
  const mine = readMine(work, from.promptId);
  if (mine === null) return work.store.setFile(work.stored.id, { ...from, path: to.path });
  const { prompt } = mine;
  const [oldFolder, newFolder] = [from.path, to.path].map((path) => libraryFolder(work.stored.folder, path));
  const isNamedByFile = prompt.name === baseName(from.path) && to.content?.name === baseName(to.path);
  const name = isNamedByFile ? baseName(to.path) : prompt.name;
  const folder = prompt.folder === oldFolder ? newFolder! : prompt.folder;
  if (name !== prompt.name || folder !== prompt.folder) work.prompts.update(prompt.id, { name, folder });
  // A change made in the library isn't in the file yet.
  const details = { ...from.details };
  if (name !== prompt.name) details.name = name;
  if (folder !== prompt.folder) details.folder = folder;
  work.store.setFile(work.stored.id, { ...from, path: to.path, details });
}

/** The prompt of the same name and folder. It had this file before the folder was unlinked, or should get it. */
function adopt({ work }: Pass, file: ScannedFile, unlinked: Map<string, string>): boolean {
  const key = `${file.content!.folder}\n${file.content!.name}`;
  const promptId = unlinked.get(key);
  const mine = promptId === undefined ? null : readMine(work, promptId);
  if (mine === null) return false;
  unlinked.delete(key);
  work.store.setFile(work.stored.id, neverInStep(mine, file.path));
  return true;
}

async function reconcileNew(pass: Pass, known: readonly StoredFile[], unlinked: Map<string, string>): Promise<void> {
  const { tree } = pass;
  const paths = new Set(known.map(({ path }) => path));
  const missing = Map.groupBy(
    known.filter(({ path }) => !tree.has(path)),
    ({ hash }) => hash,
  );
  const added = [...tree.keys()].filter((path) => !paths.has(path));
  const newNames = new Set(added.map(baseName));
  for (const path of added) {
    if (isPartial(path)) {
      tell(pass, 'partial', path, partialMessage);
      continue;
    }
    const broken = findStored(pass, path)?.reason;
    if (broken) {
      tell(pass, 'broken', path, broken.message, { line: broken.line });
      continue;
    }
    const file = await read(pass, path);
    if (file === null) continue;
    const from = takeSource(missing.get(file.hash), path, newNames);
    if (from !== null) followMove(pass, from, file);
    else if (file.content === null) tell(pass, 'broken', path, file.reason!.message, { line: file.reason!.line });
    else if (!adopt(pass, file, unlinked)) create(pass, file);
  }
}

function create(pass: Pass, file: ScannedFile): void {
  try {
    createFromFile(pass.work, file, file.content!);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    tell(pass, 'broken', file.path, error.message);
  }
}

/** New prompts in the library's folder get a file. For prompts that existed before the folder was linked, the user decides. */
async function reconcileUnlinked(pass: Pass, unlinked: Iterable<string>): Promise<void> {
  const { work, tree, signal } = pass;
  const taken = new Set([...tree.keys(), ...work.store.files(work.stored.id).map(({ path }) => path)]);
  for (const promptId of unlinked) {
    signal.throwIfAborted();
    const mine = readMine(work, promptId);
    if (mine === null) continue;
    const path = newPath(work, mine, taken);
    taken.add(path);
    const never = neverInStep(mine, path);
    if (work.stored.wasRead) await write(pass, never, mine, null);
    else {
      work.store.setFile(work.stored.id, never);
      tell(pass, 'file-missing', path, noFileYet, { prompt: mine.prompt });
    }
  }
}

/** Syncs a folder with the library as far as that loses nothing. Everything else becomes an issue. */
export async function reconcile(
  work: FolderOperations,
  { tree, hashes, signal }: Pick<Pass, 'tree' | 'hashes' | 'signal'>,
): Promise<Reconciliation> {
  const pass: Pass = { work, tree, hashes, signal, issues: [], isStale: false };
  const unlinked = new Map<string, string>();
  for (const promptId of work.store.promptsWithoutFile(work.stored.folder)) {
    const prompt = readPrompt(work, promptId);
    if (prompt) unlinked.set(`${prompt.folder}\n${prompt.name.trim()}`, promptId);
  }
  await reconcileNew(pass, work.store.files(work.stored.id), unlinked);
  for (const [index, known] of work.store.files(work.stored.id).entries()) {
    signal.throwIfAborted();
    if (index % filesAtOnce === filesAtOnce - 1) await setImmediate();
    await reconcileKnown(pass, known);
  }
  await reconcileUnlinked(pass, work.store.promptsWithoutFile(work.stored.folder));
  for (const path of hashes.keys()) if (!tree.has(path)) hashes.delete(path);
  return { issues: pass.issues, isStale: pass.isStale };
}
