import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { root, runToEnd } from './project-node.mjs';

/**
 * MB of memory for new objects. With Node's default of 16 a busy host spends a sixth of its time copying short-lived objects; more
 * than this gains little.
 */
export const hostFlags = ['--max-semi-space-size=32'];

/** Builds if needed and runs one program of the built host with this terminal. */
export async function runBuilt(program: 'serve' | 'keys' | 'compare', parameters: readonly string[]): Promise<void> {
  await buildIfStale();
  // The caller's folder, not ours, is what a relative `--data-dir` means.
  const cwd = process.env['INIT_CWD'] ?? process.cwd();
  process.exitCode = await runToEnd(
    process.execPath,
    [...hostFlags, join(root, 'out/host', `${program}.js`), ...parameters],
    {
      cwd,
    },
  );
}
