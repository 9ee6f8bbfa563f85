import { extname } from 'node:path';

/**
 * URL of a module beside the caller that runs as a worker or a child process: `.ts` in the source tree, `.js` in the built host,
 * where all modules are in one folder.
 */
export function workerUrl(callerAddress: string, name: string): URL {
  return new URL(`./${name}${extname(callerAddress)}`, callerAddress);
}
