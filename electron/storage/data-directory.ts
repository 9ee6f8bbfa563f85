import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { AppError } from '../../shared/app-error.ts';

/** The default data folder: `TOUCHSTONE_DATA_DIR`, otherwise the platform's folder for application data. */
export function defaultDataDirectory(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const chosen = environment['TOUCHSTONE_DATA_DIR'];
  if (chosen) return resolve(chosen);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Touchstone');
  if (platform === 'win32') return join(environment['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming'), 'Touchstone');
  return join(environment['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'touchstone');
}

/** What Touchstone creates in its data folder. Everything else may belong to other programs. */
const ownNames =
  /^(?:(?:touchstone|audit-index|knowledge)\.|(?:audit|backups|exports|files|knowledge|models|sources|tls|window)$)/;

const otherWriters = 0o022;
const anyoneElse = 0o077;

/**
 * Creates the data folder if needed, readable only by its owner. Prompts, answers and keys are private, and another user who can write to
 * the folder could make Touchstone write elsewhere or read another database. Throws `conflict` with the remedy. Windows protects a
 * user's folders by default and has no modes and owners here.
 */
export function prepareDirectory(chosen: string): void {
  // A slash at the end would follow a link.
  const directory = resolve(chosen);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  rejectLink(directory, lstatSync(directory));
  if (process.platform === 'win32') return;
  const names = readdirSync(directory);
  requireOwnFolder(directory, names.length === 0);
  for (const name of names) if (ownNames.test(name)) makePrivate(join(directory, name));
}

function requireOwnFolder(directory: string, isEmpty: boolean): void {
  const { uid, mode } = lstatSync(directory);
  const user = process.getuid?.() ?? uid;
  // The administrator may use a folder of another user, as containers do.
  if (uid !== user && user !== 0) {
    throw new AppError(
      'conflict',
      `The data folder ${directory} belongs to another account. Choose another folder with --data-dir.`,
    );
  }
  if ((mode & otherWriters) !== 0 && !isEmpty) {
    throw new AppError(
      'conflict',
      `Other accounts can write to the data folder ${directory}. Check its files, run chmod 700 "${directory}" and start ` +
        'Touchstone again. If the mode stays the same, choose a folder on another disk with --data-dir.',
    );
  }
  if ((mode & anyoneElse) !== 0) chmodSync(directory, 0o700);
}

function makePrivate(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  // Another process that uses the folder may have removed it.
  if (!stats) return;
  rejectLink(path, stats);
  if ((stats.mode & anyoneElse) === 0) return;
  if (stats.isDirectory()) chmodSync(path, 0o700);
  else if (stats.isFile()) chmodSync(path, 0o600);
}

function rejectLink(path: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return;
  const target = targetOf(path);
  throw new AppError(
    'conflict',
    `${path} is a symbolic link, which Touchstone doesn't follow. ` +
      `Move ${target} to this place, or choose the real folder with --data-dir.`,
  );
}

function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return `what "${basename(path)}" points to`;
  }
}
