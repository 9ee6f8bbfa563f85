import { runOnProjectNode } from './project-node.mjs';

await runOnProjectNode('./run-pictures.ts');
