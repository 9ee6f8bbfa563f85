import { fetchElectron, findElectron } from './electron-binary.ts';
import { root, runToEnd } from './project-node.mjs';
import { buildIfStale, runBuilt } from './run-built.mjs';

function hasDisplay(): boolean {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);
}

/** A window that fails within this time never opened: the system forbids the sandbox, or a library is missing. */
const startLimit = 8_000;

/** Why there is no window; null after one was open. */
async function startWindow(parameters: readonly string[]): Promise<string | null> {
  if (!hasDisplay()) return 'No display found';
  if (process.platform === 'linux' && process.getuid?.() === 0) return "Electron doesn't run as root";
  const electron = findElectron() ?? fetchElectron();
  if (!electron) return "Electron couldn't be downloaded";
  const startedAt = Date.now();
  const status = await runToEnd(electron, [root, ...parameters]);
  if (status !== 0 && Date.now() - startedAt < startLimit) return `Electron exited immediately with status ${status}`;
  process.exitCode = status;
  return null;
}

const parameters = process.argv.slice(2);
await buildIfStale();
const obstacle = await startWindow(parameters);
if (obstacle) {
  process.stderr.write(
    `${obstacle}, so Touchstone runs without a desktop window. Open the address below in a browser.\n`,
  );
  await runBuilt('serve', ['--fetch-model', ...parameters]);
}
