import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { root } from './project-node.mjs';
import { shippedPackages } from './shipped-packages.ts';

const name = 'virtual:third-party-licences';

/**
 * Gives the window Touchstone's own licence, and the names, licences and licence texts of its packages, from the installed files at
 * the build.
 */
export const thirdPartyLicences: Plugin = {
  name: 'third-party-licences',
  resolveId: (source) => (source === name ? `\0${name}` : undefined),
  load(id) {
    if (id !== `\0${name}`) return undefined;
    const own = readFileSync(join(root, 'LICENSE'), 'utf8');
    // Many packages have the same text, and some are installed in several places. Empty packages replace unused binaries.
    const byTitle = new Map(shippedPackages().map((each) => [each.title, each]));
    const packages = [...byTitle.values()].filter(({ title }) => !title.startsWith('empty-npm-package '));
    const texts = [...new Set(packages.map(({ text }) => text))];
    const rows = packages.map(({ title, licence, text }) => ({ title, licence, text: texts.indexOf(text) }));
    const values = { own, texts, packages: rows };
    return Object.entries(values)
      .map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`)
      .join('\n');
  },
};
