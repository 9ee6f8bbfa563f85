import { defineConfig } from 'rolldown';

/** Native add-ons and packages that look for files beside themselves stay outside the bundle. */
const external = [/^node:/, 'electron', 'better-sqlite3', '@napi-rs/keyring', 'node-llama-cpp'];

export default defineConfig([
  {
    input: {
      main: 'electron/shell/main.ts',
      serve: 'electron/server/serve.ts',
      keys: 'electron/server/keys.ts',
      'language-model-process': 'electron/on-device/language-model-process.ts',
    },
    platform: 'node',
    external,
    output: { dir: 'out/host', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunk-[hash].js', cleanDir: true },
  },
  {
    input: { preload: 'electron/shell/preload.ts' },
    platform: 'node',
    external: ['electron'],
    output: { dir: 'out/preload', format: 'cjs', entryFileNames: '[name].cjs', cleanDir: true },
  },
]);
