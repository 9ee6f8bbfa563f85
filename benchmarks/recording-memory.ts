/**
 * Memory of the host while 64 callers run prompts, eight of them streamed, and two more search the audit: after one minute and at the
 * end, without the parts of the database that the system maps and can take back. `npm run benchmark -- recording-memory`; `--minutes N`
 * (3 unless given; the aim is for 12), `--pause MS` between the calls of a caller (50 unless given). Linux only.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hostFlags } from '../scripts/run-built.mjs';
import { send, type Target } from './support/load.ts';
import { cpuSeconds, freePort, megabytesOf, startServer, type MeasuredProcess } from './support/processes.ts';
import { median, printReport, row } from './support/report.ts';
import { readStream } from './support/stream-load.ts';
import { createRandom, wordOfRank } from './support/text-writer.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '3' }, pause: { type: 'string', default: '50' } },
});
const minutes = Number(values.minutes);
const pauseMs = Number(values.pause);
const callers = 56;
const streamingCallers = 8;
const auditors = 2;
const sampleMs = 1_000;

const built = new URL('../out/host/', import.meta.url).pathname;
const support = new URL('./support/', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'touchstone-recording-memory-'));
const random = createRandom(11);
const counts = { runs: 0, streams: 0, searches: 0, failures: 0 };

function issueKey(): string {
  const parameters = ['issue', '--name', 'benchmark', '--json', '--data-dir', directory];
  const issued = execFileSync(process.execPath, [`${built}keys.js`, ...parameters], { encoding: 'utf8' });
  return (JSON.parse(issued) as { key: string }).key;
}

/** Repeats a call with pauses until the time is over. */
async function repeat(until: number, call: () => Promise<void>, count: () => void): Promise<void> {
  while (performance.now() < until) {
    try {
      await call();
      count();
    } catch {
      counts.failures += 1;
    }
    await delay(pauseMs);
  }
}

async function main(): Promise<void> {
  const started: MeasuredProcess[] = [];
  const agent = new Agent({ keepAlive: true });
  try {
    const [wholePort, streamPort, port] = [await freePort(), await freePort(), await freePort()];
    started.push(await startServer([`${support}upstream.ts`, `${wholePort}`], wholePort));
    started.push(await startServer([`${support}stream-upstream.ts`, `${streamPort}`], streamPort));
    const headers = { authorization: `Bearer ${issueKey()}` };
    const endpoints = [`whole=http://127.0.0.1:${wholePort}/v1`, `stream=http://127.0.0.1:${streamPort}/v1`];
    const host = await startServer(
      [
        ...hostFlags,
        `${built}serve.js`,
        '--port',
        `${port}`,
        '--data-dir',
        directory,
        ...endpoints.flatMap((endpoint) => ['--endpoint', endpoint]),
      ],
      port,
    );
    started.push(host);
    const target = (path: string, body: object): Target => ({ port, path, headers, body: JSON.stringify(body) });
    const prompt = () => ({
      aiSystem: 'OpenAiCompatible',
      promptText: `Answer the customer: ${Array.from({ length: 60 }, () => wordOfRank(Math.floor(random.next() ** 3 * 30_000))).join(' ')}`,
    });
    const run = () => send(target('/api/completions/sync', { ...prompt(), model: 'whole/fixed' }), agent);
    const stream = () =>
      readStream(target('/api/completions/sse', { ...prompt(), model: 'stream/paced' }), agent, {
        frames: 0,
        firstMs: null,
      });
    const search = () => {
      const since = new Date(Date.now() - random.next() * 600_000).toISOString();
      const filter = random.pick([{ startDate: since }, { endDate: since }, { appHeaders: { team: null } }]);
      return send(target('/audit/conversations', { ...filter, pageSize: 20 }), agent);
    };
    const startedAt = performance.now();
    const until = startedAt + minutes * 60_000;
    const samples: { readonly at: number; readonly megabytes: number }[] = [];
    const sampling = (async () => {
      while (performance.now() < until) {
        samples.push({ at: (performance.now() - startedAt) / 60_000, megabytes: megabytesOf(host.pid, 'RssAnon') });
        await delay(sampleMs);
      }
    })();
    await Promise.all([
      sampling,
      ...Array.from({ length: callers }, () => repeat(until, run, () => (counts.runs += 1))),
      ...Array.from({ length: streamingCallers }, () => repeat(until, stream, () => (counts.streams += 1))),
      ...Array.from({ length: auditors }, () => repeat(until, search, () => (counts.searches += 1))),
    ]);
    const between = (from: number, to: number): number =>
      median(samples.filter(({ at }) => at >= from && at < to).map(({ megabytes }) => megabytes));
    const first = between(0.9, 1.1);
    const last = between(minutes - 0.2, minutes);
    printReport(
      'recording-memory',
      [
        row('memory after one minute', first, 'MiB'),
        row(`memory after ${minutes} minutes`, last, 'MiB'),
        row('the same, to that after one minute', last / first, 'x', { max: 1.1 }),
        row('resident at the end, with mapped files', megabytesOf(host.pid, 'VmRSS'), 'MiB'),
        row('most', Math.max(...samples.map(({ megabytes }) => megabytes)), 'MiB'),
        row('runs recorded', counts.runs, ''),
        row('streams recorded', counts.streams, ''),
        row('pages of the audit', counts.searches, ''),
        row('calls that failed', counts.failures, '', { max: 0 }),
        row('processor time of the host', cpuSeconds(host.pid), 's'),
      ],
      { 'memory each second, MiB': samples.map(({ megabytes }) => Math.round(megabytes * 10) / 10) },
    );
  } finally {
    agent.destroy();
    await Promise.all(started.map((each) => each.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
