import { extname } from 'node:path';

/**
 * Address of a module that is started on its own (a worker, a child process) and lies beside the caller: as `.ts` in the
 * source tree, as `.js` in the built host, where all modules lie in one folder.
 */
export function workerUrl(callerAddress: string, name: string): URL {
  return new URL(`./${name}${extname(callerAddress)}`, callerAddress);
}
