import { runKeysCommand } from './keys-command.ts';

process.exitCode = runKeysCommand(process.argv.slice(2), {
  print: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
});
