import { runOnProjectNode } from './project-node.mjs';

await runOnProjectNode('./train-moderation.ts');
