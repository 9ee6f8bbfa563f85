import { redactLog } from '../log.ts';
import { runCompare } from './compare-program.ts';

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
process.exitCode = await runCompare(process.argv.slice(2), {
  environment: process.env,
  output: {
    print: (line) => void process.stdout.write(`${line}\n`),
    report: (line) => void process.stderr.write(`${redactLog(line)}\n`),
  },
  signal: stopping.signal,
});
