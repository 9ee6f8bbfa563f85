// npm run package makes the desktop packages in release/. --for-tests makes one for the tests on an older Electron, --directory-only leaves
// out the installers; others go to electron-builder.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { readUpdateAddress } from '../electron/shell/updates.ts';
import { buildIfStale } from './run-built.mjs';
import { createDebianPackage, describeRelease } from './debian-package.ts';
import { fetchElectron, findElectron } from './electron-binary.ts';
import { electronForTests } from './electron-runtime.mjs';
import { packageFilters } from './package-contents.ts';
import { root, runToEnd } from './project-node.mjs';
import { softwareBill } from './software-bill.ts';

/** Why a package may contain another Electron than that of package.json: docs/decisions/electron-for-tests.md */
interface Runtime {
  readonly version: string;
  /** Folder with Electron where electron-builder would otherwise download it. */
  readonly folder: string | null;
  readonly isForTests: boolean;
}

function readVersion(file: string): string {
  return readFileSync(file, 'utf8').trim().replace(/^v/, '');
}

async function chooseRuntime(mustBeForTests: boolean): Promise<Runtime> {
  // Only tests may use the Electron of this variable.
  delete process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  if (!mustBeForTests && (findElectron() ?? fetchElectron())) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules/electron/package.json'), 'utf8')) as {
      version: string;
    };
    return { version, folder: join(root, 'node_modules/electron/dist'), isForTests: false };
  }
  const folder = await electronForTests();
  return { version: readVersion(join(folder, 'version')), folder, isForTests: true };
}

/**
 * The update server of the packaged application, which it uses once a person turns updates on. Empty unless this variable is set:
 * the address of a folder with the files that electron-builder and createDebianPackage write.
 */
function chooseUpdateFeed(): string | null {
  const text = process.env['TOUCHSTONE_UPDATE_FEED']?.trim();
  if (!text) return null;
  const address = readUpdateAddress(text);
  if (address !== null) return address;
  process.stderr.write('TOUCHSTONE_UPDATE_FEED must be an https:// address without user name, query or fragment.\n');
  return process.exit(2);
}

/** Writes electron-builder's configuration with this machine's paths, and returns its path. */
function writeConfiguration({ version, folder }: Omit<Runtime, 'isForTests'>, output: string): string {
  const configuration = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as { files: string[] };
  const file = join(root, 'out/electron-builder.json');
  const complete = {
    ...configuration,
    files: [...configuration.files, ...packageFilters()],
    directories: { output, buildResources: 'build' },
    electronVersion: version,
    ...(folder !== null && { electronDist: folder }),
    ...(updateFeed !== null && { publish: { provider: 'generic', url: updateFeed } }),
  };
  writeFileSync(file, JSON.stringify(complete, null, 2));
  return file;
}

function sizeOf(path: string): number {
  const state = statSync(path, { throwIfNoEntry: false });
  if (!state?.isDirectory()) return state?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function reportSize(path: string): void {
  process.stdout.write(`${path.slice(root.length + 1)}: ${(sizeOf(path) / 1e6).toFixed(1)} MB\n`);
}

async function runOrExit(parameters: readonly string[]): Promise<void> {
  const status = await runToEnd(process.execPath, parameters);
  if (status !== 0) process.exit(status);
}

const updateFeed = chooseUpdateFeed();
const { isForTests, ...runtime } = await chooseRuntime(process.argv.includes('--for-tests'));
const output = isForTests ? 'release/for-tests' : 'release';
const parameters = process.argv
  .slice(2)
  .filter((parameter) => !['--for-tests', '--directory-only'].includes(parameter));
await buildIfStale();
mkdirSync(join(root, 'out'), { recursive: true });
await runOrExit(['scripts/licences.ts', 'out/THIRD-PARTY-LICENSES.txt']);
writeFileSync(join(root, 'out/sbom.cdx.json'), softwareBill(runtime.version));
rmSync(join(root, output), { recursive: true, force: true });
const configuration = writeConfiguration(runtime, output);
await runOrExit([
  'node_modules/electron-builder/cli.js',
  '--config',
  configuration,
  '--publish',
  'never',
  ...parameters,
]);
const directory = join(root, output, 'linux-unpacked');
if (process.platform === 'linux') {
  // Electron's own start page, which is in the distribution for tests.
  rmSync(join(directory, 'resources/default_app.asar'), { force: true });
  const resources = join(directory, 'resources');
  if (updateFeed !== null) {
    // electron-builder writes these for its own targets only; electron-updater reads them.
    const update = { provider: 'generic', url: updateFeed, updaterCacheDirName: 'touchstone-updater' };
    writeFileSync(join(resources, 'app-update.yml'), stringify(update));
    writeFileSync(join(resources, 'package-type'), 'deb');
  }
  if (!process.argv.includes('--directory-only')) {
    const debianPackage = await createDebianPackage(directory, join(root, output));
    reportSize(debianPackage);
    if (updateFeed !== null) describeRelease(debianPackage, join(root, output));
  }
  reportSize(directory);
}
if (isForTests)
  process.stdout.write(
    `Electron couldn't be downloaded. The package holds Electron ${runtime.version} from the npm registry, for tests only. ` +
      "Don't give it to anyone.\n",
  );
