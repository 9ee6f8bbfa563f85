// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
function writeStart(folder: string): void {
  mkdirSync(join(folder, 'scripts'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  copyFileSync(join(root, 'scripts/project-node.mjs'), join(folder, 'scripts/project-node.mjs'));
  copyFileSync(join(root, 'scripts/run.mjs'), join(folder, 'scripts/run.mjs'));
  writeFileSync(join(folder, 'scripts/started.ts'), 'console.log("started" as string, process.argv.slice(2));');
  for (const file of ['package-lock.json', 'node_modules/.package-lock.json'])
    writeFileSync(join(folder, file), '{"packages":{}}');
}

function startOnNode20(folder: string) {
  const older = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.17.0'})`;
  const parameters = ['--import', older, join(folder, 'scripts/run.mjs'), 'started', '--option'];
  return spawnSync(process.execPath, parameters, { encoding: 'utf8' });
}

test('names the needed Node if npm has none for the system', () => {
  const folder = createFolder();
  writeStart(folder);
  const { status, stderr } = startOnNode20(folder);
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^Touchstone needs Node 24 or later. This is Node 20.17.0, .* Install Node 24 from nodejs.org/,
  );
});

test.skipIf(process.platform === 'win32')(
  "runs on the project's own Node and makes the link that npm 10 leaves out",
  () => {
    const folder = createFolder();
    writeStart(folder);
    const program = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
    mkdirSync(join(program, '..'), { recursive: true });
    symlinkSync(process.execPath, program);
    for (const _start of ['first', 'second']) {
      const { status, stdout } = startOnNode20(folder);
      expect({ status, stdout }).toEqual({ status: 0, stdout: "started [ '--option' ]\n" });
    }
    expect(realpathSync(join(folder, 'node_modules/.bin/node'))).toBe(realpathSync(process.execPath));
  },
);
