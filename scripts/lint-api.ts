// npm run tool -- lint-api writes the OpenAPI document to out/openapi.json and checks it with Redocly.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageFile from '../package.json' with { type: 'json' };
import { createOpenApiDocument } from '../electron/api/open-api.ts';
import { endpoints } from '../shared/contract/index.ts';
import { root, runToEnd } from './project-node.mjs';

parseArgs();
const file = join(root, 'out/openapi.json');
mkdirSync(join(root, 'out'), { recursive: true });
writeFileSync(file, `${JSON.stringify(createOpenApiDocument(endpoints, { version: packageFile.version }), null, 2)}\n`);
process.exitCode = await runToEnd(process.execPath, ['node_modules/@redocly/cli/bin/cli.js', 'lint', file], {
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
