/**
 * The time that the service adds to a direct call, with recording on, compared with a bare pass-through and with Portkey's gateway:
 * the same upstream, the same machine, the same run, in turn. `npm run benchmark -- gateway`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directTarget, type GatewayName, type GatewayOptions, installPeers, startGateway } from './support/gateways.ts';
import { makeRequests, type Target } from './support/load.ts';
import { cpuSeconds, freePort, startServer, type MeasuredProcess } from './support/processes.ts';
import { median, percentile, printReport, row } from './support/report.ts';

const rounds = 7;
const requestsPerRound = 1500;
const connections = 16;
/** Until compilation is complete, which takes a third of the time before. */
const warmUpRequests = 20_000;

interface Contender {
  readonly name: string;
  readonly target: Target;
  readonly process: MeasuredProcess;
  readonly alone: number[];
  readonly perCpuSecond: number[];
}

const promptText = 'Answer the customer: {{text}} Sign as {{name}}.';
const replacements = { name: 'Jonas', text: 'My frame set was due last Thursday. '.repeat(30) };
const content = promptText.replace('{{text}}', replacements.text).replace('{{name}}', replacements.name);

async function measureRound(contender: Contender): Promise<void> {
  contender.alone.push(median(await makeRequests(contender.target, requestsPerRound / 5, 1)));
  const before = cpuSeconds(contender.process.pid);
  await makeRequests(contender.target, requestsPerRound, connections);
  contender.perCpuSecond.push(requestsPerRound / (cpuSeconds(contender.process.pid) - before));
}

async function main(): Promise<void> {
  installPeers();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-benchmark-'));
  const started: MeasuredProcess[] = [];
  const contender = (name: string, process: MeasuredProcess, target: Target): Contender => {
    started.push(process);
    return { name, process, target, alone: [], perCpuSecond: [] };
  };
  try {
    const support = new URL('./support/', import.meta.url).pathname;
    const upstreamPort = await freePort();
    const options = { upstreamPort, dataDirectory, content, model: 'fixed', stream: false };
    const process = await startServer([`${support}upstream.ts`, String(upstreamPort)], upstreamPort);
    const upstream = contender('upstream', process, directTarget(options));
    const start = async (name: Exclude<GatewayName, 'direct'>, template?: GatewayOptions['template']) => {
      const gateway = await startGateway(name, { ...options, ...(template && { template }) });
      return contender(name, gateway.process, gateway.target);
    };
    const passThrough = await start('bare pass-through');
    const portkey = await start('Portkey');
    const touchstone = await start('Touchstone', { promptText, replacements });

    const all = [upstream, passThrough, portkey, touchstone];
    for (const each of all) await makeRequests(each.target, warmUpRequests, connections);
    for (let round = 0; round < rounds; round += 1) for (const each of all) await measureRound(each);
    report(upstream, passThrough, portkey, touchstone);
  } finally {
    await Promise.all(started.map((each) => each.stop()));
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

function report(upstream: Contender, passThrough: Contender, portkey: Contender, touchstone: Contender): void {
  const added = (each: Contender, base: Contender) =>
    each.alone.map((value, round) => value - (base.alone[round] ?? Number.NaN));
  const ratio = (each: Contender) =>
    median(touchstone.perCpuSecond.map((value, round) => value / (each.perCpuSecond[round] ?? Number.NaN)));
  printReport('gateway', [
    row('p50 of a call straight to the upstream', median(upstream.alone), 'ms'),
    row('added p50, bare pass-through', median(added(passThrough, upstream)), 'ms'),
    row('added p50, Portkey gateway', median(added(portkey, upstream)), 'ms'),
    row('added p50, Touchstone', median(added(touchstone, upstream)), 'ms'),
    row('added p50 over the bare pass-through, Touchstone', median(added(touchstone, passThrough)), 'ms', {
      max: 0.2,
    }),
    row('worst round of that', percentile(added(touchstone, passThrough), 1), 'ms'),
    row('requests per CPU-second, bare pass-through', median(passThrough.perCpuSecond), '1/s'),
    row('requests per CPU-second, Portkey gateway', median(portkey.perCpuSecond), '1/s'),
    row('requests per CPU-second with recording, Touchstone', median(touchstone.perCpuSecond), '1/s', {
      min: 4000,
    }),
    row('requests per CPU-second, Touchstone to pass-through', ratio(passThrough), 'x'),
    row('requests per CPU-second, Touchstone to Portkey', ratio(portkey), 'x'),
  ]);
}

await main();
