// The first step of `npm start` and `npm test`: runs on any Node, without installed packages.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWindows = process.platform === 'win32';
/**
 * Node 24 is an optional dependency, one package for each system in the registry. The package `node` would choose by an install
 * script, and .npmrc disables all of those.
 */
const nodePackage = `node_modules/node-${isWindows ? 'win' : process.platform}-${process.arch}`;
const packagedNode = join(root, nodePackage, 'bin', isWindows ? 'node.exe' : 'node');
const isNewEnough = Number(process.versions.node.split('.')[0]) >= 24;

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return null;
  }
}

/**
 * Whether `node_modules` matches the lock file. npm writes the installed packages into its own lock file at the very end, so an
 * interrupted installation doesn't count.
 */
export function isInstalled() {
  const required = readPackages('package-lock.json');
  const present = readPackages('node_modules/.package-lock.json');
  if (!required || !present) return false;
  // npm counts an optional package that is missing as installed.
  if (!isNewEnough && required[nodePackage] && !existsSync(packagedNode)) return false;
  return Object.entries(required).every(([path, entry]) => {
    if (path === '' || entry.link) return true;
    const installed = present[path];
    return installed ? installed.version === entry.version : Boolean(entry.optional || entry.os || entry.cpu);
  });
}

/**
 * Calls back once when our parent process ends. npm starts us through a shell that forwards no signals: otherwise a host would keep
 * running, on its port, after npm has ended.
 */
export function onParentExit(callBack) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callBack();
  }, 250);
  timer.unref();
  return () => clearInterval(timer);
}

/** Runs a command with this terminal and resolves with its exit status; signals sent to us are forwarded. */
export function runToEnd(command, parameters, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { stdio: 'inherit', cwd: root, ...options });
    // A terminal's Ctrl+C already reaches the child. A second one would end it at once.
    const forward = (signal) => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
    const stopWatching = onParentExit(() => child.kill('SIGTERM'));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      stopWatching();
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, forward);
      resolve(status ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** The calling npm, on its own Node: the project's Node is among the files that npm replaces. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  if (npm && node && existsSync(npm) && existsSync(node)) return { command: node, parameters: [npm] };
  return { command: 'npm', parameters: [], shell: isWindows };
}

async function install() {
  process.stderr.write('Installing what Touchstone needs (npm ci); the first time takes a minute or two.\n');
  const { command, parameters, shell } = npmCommand();
  // Its warnings are about the Node that installs, not the one that runs. npm's output goes to stderr: stdout belongs to the
  // command.
  const status = await runToEnd(command, [...parameters, 'ci', '--loglevel=error'], {
    stdio: ['inherit', 2, 2],
    shell,
  });
  if (status !== 0) process.exit(status);
}

/** npm 10 links only the program of the first of several optional packages, which may be for another system. */
function linkProjectNode() {
  const link = join(root, 'node_modules/.bin/node');
  if (isWindows || !existsSync(packagedNode) || existsSync(link)) return;
  try {
    symlinkSync(relative(dirname(link), packagedNode), link);
  } catch (error) {
    // Another process has created it meanwhile, or the folder is read-only. Only programs that are called by hand need the link.
    if (!['EEXIST', 'EACCES', 'EROFS'].includes(error.code)) throw error;
  }
}

/** Installs if needed. Resolves with the Node 24 or later that runs everything else; ends the process if there is none. */
export async function projectNode() {
  const isFresh = !isInstalled();
  if (isFresh) await install();
  linkProjectNode();
  if (!isFresh && isNewEnough) return process.execPath;
  if (existsSync(packagedNode)) return packagedNode;
  if (isNewEnough) return process.execPath;
  process.stderr.write(
    `Touchstone needs Node 24 or later. This is Node ${process.versions.node}, and npm installed no newer one for ` +
      `${process.platform} on ${process.arch}. Install Node 24 from nodejs.org and try again.\n`,
  );
  process.exit(1);
}
