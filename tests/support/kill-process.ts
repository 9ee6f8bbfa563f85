import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { nodeOptions } from './node-options.ts';

/**
 * Runs a script and shows every line that it prints to `onLine`, which says by `true` that its life is to be taken now. Resolves when the process has ended and
 * all that it printed was read. What it prints to its error output is passed on.
 */
export async function runUntilKilled(
  script: string,
  parameters: readonly string[],
  onLine: (line: string) => boolean,
): Promise<void> {
  const child = spawn(process.execPath, [...nodeOptions, script, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) if (onLine(line)) child.kill('SIGKILL');
  await closed;
}
