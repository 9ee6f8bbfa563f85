import { runOnProjectNode } from './project-node.mjs';

await runOnProjectNode('./start-touchstone.ts');
