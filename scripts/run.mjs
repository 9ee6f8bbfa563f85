import { existsSync } from 'node:fs';
import { projectNode, runOnProjectNode } from './project-node.mjs';

// `npm run tool -- licences --help`: the module gets its own parameters only.
const tools = [
  'conformance',
  'judge-promptfoo',
  'licences',
  'lint-api',
  'pictures',
  'promptfoo-examples',
  'train-moderation',
];
const [name = ''] = process.argv.splice(2, 1);
if (['serve', 'keys', 'compare'].includes(name)) {
  const node = await projectNode();
  const { runBuilt } = await import('./run-built.mjs');
  await runBuilt(name, process.argv.slice(2), node);
} else {
  const module = `./${name}.ts`;
  if (!/^[\w-]+$/.test(name) || !existsSync(new URL(module, import.meta.url))) {
    console.error(`${name === '' ? 'Name a tool' : `Unknown tool "${name}"`}: ${tools.join(', ')}.`);
    process.exit(2);
  }
  await runOnProjectNode(module);
}
