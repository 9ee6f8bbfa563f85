// npm run benchmark -- NAME runs benchmarks/NAME.ts against the built host.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from './run-built.mjs';
import { root, runToEnd } from './project-node.mjs';

const [name = '', ...parameters] = process.argv.slice(2);
const folder = join(root, 'benchmarks');
const script = join(folder, `${name}.ts`);
if (!/^[\w-]+$/.test(name) || !existsSync(script)) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const names = files.map((file) => file.slice(0, -3)).sort();
  console.error(`${name === '' ? 'Name a benchmark' : `Unknown benchmark "${name}"`}: ${names.join(', ')}.`);
  process.exit(2);
}
await buildIfStale();
process.exitCode = await runToEnd(process.execPath, [script, ...parameters]);
