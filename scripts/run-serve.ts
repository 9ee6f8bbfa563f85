import { runBuilt } from './run-built.ts';

await runBuilt('serve', process.argv.slice(2));
