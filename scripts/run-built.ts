import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { root, runToEnd } from './project-node.mjs';

/**
 * MB of memory for what has just been made. With Node's own 16 a busy host spends a sixth of its time moving what is about to be
 * thrown away; more than this gains little.
 */
export const hostFlags = ['--max-semi-space-size=32'];

/** Builds if need be and runs one program of the built host with this terminal. */
export async function runBuilt(program: 'serve' | 'keys', parameters: readonly string[]): Promise<void> {
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
