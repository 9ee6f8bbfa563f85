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
 * The desktop's main thread reads and passes on each file, and a start waits for it; in the page, each costs 2 ms to ask for. Without groups
 * the first paint needs 47 files and the first screen 52 more; with them, 4 and 10 of nearly the same size.
 */
const fileGroups = [
  { name: 'start', tags: ['$initial' as const], priority: 1 },
  { name: 'icons', test: /lucide-react/ },
  // Without the parts, other screens would load all of the playground with what they share.
  {
    name: 'playground',
    test: /[\\/]playground-screen\.tsx$/,
    entriesAware: true,
    entriesAwareMergeThreshold: 200_000,
  },
];

/** The name of a file that several screens share begins with its group's, and would go on with all of theirs. */
const nameOf = (name: string) => name.split('~', 1)[0]!;

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
    rolldownOptions: {
      output: {
        charset: 'ascii',
        codeSplitting: { groups: fileGroups },
        chunkFileNames: ({ name }) => `assets/${nameOf(name)}-[hash].js`,
        assetFileNames: ({ names: [name = ''] }) =>
          name.includes('~') ? `assets/${nameOf(name)}-[hash][extname]` : 'assets/[name]-[hash][extname]',
      },
    },
  },
});
