// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTestHost } from '../support/test-host.ts';

/**
 * Every curl of `docs/api.md` is stored with its response. A comment `# {...}` below it lists keys and values of the response;
 * `NAME=...  # its key` takes a value from it.
 */
const helpers = `
set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@" | tee last-response; }
field() { node -p "JSON.parse(require('fs').readFileSync('last-response'))['$1'] ?? process.exit(1)"; }
contains() {
  printf '%s' "$1" | grep -oE '"[A-Za-z_-]+"(: ("[^"]*"|[0-9]+|true))?' | while read -r part; do
    # The example has a space after the colon, the response has none.
    grep -qF -- "$(printf '%s' "$part" | sed 's/: /:/')" last-response || { echo "The response lacks $part: $(cat last-response)" >&2; exit 1; }
  done
}
`;

function scriptOf(page: string, { address, key }: { address: string; key: string }): string {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!);
  const lines = blocks.join('\n').split('\n');
  const commands = lines.map((line) => {
    const variable = /^([A-Z]+)=\.\.\.\s+# its (\w+)$/.exec(line);
    if (variable) return `${variable[1]}=$(field ${variable[2]})`;
    if (line.startsWith('# {')) return `contains '${line.slice(2)}'`;
    return line.replace(/^BASE=.*/, `BASE=${address}`).replace(/^KEY=.*/, `KEY=${key}`);
  });
  return [helpers, ...commands].join('\n');
}

test('every example of the API page works', async () => {
  const host = await startTestHost();
  const directory = await mkdtemp(join(tmpdir(), 'touchstone-examples-'));
  onTestFinished(async () => {
    await host.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  });
  host.provider.answerWith((call) => {
    if (call.body['stream'] === true) return call.chatStream(['Blue', '.']);
    call.chatAnswer({ content: 'Blue.' });
  });
  const route = { kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
  await host.host.api.fetch(
    new Request('http://window.test/window/settings', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } }),
    }),
    { access: 'window' },
  );
  const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
  expect(page.match(/^ *curl /gm)?.length).toBeGreaterThan(20);
  const script = scriptOf(page, { address: host.listener.address, key: host.key });
  await writeFile(join(directory, 'examples.sh'), script);
  const shell = spawn('bash', ['examples.sh'], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  shell.stdout.on('data', (text) => void (output += text));
  shell.stderr.on('data', (text) => void (errors += text));
  const [status] = await once(shell, 'close');
  expect({ status, errors, end: status === 0 ? '' : output.slice(-2000) }).toEqual({ status: 0, errors: '', end: '' });
  expect(host.log).toEqual([]);
});
