import type { GatewayName } from './gateways.ts';
import { makeRequests, type Target } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { median, row, type Row } from './report.ts';

const callers = 64;
const requestsOfOne = 300;
const requestsOfMany = 4000;
const warmUpRequests = 6000;

/** What a gateway takes for answers without a stream, one value for each round. */
export interface WholeFigures {
  readonly name: GatewayName;
  readonly target: Target;
  /** Null for the provider itself. */
  readonly processId: number | null;
  /** Medians of one caller. */
  readonly aloneMs: number[];
  /** Requests of many callers for a second of CPU; empty for the provider itself. */
  readonly perCpuSecond: number[];
}

/** `stream` is the same request with a stream. */
export function wholeFigures(name: GatewayName, stream: Target, processId: number | null): WholeFigures {
  const body = stream.body.replace(',"stream":true', '');
  const target = { ...stream, path: stream.path.replace(/sse$/, 'sync'), body };
  return { name, target, processId, aloneMs: [], perCpuSecond: [] };
}

/** Measures every gateway in each round, after enough requests that most code is compiled. */
export async function measureWhole(all: readonly WholeFigures[], rounds: number): Promise<void> {
  for (const { target } of all) await makeRequests(target, warmUpRequests, 16);
  for (let round = 0; round < rounds; round++) {
    for (const { target, processId, aloneMs, perCpuSecond } of all) {
      aloneMs.push(median(await makeRequests(target, requestsOfOne, 1)));
      if (processId === null) continue;
      const before = cpuSeconds(processId);
      await makeRequests(target, requestsOfMany, callers);
      perCpuSecond.push(requestsOfMany / (cpuSeconds(processId) - before));
    }
  }
}

/** Each ratio is the median of those of the rounds. */
export function wholeRows(all: readonly WholeFigures[]): Row[] {
  const of = (name: GatewayName) => all.find((each) => each.name === name);
  const direct = of('direct')!.aloneMs;
  const added = ({ aloneMs }: WholeFigures) => aloneMs.map((value, round) => value - direct[round]!);
  const rows: Row[] = [row('one caller, p50 of the provider itself', median(direct), 'ms')];
  for (const each of all.filter(({ processId }) => processId !== null)) {
    rows.push(row(`one caller, added p50, ${each.name}`, median(added(each)), 'ms'));
    rows.push(row(`${callers} callers, requests per CPU-second, ${each.name}`, median(each.perCpuSecond), '1/s'));
  }
  const [service, portkey] = [of('Touchstone'), of('Portkey')];
  if (!service || !portkey) return rows;
  const ratio = (ours: readonly number[], theirs: readonly number[]) =>
    median(ours.map((value, round) => value / theirs[round]!));
  const latency = ratio(added(service), added(portkey));
  const requests = ratio(service.perCpuSecond, portkey.perCpuSecond);
  return [
    ...rows,
    row('one caller, added p50, Touchstone to Portkey', latency, 'x', { max: 0.75 }),
    row(`${callers} callers, requests per CPU-second, Touchstone to Portkey`, requests, 'x', { min: 2 }),
  ];
}
