import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { createPrivateFile, databaseFile } from './database.ts';
import { rejectNewerVersion } from './migrate.ts';
import { applicationId } from './migrations/from-0001.ts';
import type { Storage } from './storage.ts';

export function backupDirectory(directory: string): string {
  return join(directory, 'backups');
}

/** Contains the name of the backup that the next start restores. */
function restoreMark(directory: string): string {
  return join(backupDirectory(directory), 'restore-next');
}

/** Creates an empty backup file, named by the time. */
function newBackupFile(directory: string): string {
  const folder = backupDirectory(directory);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let time = Date.now(); ; time += 1) {
    const file = join(folder, `touchstone-${new Date(time).toISOString().replaceAll(':', '-')}.sqlite`);
    if (existsSync(file) || existsSync(`${file}.partial`)) continue;
    createPrivateFile(`${file}.partial`);
    return file;
  }
}

/** Turns a finished copy into a single file, syncs it and gives it its final name. */
function completeBackup(file: string): void {
  const copy = new Database(`${file}.partial`);
  copy.pragma('journal_mode = DELETE');
  copy.close();
  moveToDisk(`${file}.partial`, file);
}

/** The files of prompts in the data folder: `ab/abcd…`, by their SHA-256. */
const filesDirectory = (directory: string) => join(directory, 'files');

/** The files of prompts that belong to a backup. */
const backedUpFiles = (backup: string) => backup.replace(/\.sqlite$/, '.files');

const isFileFolder = (name: string) => /^[\da-f]{2}$/.test(name);

const code = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Links a file into a backup, which needs no space. Copies it where the disk has no links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // Removed meanwhile: no run of the backup uses it.
    if (code(error) === 'ENOENT') return;
    await copyFile(from, to);
  }
}

function linkOrCopySync(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** Each file of prompts, and its path in a backup, whose folders are created. */
function* filesToBackUp(directory: string, backup: string): Generator<{ readonly from: string; readonly to: string }> {
  const source = filesDirectory(directory);
  if (!existsSync(source)) return;
  for (const folder of readdirSync(source).filter(isFileFolder)) {
    const target = join(backedUpFiles(backup), folder);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    for (const id of readdirSync(join(source, folder))) yield { from: join(source, folder, id), to: join(target, id) };
  }
}

/** Brings back the files of a backup that were removed since. */
function restoreFiles(directory: string, backup: string): void {
  const source = backedUpFiles(backup);
  if (!existsSync(source)) return;
  for (const folder of readdirSync(source).filter(isFileFolder)) {
    const target = join(filesDirectory(directory), folder);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    for (const id of readdirSync(join(source, folder))) {
      const file = join(target, id);
      if (existsSync(file)) continue;
      // Complete under its name, also after a crash.
      copyFileSync(join(source, folder, id), `${file}.restoring`);
      moveToDisk(`${file}.restoring`, file);
    }
  }
}

function moveToDisk(from: string, to: string): void {
  const handle = openSync(from, 'r+');
  fsyncSync(handle);
  closeSync(handle);
  renameSync(from, to);
}

/** Throws `conflict` if a file isn't a complete Touchstone database. */
function requireRestorable(file: string): void {
  const fileName = basename(file);
  try {
    const database = new Database(file, { readonly: true, fileMustExist: true });
    try {
      rejectNewerVersion(database);
      const isOurs = database.pragma('application_id', { simple: true }) === applicationId;
      if (isOurs && database.pragma('integrity_check', { simple: true }) === 'ok') return;
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
  }
  throw new AppError('conflict', `${fileName} is damaged or is not a copy of this database. Choose another one.`);
}

/** Backups of the database in the data folder. `flush` writes queued runs first. */
export function createBackups(
  directory: string,
  database: Database.Database,
  flush: () => void,
): Pick<Storage, 'createBackup' | 'listBackups' | 'scheduleRestore'> {
  return {
    async createBackup() {
      flush();
      const file = newBackupFile(directory);
      try {
        await database.backup(`${file}.partial`);
        for (const { from, to } of filesToBackUp(directory, file)) await linkOrCopy(from, to);
        completeBackup(file);
      } catch (error) {
        rmSync(backedUpFiles(file), { recursive: true, force: true });
        throw error;
      } finally {
        rmSync(`${file}.partial`, { force: true });
      }
      return { fileName: basename(file), bytes: statSync(file).size };
    },
    listBackups() {
      const folder = backupDirectory(directory);
      if (!existsSync(folder)) return [];
      return readdirSync(folder)
        .filter((fileName) => /^[\w.-]+\.sqlite$/.test(fileName))
        .map((fileName) => ({ fileName, stats: statSync(join(folder, fileName)) }))
        .toSorted((one, other) => other.stats.mtimeMs - one.stats.mtimeMs || (one.fileName < other.fileName ? 1 : -1))
        .map(({ fileName, stats }) => ({ fileName, bytes: stats.size, createdAt: stats.mtime.toISOString() }));
    },
    scheduleRestore(fileName) {
      const file = join(backupDirectory(directory), fileName);
      if (basename(fileName) !== fileName || !fileName.endsWith('.sqlite') || !existsSync(file)) {
        throw new AppError('not_found', 'No backup has this name.');
      }
      requireRestorable(file);
      writeFileSync(restoreMark(directory), fileName, { mode: 0o600 });
    },
  };
}

/**
 * Restores the scheduled backup before the database is opened. The current database becomes a backup, too. If the process ends in the
 * middle, the next start repeats all of it. An unusable backup isn't restored, and the reason is returned.
 */
export function applyScheduledRestore(directory: string): string | null {
  const mark = restoreMark(directory);
  if (!existsSync(mark)) return null;
  const copy = join(backupDirectory(directory), basename(readFileSync(mark, 'utf8')));
  try {
    requireRestorable(copy);
  } catch (error) {
    rmSync(mark);
    return error instanceof Error ? error.message : String(error);
  }
  keepPresent(directory);
  restoreFiles(directory, copy);
  const file = databaseFile(directory);
  createPrivateFile(`${file}.restoring`);
  copyFileSync(copy, `${file}.restoring`);
  // SQLite would apply the old database's log to the restored one.
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  moveToDisk(`${file}.restoring`, file);
  rmSync(mark);
  return null;
}

function keepPresent(directory: string): void {
  const file = databaseFile(directory);
  if (!existsSync(file)) return;
  const safetyCopy = newBackupFile(directory);
  const database = new Database(file);
  try {
    // Reading opens the log. Closing the only connection then writes it into the file.
    database.pragma('user_version');
  } catch {
    // A damaged database may be the reason for the restore, so it stays unchanged.
  } finally {
    database.close();
  }
  try {
    for (const { from, to } of filesToBackUp(directory, safetyCopy)) linkOrCopySync(from, to);
    copyFileSync(file, `${safetyCopy}.partial`);
    moveToDisk(`${safetyCopy}.partial`, safetyCopy);
  } catch (error) {
    // The next start makes another copy.
    rmSync(backedUpFiles(safetyCopy), { recursive: true, force: true });
    rmSync(`${safetyCopy}.partial`, { force: true });
    throw error;
  }
}
