/** Stands in for `electron/common/worker-url.ts` in tests of the built host. Names are those of `rolldown.config.ts`. */
export function workerUrl(_callerAddress: string, name: string): URL {
  return new URL(`../../out/host/${name}.js`, import.meta.url);
}
