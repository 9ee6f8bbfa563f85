import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Our npm settings beside one dependency whose install script writes a file. */
function writeProject(folder: string, written: string): void {
  mkdirSync(join(folder, 'dependency'));
  const install = `node -e "require('fs').writeFileSync(${JSON.stringify(written).replaceAll('"', "'")}, '')"`;
  const dependency = { name: 'dependency', version: '1.0.0', scripts: { install } };
  writeFileSync(join(folder, 'dependency/package.json'), JSON.stringify(dependency));
  // npm 11 would run it by this permission, npm 10 without one.
  const allowScripts = { 'file:dependency': true };
  const project = { name: 'project', version: '1.0.0', dependencies: { dependency: 'file:dependency' }, allowScripts };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
}

/** `npm_config_install_links` makes a copy of the dependency, whose scripts npm runs like those of the registry's packages. */
function installIn(folder: string): void {
  // npm gives its settings to the programs that it starts, such as this one.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_config_ignore_scripts$/i.test(name));
  const env = { ...Object.fromEntries(inherited), npm_config_install_links: 'true', npm_config_offline: 'true' };
  execFileSync('npm', ['install'], { cwd: folder, env, shell: process.platform === 'win32', stdio: 'pipe' });
}

test('no install script runs with our npm settings', () => {
  const folder = createFolder();
  const written = join(folder, 'script-ran');
  writeProject(folder, written);
  installIn(folder);
  expect(existsSync(written)).toBe(true);
  rmSync(written);
  rmSync(join(folder, 'node_modules'), { recursive: true });
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
  installIn(folder);
  expect(existsSync(written)).toBe(false);
});

test("the project's own Node needs no install script, and npm verifies its checksum", () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Record<string, unknown>>;
  };
  for (const name of Object.keys(packages['']!['optionalDependencies'] as object)) {
    const entry = packages[`node_modules/${name}`];
    expect(entry).toMatchObject({ optional: true, integrity: expect.stringMatching(/^sha512-/) });
    expect(entry).not.toHaveProperty('hasInstallScript');
  }
  expect(packages).not.toHaveProperty(['node_modules/node']);
});

/** A project without dependencies, where project-node.mjs believes that it runs on Node 20. */
function startOnNode20(folder: string): { status: number; output: string } {
  mkdirSync(join(folder, 'scripts'));
  mkdirSync(join(folder, 'node_modules'));
  copyFileSync(join(root, 'scripts/project-node.mjs'), join(folder, 'scripts/project-node.mjs'));
  for (const file of ['package-lock.json', 'node_modules/.package-lock.json'])
    writeFileSync(join(folder, file), '{"packages":{}}');
  writeFileSync(
    join(folder, 'scripts/start.mjs'),
    "const { runOnProjectNode } = await import('./project-node.mjs'); await runOnProjectNode('./started.mjs');",
  );
  const older = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.17.0'})`;
  try {
    const output = execFileSync(process.execPath, ['--import', older, join(folder, 'scripts/start.mjs')], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return { status: 0, output };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: string };
    return { status, output: stderr };
  }
}

test('says which Node is needed where the registry has none for the system', () => {
  const { status, output } = startOnNode20(createFolder());
  expect(status).toBe(1);
  expect(output).toMatch(
    /^Touchstone needs Node 24 or later. This is Node 20.17.0, .* Install Node 24 from nodejs.org/,
  );
});
