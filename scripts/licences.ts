// npm run tool -- licences lists the packages that are shipped, with their licences; licences FILE writes their texts into FILE.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './project-node.mjs';
import { shippedPackages } from './shipped-packages.ts';

const [target] = parseArgs({ allowPositionals: true }).positionals;
const packages = shippedPackages();
if (target) {
  const rule = '='.repeat(80);
  const texts = packages.map(({ title, licence, text }) => `${rule}\n${title} (${licence})\n\n${text}\n`);
  writeFileSync(join(root, target), texts.join('\n'));
} else {
  for (const { title, licence } of packages) process.stdout.write(`${title}\t${licence}\n`);
}
