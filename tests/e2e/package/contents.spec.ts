import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listPackage } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import packageFile from '../../../package.json' with { type: 'json' };
import { expect } from '../../support/electron.ts';
import { packageDirectory, packagedProgram, test } from '../../support/packaged-app.ts';

const resources = join(packageDirectory, 'resources');
const [disabled, enabled] = ['0', '1'].map((character) => character.charCodeAt(0));

test('the fuses match the configuration', async () => {
  const wire = await getCurrentFuseWire(packagedProgram);
  const names = Object.keys(FuseV1Options).filter((name) => Number.isNaN(Number(name)));
  const states = names.map((name) => [name, wire[FuseV1Options[name as keyof typeof FuseV1Options]]]);
  expect(Object.fromEntries(states)).toEqual({
    RunAsNode: disabled,
    EnableCookieEncryption: enabled,
    EnableNodeOptionsEnvironmentVariable: disabled,
    EnableNodeCliInspectArguments: disabled,
    EnableEmbeddedAsarIntegrityValidation: enabled,
    OnlyLoadAppFromAsar: enabled,
    LoadBrowserProcessSpecificV8Snapshot: disabled,
    GrantFileProtocolExtraPrivileges: disabled,
  });
});

test('the executable runs no foreign script', ({ environment, folder }) => {
  const options = {
    env: {
      ...environment,
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../support/hold-start.cjs')}`,
    },
    encoding: 'utf8',
  } as const;
  const parameters = [
    '-e',
    'console.log("script ran")',
    '--no-sandbox',
    '--data-dir',
    join(folder, 'data'),
    '--endpoint',
    'local',
  ];
  const run = (): string => execFileSync(packagedProgram, parameters, options);
  expect(run).toThrow(expect.objectContaining({ status: 2, stdout: expect.not.stringContaining('script ran') }));
});

test('the package contains no development dependency, no source and no source map', () => {
  const inArchive = listPackage(join(resources, 'app.asar'), { isPack: false });
  const beside = globSync('**/*', { cwd: packageDirectory }).map((file) => `/${file}`);
  const files = [...inArchive, ...beside].map((file) => file.replaceAll('\\', '/'));
  expect(inArchive).toContain('/out/host/main.js');
  expect(files.filter((file) => /\.(map|ts|tsx)$|^\/(tests|scripts|electron|renderer|shared)\//.test(file))).toEqual(
    [],
  );
  const developed = Object.keys(packageFile.devDependencies);
  const isDeveloped = (file: string): boolean => developed.some((name) => file.includes(`/node_modules/${name}/`));
  expect(files.filter(isDeveloped)).toEqual([]);
});

test('the packaged application opens its window and ends with it', async ({ launch, folder }) => {
  const app = await launch({ dataDirectory: join(folder, 'data') });
  await expect(app.page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await app.quit();
  expect(app.process.exitCode).toBe(0);
});

test('the package contains licences, a bill of materials, and less than 450 MB', () => {
  const licences = readFileSync(join(resources, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bill = JSON.parse(readFileSync(join(resources, 'sbom.cdx.json'), 'utf8')) as {
    bomFormat: string;
    components: { name: string; purl: string; licenses: object[] }[];
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  const names = bill.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['electron', 'better-sqlite3', 'react', 'node-llama-cpp', 'hono']));
  expect(names).not.toContain('vitest');
  expect(new Set(bill.components.map(({ purl }) => purl)).size).toBe(names.length);
  for (const { name } of bill.components) if (name !== 'electron') expect(licences).toContain(`${name} `);
  const bytes = globSync('**/*', { cwd: packageDirectory }).reduce(
    (sum, file) => sum + statSync(join(packageDirectory, file)).size,
    0,
  );
  expect(bytes).toBeLessThan(450_000_000);
});

if (process.env['TOUCHSTONE_FULL_SUITE'] === '1') {
  test('the .deb installs the program, icons, a desktop entry and the type of prompt files', ({ folder }) => {
    const [file] = globSync('*.deb', { cwd: join(packageDirectory, '..') });
    const path = join(packageDirectory, '..', file!);
    execFileSync('dpkg-deb', ['--raw-extract', path, folder]);
    const entry = readFileSync(join(folder, 'usr/share/applications/touchstone.desktop'), 'utf8');
    expect(entry).toContain('Exec=touchstone %U');
    expect(entry).toContain('MimeType=x-scheme-handler/touchstone;text/x-dotprompt;');
    const fileTypes = readFileSync(join(folder, 'usr/share/mime/packages/touchstone.xml'), 'utf8');
    expect(fileTypes).toContain('<glob pattern="*.prompt"/>');
    for (const size of [16, 48, 256]) {
      const icon = `usr/share/icons/hicolor/${size}x${size}/apps/touchstone.png`;
      expect(statSync(join(folder, icon)).size).toBeGreaterThan(0);
    }
    expect(readFileSync(join(folder, 'DEBIAN/control'), 'utf8')).toMatch(/^Package: touchstone\nVersion: /);
    // Chromium's sandbox needs it where the system allows no user namespaces.
    expect(statSync(join(folder, 'usr/lib/touchstone/chrome-sandbox')).mode & 0o4755).toBe(0o4755);
  });
}
