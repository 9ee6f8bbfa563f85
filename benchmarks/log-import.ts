/**
 * Imports a log of OpenTelemetry and searches its words: `npm run benchmark -- log-import`; `--calls N` (100,000 unless given). Measures
 * the whole way of a file through the API, and how long the main thread is busy at a time.
 */
import { createWriteStream, mkdtempSync, openAsBlob, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createHost } from '../electron/create-host.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import type { LogImport, LogPreview } from '../shared/contract/log-imports.ts';
import { chatAttributes, otlpRequest } from '../tests/support/otlp-log.ts';
import { printReport, row } from './support/report.ts';
import { createRandom, wordOfRank } from './support/text-writer.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '100000' } } });
const calls = Number(values.calls);
const spansPerLine = 100;
const directory = mkdtempSync(join(tmpdir(), 'touchstone-log-import-'));
const file = join(directory, 'traces.jsonl');
const random = createRandom(11);

function words(count: number): string {
  return Array.from({ length: count }, () => wordOfRank(Math.floor(random.next() * 5000))).join(' ');
}

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');

/** About 1.3 KB of text per call, as in the audit's benchmark; every fifth call continues a conversation. */
async function writeLog(): Promise<void> {
  const output = createWriteStream(file);
  for (let first = 0; first < calls; first += spansPerLine) {
    const spans = Array.from({ length: Math.min(spansPerLine, calls - first) }, (_, index) => {
      const number = first + index;
      return {
        traceId: hex(Math.floor(number / 5) + 1, 32),
        spanId: hex(number + 1, 16),
        start: Date.UTC(2026, 0, 1) + number * 1000,
        attributes: chatAttributes(`${words(90)} callnumber${number}`, words(110)),
      };
    });
    if (!output.write(`${JSON.stringify(otlpRequest(spans))}\n`)) await once(output, 'drain');
  }
  output.end();
  await once(output, 'finish');
}

await writeLog();
const host = await createHost({
  dataDirectory: join(directory, 'data'),
  providerBases: {},
  endpoints: [],
  capabilities: [],
  environment: {},
  log: (message, error) => console.error(message, error ?? ''),
  keyStore: createMemoryKeyStore(),
});

async function call<Result>(path: string, init: RequestInit = {}): Promise<Result> {
  const response = await host.api.fetch(new Request(`http://touchstone${path}`, init), { access: 'window' });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Result;
}

async function upload<Result>(path: string): Promise<Result> {
  const form = new FormData();
  form.append('file', await openAsBlob(file), 'traces.jsonl');
  return call<Result>(path, { method: 'POST', body: form });
}

async function ended(id: string): Promise<LogImport> {
  const response = await host.api.fetch(new Request('http://touchstone/window/audit/imports/events'), {
    access: 'window',
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    if (!/"state":"(?:Completed|Failed)"/.test(decoder.decode(chunk, { stream: true }))) continue;
    return call<LogImport>(`/audit/imports/${id}`);
  }
  throw new Error('The host ended the stream.');
}

async function find(text: string): Promise<number> {
  const body = JSON.stringify({ filter: { text, origins: ['import'] } });
  const headers = { 'content-type': 'application/json' };
  return (await call<{ total: number }>('/window/audit/search', { method: 'POST', body, headers })).total;
}

const delays = monitorEventLoopDelay({ resolution: 5 });
const previewAt = performance.now();
const { report } = await upload<LogPreview>('/audit/imports/preview');
const startAt = performance.now();
delays.enable();
const { id } = await upload<LogImport>('/audit/imports');
const done = await ended(id);
const importedAt = performance.now();
delays.disable();
const found = await find(`callnumber${calls - 1}`);
const foundAt = performance.now();
const again = await ended((await upload<LogImport>('/audit/imports')).id);
await host.close();
printReport('log-import', [
  row('calls in the file', calls, ''),
  row('megabytes of the file', statSync(file).size / 1_048_576, 'MB'),
  row('preview with its report', (startAt - previewAt) / 1000, 's'),
  row('calls in the preview', report.calls, ''),
  row('upload and import', (importedAt - startAt) / 1000, 's'),
  row('calls that are stored', done.imported, '', { min: calls }),
  row('until the first full-text search finds the last call', (foundAt - importedAt) / 1000, 's'),
  row('import and search, in all', (foundAt - startAt) / 1000, 's', { max: 60 }),
  row('calls found by their word', found, '', { min: 1 }),
  row('longest delay of the main thread', delays.max / 1e6, 'ms'),
  row('99th percentile of delays of the main thread', delays.percentile(99) / 1e6, 'ms', { max: 50 }),
  row('calls that a second import of the file stores', again.imported, '', { max: 0 }),
]);
rmSync(directory, { recursive: true, force: true });
