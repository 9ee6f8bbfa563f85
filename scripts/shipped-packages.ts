import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project-node.mjs';

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string | { readonly type: string };
}

interface LockEntry {
  readonly optional?: boolean;
}

/** Tools that are in no part of the product. */
const tools =
  /^(@types\/|@vitejs\/|@playwright\/|@redocly\/|@copilotkit\/|@testing-library\/|@axe-core\/|electron-builder$|electron-installer-debian$|vite$|vitest$|rolldown$|oxlint$|prettier$|knip$|typescript$|jsdom$|fast-check$|eventsource-parser$|openai$|electron$)/;

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(join(root, file), 'utf8')) as Value;
}

/** The installed folders of these packages and all of their dependencies. */
export function foldersOf(names: readonly string[]): string[] {
  const lock = readJson<{
    packages: Record<string, LockEntry & { dependencies?: object; optionalDependencies?: object }>;
  }>('package-lock.json').packages;
  const folders = new Set<string>();

  function visit(name: string, from: string): void {
    for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
      const folder = `${base === '' ? '' : `${base}/`}node_modules/${name}`;
      const entry = lock[folder];
      if (entry && existsSync(join(root, folder))) {
        if (folders.has(folder)) return;
        folders.add(folder);
        for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) visit(next, folder);
        return;
      }
      if (base === '') return;
    }
  }

  for (const name of names) visit(name, '');
  return [...folders].toSorted();
}

/** The names in package.json. The optional ones are Node itself for people who run the sources: scripts/project-node.mjs. */
export function ownDependencies(): Readonly<Record<'all' | 'production' | 'optional', readonly string[]>> {
  const file = readJson<Record<'dependencies' | 'devDependencies' | 'optionalDependencies', object>>('package.json');
  const production = Object.keys(file.dependencies);
  return {
    all: [...production, ...Object.keys(file.devDependencies)],
    production,
    optional: Object.keys(file.optionalDependencies),
  };
}

export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly licence: string;
  /** The full text; empty if the package has no licence file. */
  readonly text: string;
}

function describe(folder: string): ShippedPackage {
  const { name, version, license } = readJson<PackageFile>(`${folder}/package.json`);
  const file = readdirSync(join(root, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  return {
    name,
    version,
    title: `${name} ${version}`,
    licence: typeof license === 'object' ? license.type : (license ?? 'see text'),
    text: file ? readFileSync(join(root, folder, file), 'utf8').trim() : '',
  };
}

/** The npm packages in the product, with their licences. */
export function shippedPackages(): ShippedPackage[] {
  return foldersOf(ownDependencies().all.filter((name) => !tools.test(name))).map(describe);
}
