import { buildIfStale } from './build-if-stale.ts';
import { root, runToEnd } from './project-node.mjs';

// The Electron for tests is somebody's re-publication: it must never come into anybody's hands as Touchstone.
delete process.env['ELECTRON_OVERRIDE_DIST_PATH'];

await buildIfStale();
const list = await runToEnd(process.execPath, ['scripts/list-licences.ts', 'out/THIRD-PARTY-LICENSES.txt']);
const builder = ['node_modules/electron-builder/cli.js', '--config', 'electron-builder.yml', ...process.argv.slice(2)];
process.exitCode = list || (await runToEnd(process.execPath, builder, { cwd: root }));
