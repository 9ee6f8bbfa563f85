import { builtinModules } from 'node:module';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin, Rolldown } from 'vite';
import { leaveOutSchemas } from './scripts/leave-out-schemas.ts';
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

/** A file of the built window with everything that it imports, style sheets included. */
function withImports(bundle: Rolldown.OutputBundle, name: string, found = new Set<string>()): ReadonlySet<string> {
  const file = bundle[name];
  if (found.has(name)) return found;
  found.add(name);
  if (file?.type !== 'chunk') return found;
  for (const style of file.viteMetadata?.importedCss ?? []) found.add(style);
  for (const imported of file.imports) withImports(bundle, imported, found);
  return found;
}

const isScreen = /renderer\/screens\/([a-z]+)\/\1-screen\.tsx$/;

/** By screen: the files that it needs beside those of the entry. */
function screenFiles(bundle: Rolldown.OutputBundle, entry: Rolldown.OutputChunk): Record<string, string[]> {
  const known = withImports(bundle, entry.fileName);
  const screens: Record<string, string[]> = {};
  for (const file of Object.values(bundle)) {
    if (file.type !== 'chunk') continue;
    const screen = file.moduleIds.map((id) => isScreen.exec(id)?.[1]).find((name) => name !== undefined);
    if (screen) screens[screen] = [...withImports(bundle, file.fileName)].filter((name) => !known.has(name));
  }
  return screens;
}

/** Writes into the page which files each screen needs, for `public/assets/prepare-window.v1.js`. */
const listScreenFiles: Plugin = {
  name: 'list-screen-files',
  transformIndexHtml: {
    order: 'post',
    handler(page, { bundle, chunk }) {
      if (!bundle || !chunk) return page;
      const fonts = Object.keys(bundle).filter((name) => /-latin-wght-normal-.*\.woff2$/.test(name));
      return page
        .replace('data-fonts="[]"', `data-fonts='${JSON.stringify(fonts)}'`)
        .replace('data-screens="{}"', `data-screens='${JSON.stringify(screenFiles(bundle, chunk))}'`);
    },
  },
};

/**
 * V8 compiles a function at its first call, on the main thread, and caches only what was compiled when the file had been evaluated: 1,200 functions
 * of the first screen were compiled at every start. With this line a thread compiles all functions of a file, and the cache has them. The bundler
 * puts its own code before a banner.
 */
const compileAllFunctions: Plugin = {
  name: 'compile-all-functions',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
      }
    },
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
  plugins: [refuseNodeBuiltins, leaveOutSchemas, thirdPartyLicences, react(), listScreenFiles, compileAllFunctions],
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
