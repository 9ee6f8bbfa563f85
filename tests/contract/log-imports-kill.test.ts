// @module-tag slow
import { expect, test } from 'vitest';
import type { LogImport } from '../../shared/contract/log-imports.ts';
import { temporaryFolder } from '../support/http-clients.ts';
import { chatAttributes, otlpRequest } from '../support/otlp-log.ts';
import { type ReadyHost, startReadyHost } from '../support/headless-host.ts';
import { longTest } from '../support/patience.ts';

const calls = 6000;

function log(): string {
  const lines = Array.from({ length: calls / 50 }, (_, line) =>
    JSON.stringify(
      otlpRequest(
        Array.from({ length: 50 }, (_item, index) => ({
          spanId: (line * 50 + index + 1).toString(16).padStart(16, '0'),
          attributes: chatAttributes(`Question ${line * 50 + index}`, 'An answer'),
        })),
      ),
    ),
  );
  return lines.join('\n');
}

async function importsOf(host: ReadyHost): Promise<LogImport[]> {
  return ((await (await host.fetchAsWindow('/audit/imports')).json()) as { data: LogImport[] }).data;
}

async function waitFor(host: ReadyHost, isReached: (item: LogImport) => boolean): Promise<LogImport> {
  for (;;) {
    const [item] = await importsOf(host);
    if (item && isReached(item)) return item;
  }
}

test('an import that is killed continues at the next start, and stores each call once', longTest, async () => {
  const directory = await temporaryFolder();
  const first = await startReadyHost(['--data-dir', directory, '--port', '0']);
  const form = new FormData();
  form.append('file', new File([log()], 'traces.jsonl'));
  expect((await first.fetchAsWindow('/audit/imports', { method: 'POST', body: form })).status).toBe(202);
  const seen = await waitFor(first, ({ imported }) => imported > 0);
  first.signal('SIGKILL');
  await first.ended;
  expect(seen.state).toBe('Running');

  const second = await startReadyHost(['--data-dir', directory, '--port', '0']);
  const done = await waitFor(second, ({ state }) => state !== 'Running');
  expect(done).toMatchObject({ state: 'Completed', imported: calls, report: { calls, duplicates: 0, leftOut: [] } });
  const facets = (await (await second.fetchAsWindow('/window/audit/facets')).json()) as { runs: number };
  expect(facets.runs).toBe(calls);
});
