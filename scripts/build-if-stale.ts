import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runToEnd } from './project-node.mjs';

/** Its modification time is that of the last successful build. */
const stamp = join(root, 'out/.built');
const sources = [
  'shared',
  'electron',
  'renderer',
  'package.json',
  'package-lock.json',
  'vite.config.ts',
  'rolldown.config.ts',
];

function newestTime(path: string): number {
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  // A folder's own time changes when something in it is added, renamed or removed.
  return Math.max(state.mtimeMs, ...readdirSync(path).map((name) => newestTime(join(path, name))));
}

function isStale(): boolean {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return sources.some((path) => newestTime(join(root, path)) > builtAt);
}

const steps = [
  ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'],
  ['node_modules/rolldown/bin/cli.mjs', '-c', 'rolldown.config.ts', '--logLevel', 'warn'],
];

/** Builds window and host if a source is newer than the build. Ends the process when a build fails. */
export async function buildIfStale(): Promise<void> {
  if (!isStale()) return;
  const startedAt = new Date();
  process.stderr.write('Building Touchstone.\n');
  for (const step of steps) {
    const status = await runToEnd(process.execPath, step, { stdio: ['ignore', 2, 2] });
    if (status !== 0) process.exit(status);
  }
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(stamp, `${startedAt.toISOString()}\n`);
}
