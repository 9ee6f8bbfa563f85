import { builtinModules } from 'node:module';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { thirdPartyLicences } from './scripts/vite-licences.ts';

const builtins = new Set(builtinModules);

/** Without it a Node built-in becomes an empty module, and the window breaks where it is first used. */
const refuseNodeBuiltins: Plugin = {
  name: 'refuse-node-builtins',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.startsWith('node:') && !builtins.has(source)) return;
    this.error(
      `The window has no Node: ${importer ?? 'the page'} imports "${source}". Ask the host for it through the client.`,
    );
  },
};

/**
 * The desktop's main thread reads and passes on each file, and a start waits for it. Without groups the first paint needs 47 files,
 * with them 4 of nearly the same size.
 */
const fileGroups = [
  { name: 'start', tags: ['$initial' as const], priority: 1 },
  { name: 'icons', test: /lucide-react/ },
];

/** The window, for `app://` and for a browser alike: addresses from the root, no inline script or data address, as its CSP demands. */
export default defineConfig({
  root: 'renderer',
  base: '/',
  plugins: [refuseNodeBuiltins, thirdPartyLicences, react()],
  build: {
    outDir: '../out/window',
    emptyOutDir: true,
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    // V8 stores a file with one other character in two bytes for each.
    rolldownOptions: { output: { charset: 'ascii', codeSplitting: { groups: fileGroups } } },
  },
});
