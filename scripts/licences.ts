import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project-node.mjs';
import { shippedPackages } from './shipped-packages.ts';

const packages = shippedPackages();
const target = process.argv[2];
if (target) {
  const rule = '='.repeat(80);
  const texts = packages.map(({ title, licence, text }) => `${rule}\n${title} (${licence})\n\n${text}\n`);
  writeFileSync(join(root, target), texts.join('\n'));
} else {
  for (const { title, licence } of packages) process.stdout.write(`${title}\t${licence}\n`);
}
