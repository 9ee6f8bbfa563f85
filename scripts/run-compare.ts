import { runBuilt } from './run-built.ts';

await runBuilt('compare', process.argv.slice(2));
