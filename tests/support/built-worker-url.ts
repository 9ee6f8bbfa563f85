import { pathToFileURL } from 'node:url';

/**
 * Stands in for `electron/common/worker-url.ts` in tests of the built host. Names are those of `rolldown.config.ts`. Vite makes the address of an asset
 * from a URL that is relative to `import.meta.url`.
 */
export function workerUrl(_callerAddress: string, name: string): URL {
  return pathToFileURL(`out/host/${name}.js`);
}
