// npm run pictures takes the pictures of the README anew, from the built window with made-up data.
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { root, runToEnd } from './project-node.mjs';

await buildIfStale();
const playwright = join(root, 'node_modules/@playwright/test/cli.js');
const configuration = join(root, 'tests/pictures/playwright.config.ts');
process.exitCode = await runToEnd(process.execPath, [playwright, 'test', '--config', configuration], { cwd: root });
