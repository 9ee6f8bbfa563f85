import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project-node.mjs';
import { shippedPackages } from './shipped-packages.ts';

function readJson(file: string): { name: string; version: string; license: string } {
  return JSON.parse(readFileSync(join(root, file), 'utf8')) as { name: string; version: string; license: string };
}

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/** A scoped name keeps its slash and escapes its at sign, as package URLs require. */
const packageAddress = ({ name, version }: Part): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** An SPDX identifier goes to `id`, an expression such as `MIT OR Apache-2.0` to `expression`, other text to `name`. */
function licenceOf({ licence }: Part): object {
  if (/ (OR|AND|WITH) /.test(licence)) return { expression: licence.replace(/^\((.*)\)$/, '$1') };
  return { license: /^[\w.+-]+$/.test(licence) ? { id: licence } : { name: licence } };
}

const component = (part: Part) => ({
  type: 'library',
  'bom-ref': packageAddress(part),
  name: part.name,
  version: part.version,
  licenses: [licenceOf(part)],
  purl: packageAddress(part),
});

/**
 * The software bill of materials in CycloneDX 1.6: Electron and every npm package in the product. `npm sbom` can't create it,
 * because it can't tell which development dependencies are bundled into the window.
 */
export function softwareBill(electronVersion: string): string {
  const { name, version, license } = readJson('package.json');
  const electron = { name: 'electron', version: electronVersion, licence: 'MIT' };
  const parts = new Map(
    [electron, ...shippedPackages()].map((part) => [packageAddress(part), component(part)] as const),
  );
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...component({ name, version, licence: license }), type: 'application' } },
    components: [...parts.values()],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
