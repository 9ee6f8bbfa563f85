import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayName } from './gateways.ts';
import type { Target } from './load.ts';
import { readStream, type StreamRecord } from './stream-load.ts';
import { floodFrames, pacedSeconds } from './stream-upstream.ts';

export const pacedStreams = 256;
/** The paced streams are counted between these seconds, when all of them are open. */
const from = 3;
const until = pacedSeconds - 2;

/** What the callers of all paced streams saw. */
export interface PacedFigures {
  /** The frames that arrived, as a share of those that were sent. */
  readonly share: number;
  readonly delays: readonly number[];
  readonly firstMs: readonly number[];
}

export interface Figures {
  /** Frames a second of each round, by the number of streams. */
  readonly flood: Map<number, number[]>;
  /** The first of a gateway that has had few requests, the others of one that has had thousands. */
  readonly paced: PacedFigures[];
}

export interface Contender {
  readonly name: GatewayName;
  readonly flood: Target;
  readonly paced: Target;
  readonly figures: Figures;
}

/** Frames a second of `count` streams that are read as fast as they come. */
export async function measureFlood(target: Target, count: number): Promise<number> {
  const agent = new Agent({ keepAlive: false });
  const records = Array.from({ length: count }, (): StreamRecord => ({ frames: 0, firstMs: null }));
  const startedAt = performance.now();
  await Promise.all(records.map((record) => readStream(target, agent, record)));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  const frames = records.reduce((sum, record) => sum + record.frames, 0);
  if (frames < count * floodFrames) throw new Error(`${frames} of ${count * floodFrames} frames arrived`);
  return frames / seconds;
}

async function sentFrames(upstreamPort: number): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${upstreamPort}/sent`)).text());
}

/** Opens all paced streams at once and measures them for a few seconds. */
export async function measurePaced({ paced: target, figures }: Contender, upstreamPort: number): Promise<void> {
  const agent = new Agent({ keepAlive: false });
  const records = Array.from({ length: pacedStreams }, (): StreamRecord => ({ frames: 0, firstMs: null }));
  let isCounting = false;
  const delays: number[] = [];
  const onStamps = (stamps: number[]) => {
    if (!isCounting) return;
    const now = performance.timeOrigin + performance.now();
    for (const stamp of stamps) delays.push(now - stamp);
  };
  const reading = Promise.all(records.map((record) => readStream(target, agent, record, onStamps)));
  await delay(from * 1000);
  const sentBefore = await sentFrames(upstreamPort);
  isCounting = true;
  await delay((until - from) * 1000);
  isCounting = false;
  const sent = (await sentFrames(upstreamPort)) - sentBefore;
  await reading;
  agent.destroy();
  figures.paced.push({
    share: delays.length / sent,
    delays,
    firstMs: records.map(({ firstMs }) => firstMs ?? Number.NaN),
  });
}

/** The upstream and the callers share one processor, the gateways have the other. */
export function pinToFirstCore(): number | undefined {
  if (process.platform !== 'linux' || availableParallelism() < 2) return undefined;
  execFileSync('taskset', ['-a', '-cp', '0', String(process.pid)], { stdio: 'ignore' });
  return 1;
}
