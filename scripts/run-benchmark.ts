// npm run benchmark:NAME runs tests/benchmarks/NAME.ts against the built host.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { root, runToEnd } from './project-node.mjs';

const [name = '', ...parameters] = process.argv.slice(2);
const script = join(root, 'tests/benchmarks', `${name}.ts`);
if (!/^[\w-]+$/.test(name) || !existsSync(script)) {
  console.error(`There is no benchmark \`${name}\` in tests/benchmarks.`);
  process.exit(2);
}
await buildIfStale();
process.exitCode = await runToEnd(process.execPath, [script, ...parameters]);
