import type { Plugin } from 'vite';
import { shippedPackages } from './shipped-packages.ts';

const name = 'virtual:third-party-licences';

/** Gives the window the names and licences of the packages it is made of, from what is installed at the build. */
export const thirdPartyLicences: Plugin = {
  name: 'third-party-licences',
  resolveId: (source) => (source === name ? `\0${name}` : undefined),
  load(id) {
    if (id !== `\0${name}`) return undefined;
    const packages = shippedPackages().map(({ title, licence }) => ({ title, licence }));
    return `export const packages = ${JSON.stringify(packages)};`;
  },
};
