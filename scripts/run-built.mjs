// Builds and runs the host's programs. Runs on any Node, like project-node.mjs: another process would cost each start 0.1 s.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onParentExit, root, runToEnd } from './project-node.mjs';

/**
 * MB of memory for new objects, at most and at first. With Node's default of 16 at most, a busy host spends a sixth of its time copying short-lived
 * objects. With 64 it takes a tenth less than with 32, for 50 MB more under load. With V8's default of 1 at first, a start takes a tenth more processor time.
 */
export const hostFlags = ['--max-semi-space-size=64', '--min-semi-space-size=8'];

/** Its modification time is that of the last successful build. */
const stamp = join(root, 'out/.built');
/**
 * Compiled code of the host, a tenth of the processor time of a start. It is beside the code that it belongs to, not in the data
 * folder: whoever can write here can change what runs.
 */
const compileCache = join(root, 'out/.compile-cache');
const sources = [
  'shared',
  'electron',
  'renderer',
  'package.json',
  'package-lock.json',
  'vite.config.ts',
  'rolldown.config.ts',
  'scripts/leave-out-schemas.ts',
  'scripts/vite-licences.ts',
];

function newestTime(path) {
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  // A folder's own time changes when something in it is added, renamed or removed.
  return Math.max(state.mtimeMs, ...readdirSync(path).map((name) => newestTime(join(path, name))));
}

function isStale() {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return sources.some((path) => newestTime(join(root, path)) > builtAt);
}

const steps = [
  ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'],
  ['node_modules/rolldown/bin/cli.mjs', '-c', 'rolldown.config.ts', '--logLevel', 'warn'],
];

/** Builds window and host on `node` if a source is newer than the build. Ends the process when a build fails. */
export async function buildIfStale(node = process.execPath) {
  if (!isStale()) return;
  const startedAt = new Date();
  process.stderr.write('Building Touchstone.\n');
  for (const step of steps) {
    // Their results are a hundred names of files; warnings and errors go to the second output.
    const status = await runToEnd(node, step, { stdio: ['ignore', 'ignore', 2] });
    if (status !== 0) process.exit(status);
  }
  rmSync(compileCache, { recursive: true, force: true });
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(stamp, `${startedAt.toISOString()}\n`);
}

/** Runs a program of the built host in this process, which takes less time and memory than a second one. */
async function runHere(file, parameters) {
  const { enableCompileCache } = await import('node:module');
  // The variable is for threads and children.
  process.env['NODE_COMPILE_CACHE'] ??= compileCache;
  enableCompileCache(process.env['NODE_COMPILE_CACHE']);
  process.argv = [process.execPath, file, ...parameters];
  onParentExit(() => process.kill(process.pid, 'SIGTERM'));
  await import(pathToFileURL(file).href);
}

/** Builds if needed and runs one program of the built host on `node`, with this terminal. */
export async function runBuilt(program, parameters, node = process.execPath) {
  await buildIfStale(node);
  const file = join(root, 'out/host', `${program}.js`);
  // The caller's folder, not ours, is what a relative `--data-dir` means.
  const cwd = process.env['INIT_CWD'] ?? process.cwd();
  if (node === process.execPath && hostFlags.every((flag) => process.execArgv.includes(flag))) {
    process.chdir(cwd);
    return runHere(file, parameters);
  }
  process.exitCode = await runToEnd(node, [...hostFlags, file, ...parameters], {
    cwd,
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
  });
}
