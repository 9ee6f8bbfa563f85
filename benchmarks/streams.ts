/**
 * Streams and whole answers through this service with recording on, beside a bare pass-through and two gateways on Node, in turn and in the same run.
 * Each gateway has a processor to itself, if there are two. `npm run benchmark -- streams`; `--rounds N` (5 unless given).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { directTarget, type GatewayName, installPeers, startGateway } from './support/gateways.ts';
import type { Target } from './support/load.ts';
import { freePort, startServer, type MeasuredProcess } from './support/processes.ts';
import { median, percentile, printReport, row, type Row } from './support/report.ts';
import {
  type Contender,
  type Figures,
  measureFlood,
  measurePaced,
  pacedStreams,
  pinToFirstCore,
} from './support/stream-figures.ts';
import { measureWhole, wholeFigures, type WholeFigures, wholeRows } from './support/whole-figures.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string', multiple: true } },
});
const rounds = Number(values.rounds);
const names: readonly GatewayName[] = ['direct', 'bare pass-through', '@musistudio/llms', 'Portkey', 'Touchstone'];
const chosen = names.filter((name) => name === 'direct' || !values.only || values.only.includes(name));

async function main(): Promise<void> {
  installPeers();
  const core = pinToFirstCore();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-streams-'));
  const started: MeasuredProcess[] = [];
  try {
    const support = new URL('./support/', import.meta.url).pathname;
    const upstreamPort = await freePort();
    started.push(await startServer([`${support}stream-upstream.ts`, String(upstreamPort)], upstreamPort, {}, 0));
    const contenders: Contender[] = [];
    const whole: WholeFigures[] = [];
    for (const name of chosen) {
      const options = {
        upstreamPort,
        dataDirectory,
        content: 'Where is my parcel?',
        stream: true,
        ...(core && { core }),
      };
      const flood = { ...options, model: 'flood' };
      const asking = (model: string, target: Target) => ({ ...target, body: target.body.replace('flood', model) });
      const figures = { flood: new Map<number, number[]>(), shares: [], delays: [], firstMs: [] };
      if (name === 'direct') {
        const target = directTarget(flood);
        contenders.push({ name, flood: target, paced: asking('paced', target), figures });
        whole.push(wholeFigures(name, asking('fixed', target), null));
        continue;
      }
      const { process, target } = await startGateway(name, flood);
      started.push(process);
      contenders.push({ name, flood: target, paced: asking('paced', target), figures });
      whole.push(wholeFigures(name, asking('fixed', target), process.pid));
    }
    for (const { flood } of contenders) await measureFlood(flood, 2);
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) {
        for (const count of [1, 8]) {
          const measured = contender.figures.flood.get(count) ?? [];
          contender.figures.flood.set(count, [...measured, await measureFlood(contender.flood, count)]);
        }
      }
    }
    for (const contender of contenders) await measurePaced(contender, upstreamPort);
    await measureWhole(whole, rounds);
    printReport('streams', [...report(contenders), ...wholeRows(whole), row('processors', cpus().length, '')]);
  } finally {
    await Promise.all(started.map((each) => each.stop()));
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

function report(contenders: readonly Contender[]): Row[] {
  const rows: Row[] = [];
  const of = (name: GatewayName) => contenders.find((each) => each.name === name)?.figures;
  const [service, portkey, bare, llms] = [
    of('Touchstone'),
    of('Portkey'),
    of('bare pass-through'),
    of('@musistudio/llms'),
  ];
  /** The median of the ratios of each round. */
  const ratio = (count: number, peer: Figures) =>
    median(service!.flood.get(count)!.map((value, round) => value / peer.flood.get(count)![round]!));
  for (const count of [1, 8]) {
    const what = count === 1 ? 'one unpaced stream' : `${count} unpaced streams`;
    for (const { name, figures } of contenders)
      rows.push(row(`${what}, ${name}`, median(figures.flood.get(count)!), 'frames/s'));
    if (service && portkey) rows.push(row(`${what}, Touchstone to Portkey`, ratio(count, portkey), 'x', { min: 1 }));
    if (service && bare) rows.push(row(`${what}, Touchstone to pass-through`, ratio(count, bare), 'x', { min: 0.5 }));
  }
  const share = ({ shares }: Figures) => median(shares);
  const delayed = ({ delays }: Figures) => percentile(delays, 0.99);
  const first = ({ firstMs }: Figures) => percentile(firstMs, 0.99);
  for (const { name, figures } of contenders) {
    rows.push(row(`${pacedStreams} paced streams, share of the frames that arrived, ${name}`, share(figures), 'x'));
    rows.push(row(`${pacedStreams} paced streams, delay p99, ${name}`, delayed(figures), 'ms'));
    rows.push(row(`${pacedStreams} paced streams, first frame p99, ${name}`, first(figures), 'ms'));
  }
  if (service && llms && bare) {
    rows.push(row('paced: share of the frames that arrived, Touchstone', share(service), 'x', { min: 0.95 }));
    rows.push(
      row('paced: delay p99, Touchstone to @musistudio/llms', delayed(service) / delayed(llms), 'x', { max: 1 }),
    );
    rows.push(row('paced: first frame p99, Touchstone to pass-through', first(service) / first(bare), 'x', { max: 2 }));
  }
  return rows;
}

await main();
