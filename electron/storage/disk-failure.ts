import { AppError } from '../../shared/app-error.ts';

const full = "The disk is full. Free some space and try again. You don't have to restart Touchstone.";
const readOnly = 'The data folder is read-only. Make it writable for the account that runs Touchstone.';
const tooManyFiles =
  'Too many files are open on this computer. Close other programs, or raise the limit for open files, and try again.';
const failing = "Couldn't read or write the disk. It may be full, disconnected or failing. Check it, then try again.";
const closed =
  "Couldn't open a file of the data folder. It belongs to another account, isn't a file, or too many files are open on this " +
  'computer.';
const closedToUs =
  "Couldn't use the data folder. It, or a file in it, belongs to another account or is protected. Let the account that runs " +
  'Touchstone read and write it, or choose another folder with --data-dir.';
const noFolder =
  "Couldn't create or use the data folder. A part of its path isn't a folder, doesn't exist, or is too long. Choose another one " +
  'with --data-dir.';
const busy = 'Another program is using the database. Quit it, or wait until it has finished, and try again.';
const damaged =
  'The database is damaged. Quit Touchstone, replace touchstone.sqlite with the newest copy from the folder `backups`, remove ' +
  'touchstone.sqlite-wal and touchstone.sqlite-shm, and start again.';

/** By the first part of a code of Node or SQLite. SQLite's codes can end with details (`SQLITE_IOERR_WRITE`). */
const messages: readonly (readonly [code: string, message: string])[] = [
  ['ENOSPC', full],
  ['EDQUOT', full],
  ['SQLITE_FULL', full],
  ['EROFS', readOnly],
  ['SQLITE_READONLY', readOnly],
  ['EMFILE', tooManyFiles],
  ['ENFILE', tooManyFiles],
  ['EIO', failing],
  ['SQLITE_IOERR', failing],
  ['SQLITE_CANTOPEN', closed],
  ['SQLITE_BUSY', busy],
  ['SQLITE_CORRUPT', damaged],
  ['SQLITE_NOTADB', damaged],
];

/** Failures that only occur at the start. Later Touchstone chooses all files. */
const startMessages: typeof messages = [
  ...['EACCES', 'EPERM', 'SQLITE_PERM', 'SQLITE_AUTH'].map((code) => [code, closedToUs] as const),
  ...['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOENT', 'ELOOP', 'ENAMETOOLONG'].map((code) => [code, noFolder] as const),
];

function describe(failure: unknown, known: typeof messages): AppError | null {
  if (!(failure instanceof Error) || !('code' in failure) || typeof failure.code !== 'string') return null;
  const { code } = failure;
  const found = known.find(([start]) => code === start || code.startsWith(`${start}_`));
  return found ? new AppError('internal', found[1], { cause: failure }) : null;
}

/**
 * An `internal` error that says what the user can do about a failure of the disk; null for any other failure. It checks only the code, so
 * that it recognises failures from any thread and library.
 */
export function describeDiskFailure(failure: unknown): AppError | null {
  return describe(failure, messages);
}

/** The same for a data folder that can't be opened. */
export function describeStartFailure(failure: unknown): AppError | null {
  return describe(failure, [...messages, ...startMessages]);
}
