import { runOnProjectNode } from './project-node.mjs';

await runOnProjectNode('./run-suites.ts');
