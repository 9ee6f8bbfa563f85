import { runBuilt } from './run-built.ts';

await runBuilt('keys', process.argv.slice(2));
