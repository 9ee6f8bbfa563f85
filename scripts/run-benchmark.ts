// npm run benchmark -- NAME runs benchmarks/NAME.ts against the built host; with --save its figures go to docs/benchmarks.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { reportIn, saveReport } from './benchmark-report.ts';
import { buildIfStale } from './run-built.mjs';
import { root } from './project-node.mjs';

const [name = '', ...given] = process.argv.slice(2);
const parameters = given.filter((parameter) => parameter !== '--save');
const folder = join(root, 'benchmarks');
const script = join(folder, `${name}.ts`);
if (!/^[\w-]+$/.test(name) || !existsSync(script)) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const names = files.map((file) => file.slice(0, -3)).sort();
  console.error(`${name === '' ? 'Name a benchmark' : `Unknown benchmark "${name}"`}: ${names.join(', ')}.`);
  process.exit(2);
}
await buildIfStale();
const child = spawn(process.execPath, [script, ...parameters], { cwd: root, stdio: ['inherit', 'pipe', 'inherit'] });
// A terminal's Ctrl+C reaches the benchmark itself, which ends what it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
let output = '';
child.stdout.setEncoding('utf8').on('data', (text: string) => {
  output += text;
  process.stdout.write(text);
});
const [status] = (await once(child, 'close')) as [number | null];
process.exitCode = status ?? 1;
if (given.includes('--save')) saveReport(reportIn(output));
