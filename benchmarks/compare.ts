/**
 * What a comparison of 1,000 rows and 8 variants adds to its 8,000 calls: processor time per cell beyond the same calls without a
 * comparison, in the same process and in turn, against a local provider. Then the frames and the memory of a window that shows such a
 * comparison while it runs, and the frames of an empty page meanwhile, which has the machine's pauses but not ours.
 * `npm run benchmark -- compare [ROWS]`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host } from '../electron/create-host.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import type { Comparison } from '../shared/contract/comparisons.ts';
import { obstacleTo } from '../scripts/suite-needs.ts';
import { measureWindow } from './support/compare-window.ts';
import { median, percentile, printReport, type Row, row } from './support/report.ts';

const rowCount = Number(process.argv[2] ?? 1000);
const variantCount = 8;
const cells = rowCount * variantCount;
const concurrency = 32;
const rounds = 3;

const ticket = 'My frame set was due last Thursday, and nobody answers the phone. '.repeat(8);
const promptOf = (variant: number) => `Variant ${variant}. Answer the customer: {{ticket}} Order {{order}}.`;
const model = { aiSystem: 'OpenAiCompatible', model: 'bench/echo' } as const;

async function call<Value>(host: Host, method: string, path: string, body?: unknown): Promise<Value> {
  const init = {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  };
  const response = await host.api.fetch(new Request(`http://window.test${path}`, init), { access: 'window' });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Value;
}

interface Measured {
  readonly cpuMs: number;
  readonly seconds: number;
}

async function measure(work: () => Promise<void>): Promise<Measured> {
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, seconds: (performance.now() - startedAt) / 1000 };
}

/** The same calls without a comparison. */
async function makeCalls(host: Host): Promise<void> {
  let next = 0;
  const origin = { callerId: host.storage.windowCallerId, key: null, appHeaders: {} };
  const worker = async () => {
    for (let cell = next++; cell < cells; cell = next++) {
      const request = {
        promptText: promptOf(cell % variantCount),
        ...model,
        replacements: { ticket, order: `${Math.floor(cell / variantCount)}` },
        metadata: { comparisonId: 'none', variant: `V${cell % variantCount}`, repeat: 1 },
      };
      const { run } = await host.completions.start(request, origin, { signal: new AbortController().signal });
      for await (const _ of run.stream());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

const dataset = {
  name: 'Tickets',
  columns: [
    { name: 'ticket', type: 'text' },
    { name: 'order', type: 'text' },
  ],
  rows: Array.from({ length: rowCount }, (_, index) => ({ ticket, order: `${index}` })),
};

const comparisonOf = (checks: unknown[]) => ({
  name: 'Benchmark',
  concurrency,
  checks,
  variants: Array.from({ length: variantCount }, (_, variant) => ({
    name: `V${variant}`,
    prompt: { promptText: promptOf(variant) },
    ...model,
  })),
});

async function compare(host: Host, datasetId: string, checks: unknown[]): Promise<void> {
  const body = { ...comparisonOf(checks), datasetId };
  const { id } = await call<Comparison>(host, 'POST', '/comparisons', body);
  await call(host, 'POST', `/comparisons/${id}/start`, {});
  for (;;) {
    await delay(100);
    const { state, cells: counts } = await call<Comparison>(host, 'GET', `/comparisons/${id}`);
    if (state === 'Running') continue;
    if (counts.completed !== cells) throw new Error(`${state} with ${JSON.stringify(counts)}`);
    return;
  }
}

/** The longest time for which the main thread took no other work. */
function watchPauses(): () => number[] {
  const pauses: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    pauses.push(now - last - 5);
    last = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return pauses;
  };
}

async function measureHost(host: Host): Promise<Row[]> {
  const { id } = await call<{ id: string }>(host, 'POST', '/datasets', dataset);
  await makeCalls(host);
  const added: number[] = [];
  const checked: number[] = [];
  const seconds: number[] = [];
  const pauses: number[] = [];
  const barePauses: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const stopBare = watchPauses();
    const bare = await measure(() => makeCalls(host));
    barePauses.push(...stopBare());
    const stop = watchPauses();
    const compared = await measure(() => compare(host, id, []));
    pauses.push(...stop());
    const withCheck = await measure(() => compare(host, id, [{ kind: 'contains', column: 'order' }]));
    added.push((compared.cpuMs - bare.cpuMs) / cells);
    checked.push((withCheck.cpuMs - bare.cpuMs) / cells);
    seconds.push(compared.seconds);
  }
  return [
    row('cells', cells, ''),
    row('seconds for all cells', median(seconds), 's'),
    row('processor time per cell beyond the call', median(added), 'ms', { max: 1 }),
    row('the same with a check', median(checked), 'ms'),
    row('pause of the main thread, 99.9th percentile', percentile(pauses, 0.999), 'ms'),
    row('the same with bare calls', percentile(barePauses, 0.999), 'ms'),
  ];
}

async function measureAll(endpoint: string): Promise<Row[]> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-benchmark-'));
  const host = await createHost({
    dataDirectory,
    providerBases: {},
    endpoints: [{ name: 'bench', baseAddress: endpoint }],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    log: (message, error) => console.error(message, error),
  });
  try {
    return await measureHost(host);
  } finally {
    await host.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

const upstream = fork(new URL('./support/echo-upstream.mjs', import.meta.url));
const [port] = (await once(upstream, 'message')) as [number];
try {
  const endpoint = `http://127.0.0.1:${port}/v1`;
  const rows = await measureAll(endpoint);
  const comparison = comparisonOf([{ kind: 'contains', column: 'order' }]);
  const obstacle = await obstacleTo('browser');
  if (obstacle !== null) console.log(`The window was not measured. ${obstacle}`);
  else rows.push(...(await measureWindow({ dataset, comparison, cells, endpoint: `bench=${endpoint}` })));
  printReport('compare', rows);
} finally {
  upstream.kill();
}
