import { runOnProjectNode } from './project-node.mjs';

// `node scripts/run.mjs package.ts --for-tests`: the module sees its own parameters only.
const [module] = process.argv.splice(2, 1);
await runOnProjectNode(`./${module}`);
