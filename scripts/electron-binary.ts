import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project-node.mjs';

const packageFolder = join(root, 'node_modules/electron');
const names: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  win32: 'electron.exe',
};

/** The Electron program on this machine: the one in `ELECTRON_OVERRIDE_DIST_PATH`, or npm's. */
export function findElectron(): string | null {
  const folder = process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(packageFolder, 'dist');
  const program = join(folder, names[process.platform] ?? 'electron');
  return existsSync(program) ? program : null;
}

/** Milliseconds for Electron's own download; a closed network mostly fails within a second. */
const downloadLimit = 180_000;

/** Lets Electron's package download its program, as it does at its first use. Null if it can't. */
export function fetchElectron(): string | null {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  process.stderr.write(`Downloading Electron ${version} (about 120 MB, once).\n`);
  spawnSync(process.execPath, [join(packageFolder, 'install.js')], { stdio: 'ignore', timeout: downloadLimit });
  return findElectron();
}
