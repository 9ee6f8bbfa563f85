import { globSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostFields } from '../../scripts/leave-out-schemas.ts';

const root = join(import.meta.dirname, '../..');
const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"\s]+)['"]/g;

/** Every import below a folder, as `file → what it imports`; relative ones from the root of the repository. */
function importsBelow(folder: string): { file: string; imported: string }[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(specifiers)].map(([, specifier = '']) => ({
      file,
      imported: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier,
    })),
  );
}

function isBuiltin(imported: string): boolean {
  return imported.startsWith('node:') || builtinModules.includes(imported);
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function isPackage(imported: string): boolean {
  return (
    !isBuiltin(imported) &&
    !isBelow(imported, ['shared', 'electron', 'renderer', 'tests', 'scripts', 'benchmarks']) &&
    imported !== 'package.json'
  );
}

/** The imports of a folder that a rule does not allow, as text. */
function violations(folder: string, isAllowed: (imported: string, file: string) => boolean): string[] {
  return importsBelow(folder)
    .filter(({ file, imported }) => !isAllowed(imported, file))
    .map(({ file, imported }) => `${file} → ${imported}`);
}

/** The folders of the work itself: everything of the host that neither speaks HTTP nor serves it. */
const work = readdirSync(join(root, 'electron'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['api', 'ipc', 'server', 'shell'].includes(entry.name))
  .map(({ name }) => `electron/${name}`);

const screens = readdirSync(join(root, 'renderer/screens')).map((name) => `renderer/screens/${name}`);

describe('imports', () => {
  test('are detected in every form', () => {
    const found = importsBelow('electron').map(({ imported }) => imported);
    expect(found).toEqual(
      expect.arrayContaining(['electron', 'node:path', 'shared/app-error.ts', 'electron/api/api.ts']),
    );
  });

  test('of shared/ stay in shared/, with zod and the template parser', () => {
    expect(violations('shared', (imported) => isBelow(imported, ['shared', 'zod', '@handlebars/parser']))).toEqual([]);
  });

  test('of renderer/ are shared/, itself and packages, and never Node or Electron', () => {
    expect(
      violations(
        'renderer',
        (imported) => isBelow(imported, ['shared', 'renderer']) || (isPackage(imported) && imported !== 'electron'),
      ),
    ).toEqual([]);
  });

  test('of a screen never reach another screen', () => {
    const found = screens.flatMap((screen) =>
      violations(screen, (imported) => !isBelow(imported, ['renderer/screens']) || isBelow(imported, [screen])),
    );
    expect(found).toEqual([]);
  });

  test('of shared parts of the window never reach a screen; only the shell opens them', () => {
    const found = violations(
      'renderer',
      (imported, file) => !isBelow(imported, ['renderer/screens']) || isBelow(file, ['renderer/shell', ...screens]),
    );
    expect(found).toEqual([]);
  });

  test('of electron/ never reach the window', () => {
    expect(
      violations('electron', (imported) => !isBelow(imported, ['renderer', 'tests', 'scripts', 'benchmarks'])),
    ).toEqual([]);
  });

  test('of Electron itself are in electron/shell/ only', () => {
    expect(
      violations('electron', (imported, file) => imported !== 'electron' || isBelow(file, ['electron/shell'])),
    ).toEqual([]);
  });

  test("of the service don't depend on how it is served", () => {
    const outer = ['electron/shell', 'electron/server', 'electron/ipc', 'electron/create-host.ts'];
    const found = ['electron/api', ...work].flatMap((folder) =>
      violations(folder, (imported) => !isBelow(imported, outer)),
    );
    expect(found).toEqual([]);
  });

  test("of services don't depend on HTTP", () => {
    const found = work.flatMap((folder) =>
      violations(folder, (imported) => !isBelow(imported, ['electron/api', 'electron/ipc', 'hono', '@hono'])),
    );
    expect(found).toEqual([]);
  });
});

/** Groups of files that import each other, directly or through others: the strongly connected components with more than one file. */
function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];

  // Tarjan's algorithm.
  function visit(file: string): void {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file)!);
    open.push(file);
    for (const imported of imports.get(file) ?? []) {
      if (!numbers.has(imported)) visit(imported);
      if (open.includes(imported)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(imported)!));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const component = open.splice(open.indexOf(file));
    if (component.length > 1 || imports.get(file)?.includes(file)) cycles.push(component.sort());
  }

  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return cycles;
}

/** Packages that a module and its static imports load. Types aren't loaded. */
function loadedPackages(entry: string): string[] {
  const loaded = /^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)'/gm;
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !file.endsWith('.ts')) return;
    seen.add(file);
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(loaded)) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)));
      else if (isPackage(specifier)) packages.add(specifier);
    }
  };
  visit(entry);
  return [...packages].toSorted();
}

test('every start loads only the packages that nearly every request needs; the others are imported at their first use', () => {
  const packages = [
    '@ai-sdk/provider',
    '@handlebars/parser',
    '@napi-rs/keyring',
    'better-sqlite3',
    'eventsource-parser',
    'hono',
    'hono/utils/accept',
    'hono/utils/url',
    'kysely',
    'papaparse',
    're2js',
    'ws',
    'zod',
  ];
  expect(loadedPackages('electron/server/serve.ts')).toEqual(packages);
  expect(loadedPackages('electron/shell/desktop-host.ts')).toEqual(packages);
  // The window opens before the host's packages load.
  expect(loadedPackages('electron/shell/main.ts')).toEqual([]);
});

test('the window reads no field of an endpoint that its build leaves out', () => {
  const fromContract = /^import \{([^}]+)\} from '[./]+shared\/contract\/[^']+';$/gm;
  const found = globSync('renderer/**/*.{ts,tsx}', { cwd: root }).flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8');
    const names = new Set([...code.matchAll(fromContract)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []));
    const reads = [...code.matchAll(/\b(\w+)[!?]?\.(\w+)/g)];
    return reads
      .filter(([, name = '', field = '']) => names.has(name) && hostFields.includes(field))
      .map(([read]) => `${file}: ${read}`);
  });
  expect(found).toEqual([]);
  const client = readFileSync(join(root, 'renderer/host/client.ts'), 'utf8');
  expect([...client.matchAll(/\bendpoint\.(\w+)/g)].filter(([, field = '']) => hostFields.includes(field))).toEqual([]);
});

describe('import cycles', () => {
  const folders = ['shared', 'electron', 'renderer', 'scripts', 'benchmarks', 'tests'];
  const imports = new Map<string, string[]>();
  for (const { file, imported } of folders.flatMap(importsBelow)) {
    imports.set(file, [...(imports.get(file) ?? []), imported]);
  }

  test('do not exist, neither of values nor of types', () => {
    expect(imports.size).toBeGreaterThan(1000);
    expect(cyclesOf(imports)).toEqual([]);
  });

  test('are found at any length', () => {
    const chain = new Map([
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', []],
      ['d', ['e']],
      ['e', ['b', 'c']],
      ['f', ['f']],
    ]);
    expect(cyclesOf(chain)).toEqual([['b', 'd', 'e'], ['f']]);
  });
});
