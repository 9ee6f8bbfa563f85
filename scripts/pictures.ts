// npm run tool -- pictures takes the pictures of the README again, from the built window with made-up data.
// npm run tool -- pictures --all DIR takes one of every screen and state into DIR, in both themes and four sizes; with
// --only PATTERN, those whose names match.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from './run-built.mjs';
import { root, runToEnd } from './project-node.mjs';

const { values } = parseArgs({ options: { all: { type: 'string' }, only: { type: 'string' } } });
await buildIfStale();
const playwright = join(root, 'node_modules/@playwright/test/cli.js');
const configuration = join(root, 'tests/pictures/playwright.config.ts');
if (values.all !== undefined) process.env['TOUCHSTONE_PICTURES'] = resolve(values.all);
if (values.only !== undefined) process.env['TOUCHSTONE_PICTURES_ONLY'] = values.only;
const suite = values.all === undefined ? '/pictures.spec' : '/all-screens.spec';
process.exitCode = await runToEnd(process.execPath, [playwright, 'test', suite, '--config', configuration], {
  cwd: root,
});
