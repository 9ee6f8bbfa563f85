import { runOnProjectNode } from './project-node.mjs';

await runOnProjectNode('./run-judge-promptfoo.ts');
