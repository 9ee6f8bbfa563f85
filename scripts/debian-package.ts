import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Installer } from 'electron-installer-debian';
import { stringify } from 'yaml';
import { root } from './project-node.mjs';

const sizes = [16, 32, 48, 64, 128, 256, 512];

/** Debian's name of an architecture. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const architecture = architectures[process.arch] ?? process.arch;

/** Describes prompt files to the desktop. At installation, triggers of shared-mime-info and desktop-file-utils read this and the entry. */
function addFileType(stagingDirectory: string): void {
  const folder = join(stagingDirectory, 'usr/share/mime/packages');
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, 'build/touchstone-mime.xml'), join(folder, 'touchstone.xml'));
}

/** Creates a .deb of a directory build with Debian's own dpkg-deb, and returns its path. */
export async function createDebianPackage(directory: string, destination: string): Promise<string> {
  const installer = new Installer({
    src: directory,
    dest: destination,
    arch: architecture,
    rename: (folder: string) => join(folder, `<%= name %>_<%= version %>_${architecture}.deb`),
    logger: () => {},
    options: {
      name: 'touchstone',
      productName: 'Touchstone',
      genericName: 'Prompt playground',
      bin: 'touchstone',
      section: 'devel',
      // xz takes more than five minutes for 416 MB on two cores. Debian 12 and Ubuntu 22.04 read zstd.
      compression: 'zstd',
      categories: ['Development'],
      mimeType: ['x-scheme-handler/touchstone', 'text/x-dotprompt'],
      icon: Object.fromEntries(sizes.map((size) => [`${size}x${size}`, join(root, `build/icons/${size}x${size}.png`)])),
      recommends: ['gnome-keyring'],
    },
  });
  await installer.generateDefaults();
  await installer.generateOptions();
  await installer.createStagingDir();
  await installer.createContents();
  addFileType(installer.stagingDir);
  await installer.createPackage();
  await installer.movePackage();
  return installer.options.packagePaths[0]!;
}

/** Writes the file that electron-updater requests from its server: the newest version with its file and checksum. */
export function describeRelease(file: string, destination: string): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const content = readFileSync(file);
  const sha512 = createHash('sha512').update(content).digest('base64');
  const url = basename(file);
  const release = {
    version,
    files: [{ url, sha512, size: content.length }],
    path: url,
    sha512,
    releaseDate: new Date().toISOString(),
  };
  const suffix = process.arch === 'x64' ? '' : `-${process.arch}`;
  writeFileSync(join(destination, `latest-linux${suffix}.yml`), stringify(release));
}
