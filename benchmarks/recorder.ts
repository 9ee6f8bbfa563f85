/**
 * Calls of another program through this service, which records them, beside a bare pass-through and two gateways on Node: in turn and
 * in the same run, each on one processor. `npm run benchmark -- recorder`; `--rounds N` (5 unless given).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { databaseFile } from '../electron/storage/database.ts';
import { directTarget, type GatewayName, installPeers, startGateway } from './support/gateways.ts';
import { makeRequests, type Target } from './support/load.ts';
import { cpuSeconds, freePort, startServer, type MeasuredProcess } from './support/processes.ts';
import { median, percentile, printReport, type RawResults, rounded, row, type Row } from './support/report.ts';
import { type Contender, type Figures, measureFlood, measurePaced, pinToFirstCore } from './support/stream-figures.ts';
import { readStream, type StreamRecord } from './support/stream-load.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);
const names: readonly GatewayName[] = ['direct', 'bare pass-through', '@musistudio/llms', 'Portkey', 'recorder'];
const warmUpCalls = 3000;
/** One caller's calls go to each gateway in turn, this many at a time: the speed of a machine can change within seconds. */
const turnsPerRound = 4;
const callsPerTurn = 100;
const callsPerRound = 800;
const streamsPerRound = 40;

interface Measured extends Contender {
  /** For whole answers. */
  readonly whole: Target;
  readonly process: MeasuredProcess | null;
  /** Milliseconds of one caller's calls, by turn. */
  readonly alone: number[][];
  readonly firstChunk: number[];
  readonly perCpuSecond: number[];
  calls: number;
}

/** Milliseconds to the first frame of one stream at a time. */
async function measureFirstChunk(target: Target): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  for (let stream = 0; stream < streamsPerRound; stream += 1) {
    const record: StreamRecord = { frames: 0, firstMs: null };
    await readStream(target, agent, record);
    times.push(record.firstMs ?? Number.NaN);
  }
  agent.destroy();
  return median(times);
}

async function measureAlone(all: readonly Measured[]): Promise<void> {
  for (let turn = 0; turn < turnsPerRound; turn += 1) {
    for (const each of all) {
      each.alone.push(await makeRequests(each.whole, callsPerTurn, 1));
      each.calls += callsPerTurn;
    }
  }
}

async function measureRound(each: Measured): Promise<void> {
  const before = each.process ? cpuSeconds(each.process.pid) : 0;
  await makeRequests(each.whole, callsPerRound, 16);
  if (each.process) each.perCpuSecond.push(callsPerRound / (cpuSeconds(each.process.pid) - before));
  each.firstChunk.push(
    await measureFirstChunk({ ...each.whole, body: each.whole.body.replace('{', '{"stream":true,') }),
  );
  each.calls += callsPerRound + streamsPerRound;
  for (const count of [1, 8]) {
    const flood = each.figures.flood.get(count) ?? [];
    each.figures.flood.set(count, [...flood, await measureFlood(each.flood, count)]);
    each.calls += count;
  }
}

/** Calls that are in the audit, each complete. */
function countRecorded(directory: string): number {
  const database = new Database(databaseFile(directory), { readonly: true });
  const query = `SELECT count(*) FROM runs WHERE origin_api = 'openai-chat' AND status = 'Completed'`;
  const count = database.prepare(query).pluck().get() as number;
  database.close();
  return count;
}

function figures(): Pick<Measured, 'alone' | 'firstChunk' | 'perCpuSecond' | 'calls' | 'figures'> {
  const own: Figures = { flood: new Map<number, number[]>(), paced: [] };
  return { figures: own, alone: [], firstChunk: [], perCpuSecond: [], calls: 0 };
}

async function main(): Promise<void> {
  installPeers();
  const core = pinToFirstCore();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-recorder-'));
  const started: MeasuredProcess[] = [];
  try {
    const support = new URL('./support/', import.meta.url).pathname;
    const upstreamPort = await freePort();
    started.push(await startServer([`${support}stream-upstream.ts`, String(upstreamPort)], upstreamPort, {}, 0));
    const content = 'Where is my parcel?';
    const options = { upstreamPort, dataDirectory, content, stream: true, ...(core && { core }), model: 'flood' };
    const all: Measured[] = [];
    for (const name of names) {
      const gateway = name === 'direct' ? null : await startGateway(name, options);
      if (gateway) started.push(gateway.process);
      const flood = gateway?.target ?? directTarget(options);
      const paced = { ...flood, body: flood.body.replace('flood', 'paced') };
      const whole = { ...flood, body: flood.body.replace('flood', 'fixed').replace(',"stream":true', '') };
      all.push({ name, flood, paced, whole, process: gateway?.process ?? null, ...figures() });
    }
    for (const each of all) {
      await makeRequests(each.whole, warmUpCalls, 16);
      await measureFlood(each.flood, 2);
      each.calls += warmUpCalls + 2;
    }
    for (let round = 0; round < rounds; round += 1) {
      await measureAlone(all);
      for (const each of all) await measureRound(each);
    }
    for (const each of all) {
      await measurePaced(each, upstreamPort);
      each.calls += 256;
    }
    await Promise.all(started.splice(0).map((each) => each.stop()));
    const recorder = all.find(({ name }) => name === 'recorder')!;
    const lost = recorder.calls - countRecorded(dataDirectory);
    const rows = [...report(all), row('calls that are not in the audit', lost, '', { max: 0 })];
    printReport('recorder', rows, rawResults(all));
  } finally {
    await Promise.all(started.map((each) => each.stop()));
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

/** Medians of each round; all times of the calls by one caller, turn by turn. */
function rawResults(all: readonly Measured[]): RawResults {
  const raw: Record<string, readonly number[]> = {};
  for (const {
    name,
    alone,
    firstChunk,
    perCpuSecond,
    figures: { flood },
  } of all) {
    raw[`one caller, ms, ${name}`] = rounded(alone.flat());
    raw[`first chunk, ms, ${name}`] = rounded(firstChunk);
    raw[`calls per CPU-second, ${name}`] = rounded(perCpuSecond);
    for (const [count, rates] of flood) raw[`flood of ${count}, frames/s, ${name}`] = rounded(rates);
  }
  return raw;
}

function report(all: readonly Measured[]): Row[] {
  const of = (name: GatewayName) => all.find((each) => each.name === name)!;
  const [direct, bare, portkey, recorder] = [of('direct'), of('bare pass-through'), of('Portkey'), of('recorder')];
  const added = (each: Measured, share: number) =>
    percentile(each.alone.flat(), share) - percentile(direct.alone.flat(), share);
  const addedInTurn = (each: Measured, turn: number) => median(each.alone[turn]!) - median(direct.alone[turn]!);
  const addedToPortkeys = median(
    direct.alone.map((_times, turn) => addedInTurn(recorder, turn) / addedInTurn(portkey, turn)),
  );
  const ratio = (count: number, peer: Measured) =>
    median(recorder.figures.flood.get(count)!.map((value, round) => value / peer.figures.flood.get(count)![round]!));
  const later = median(recorder.firstChunk) - median(bare.firstChunk);
  const rows: Row[] = [];
  for (const each of all) {
    if (each !== direct) {
      rows.push(row(`added p50, ${each.name}`, added(each, 0.5), 'ms'));
      rows.push(row(`added p99, ${each.name}`, added(each, 0.99), 'ms'));
      rows.push(row(`calls per CPU-second, ${each.name}`, median(each.perCpuSecond), '1/s'));
    }
    rows.push(row(`first chunk, ${each.name}`, median(each.firstChunk), 'ms'));
    for (const count of [1, 8])
      rows.push(row(`flood of ${count}, ${each.name}`, median(each.figures.flood.get(count)!), 'frames/s'));
    const [paced] = each.figures.paced;
    rows.push(row(`256 paced streams, share of frames, ${each.name}`, paced!.share, 'x'));
    rows.push(row(`256 paced streams, delay p99, ${each.name}`, percentile(paced!.delays, 0.99), 'ms'));
  }
  rows.push(row('added p50 to that of Portkey', addedToPortkeys, 'x', { max: 0.5 }));
  rows.push(row('first chunk later than through the bare pass-through', later, 'ms', { max: 1 }));
  for (const count of [1, 8]) {
    rows.push(row(`flood of ${count} to Portkey's`, ratio(count, portkey), 'x', { min: 1 }));
    rows.push(row(`flood of ${count} to the bare pass-through's`, ratio(count, bare), 'x', { min: 0.8 }));
  }
  return rows;
}

await main();
