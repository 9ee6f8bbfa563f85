import { join } from 'node:path';
import createDebianInstaller from 'electron-installer-debian';
import { root } from './project-node.mjs';

const sizes = [16, 32, 48, 64, 128, 256, 512];

/** Debian's name of an architecture. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Makes a .deb of a directory build with Debian's own dpkg-deb, and returns its path. */
export async function createDebianPackage(directory: string, destination: string): Promise<string> {
  const { packagePaths } = await createDebianInstaller({
    src: directory,
    dest: destination,
    arch: architectures[process.arch] ?? process.arch,
    options: {
      name: 'touchstone',
      productName: 'Touchstone',
      genericName: 'Prompt playground',
      bin: 'touchstone',
      section: 'devel',
      // xz takes more than five minutes for 416 MB on two cores. Debian 12 and Ubuntu 22.04 read zstd.
      compression: 'zstd',
      categories: ['Development'],
      mimeType: ['x-scheme-handler/touchstone'],
      icon: Object.fromEntries(sizes.map((size) => [`${size}x${size}`, join(root, `build/icons/${size}x${size}.png`)])),
      recommends: ['gnome-keyring'],
    },
  });
  return packagePaths[0]!;
}
