/**
 * Streams and whole answers through this service with recording on, beside a bare pass-through and two gateways on Node, in turn and in the same run.
 * Each gateway has a processor to itself, if there are two. `npm run benchmark -- streams`; `--rounds N` (5 unless given).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { directTarget, type GatewayName, installPeers, startGateway } from './support/gateways.ts';
import type { Target } from './support/load.ts';
import { freePort, startServer, type MeasuredProcess } from './support/processes.ts';
import { median, percentile, printReport, type RawResults, rounded, row, type Row } from './support/report.ts';
import {
  type Contender,
  type Figures,
  measureFlood,
  measurePaced,
  type PacedFigures,
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
      const figures = { flood: new Map<number, number[]>(), paced: [] };
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
    // Most code is compiled now.
    for (let round = 0; round < warmRounds; round++) {
      for (const contender of contenders) await measurePaced(contender, upstreamPort);
    }
    printReport('streams', [...report(contenders), ...wholeRows(whole)], rawResults(contenders, whole));
  } finally {
    await Promise.all(started.map((each) => each.stop()));
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

function report(contenders: readonly Contender[]): Row[] {
  const rows: Row[] = [];
  const of = (name: GatewayName) => contenders.find((each) => each.name === name)?.figures;
  const [service, portkey, bare] = [of('Touchstone'), of('Portkey'), of('bare pass-through')];
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
  return [...rows, ...phases.flatMap((phase) => pacedRows(contenders, phase))];
}

/** When the paced streams are measured. A gateway is new once. */
const phases = ['new', 'warm'] as const;

/** Of the bursts on warm gateways, the one in the middle counts: one pause of a collector, or of the machine, is the 99th percentile of a burst. */
const warmRounds = 3;

const phaseOf = (round: number) => phases[Math.min(round, 1)]!;

function pacedRows(contenders: readonly Contender[], phase: (typeof phases)[number]): Row[] {
  const what = `${pacedStreams} paced streams, ${phase}`;
  const of = (name: GatewayName) => {
    const bursts = contenders.find((each) => each.name === name)?.figures.paced;
    return bursts?.filter((_, round) => phaseOf(round) === phase);
  };
  const share = (bursts: readonly PacedFigures[]) => median(bursts.map((burst) => burst.share));
  const delayed = (bursts: readonly PacedFigures[]) => median(bursts.map(({ delays }) => percentile(delays, 0.99)));
  const first = (bursts: readonly PacedFigures[]) => median(bursts.map(({ firstMs }) => percentile(firstMs, 0.99)));
  const rows = contenders.flatMap(({ name }) => [
    row(`${what}: share of the frames that arrived, ${name}`, share(of(name)!), 'x'),
    row(`${what}: delay p99, ${name}`, delayed(of(name)!), 'ms'),
    row(`${what}: first frame p99, ${name}`, first(of(name)!), 'ms'),
  ]);
  const [service, llms, bare] = [of('Touchstone'), of('@musistudio/llms'), of('bare pass-through')];
  if (!service || !llms || !bare) return rows;
  const [late, slow] = [delayed(service) / delayed(llms), first(service) / first(bare)];
  return [
    ...rows,
    row(`${what}: share of the frames that arrived, Touchstone`, share(service), 'x', { min: 0.95 }),
    row(`${what}: delay p99, Touchstone to @musistudio/llms`, late, 'x', { max: 1 }),
    row(`${what}: first frame p99, Touchstone to pass-through`, slow, 'x', { max: 2 }),
  ];
}

const percentiles = (samples: readonly number[]) =>
  Array.from({ length: 101 }, (_, hundredths) => percentile(samples, hundredths / 100));

/** Every sample; of the delays of tens of thousands of frames, the percentiles from 0 to 100. */
function rawResults(contenders: readonly Contender[], whole: readonly WholeFigures[]): RawResults {
  const raw: Record<string, number[]> = {};
  for (const { name, figures } of contenders) {
    for (const [count, rates] of figures.flood) raw[`${count} unpaced, frames/s, ${name}`] = rounded(rates);
    for (const [round, { delays, firstMs }] of figures.paced.entries()) {
      const what = `${pacedStreams} paced streams, ${phaseOf(round)}${round > 1 ? ` ${round}` : ''}`;
      raw[`${what}: percentiles of the delay, ms, ${name}`] = rounded(percentiles(delays));
      raw[`${what}: first frame, ms, ${name}`] = rounded(firstMs);
    }
  }
  for (const { name, aloneMs, perCpuSecond } of whole) {
    raw[`one caller, p50, ms, ${name}`] = rounded(aloneMs);
    if (perCpuSecond.length > 0) raw[`many callers, requests per CPU-second, ${name}`] = rounded(perCpuSecond);
  }
  return raw;
}

await main();
