/**
 * The cost of callers without a key that never read: 1,024 connections, half of them over HTTP/2 with a window of 0 and as many
 * requests as allowed, half over HTTP/1.1 with consecutive requests. Meanwhile a program with a key calls the service. Linux only.
 * `npm run benchmark -- connections`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hostFlags } from '../scripts/run-built.mjs';
import { emptySettings, flags, frame, literal, preface } from '../tests/support/http2-frames.ts';
import { cpuSeconds, freePort, startServer } from './support/processes.ts';
import { percentile, printReport, row } from './support/report.ts';

const connectionCount = 1024;
const streamsPerSession = 128;
const pipelinedRequests = 100;
const longestWaitMs = 90_000;
const path = '/openapi.json';
const built = new URL('../out/host/', import.meta.url).pathname;

const megabytes = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Sockets of the process, including its listeners. */
function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const isSocket = (name: string): boolean => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:');
    } catch {
      return false;
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}

function windowOfZero(): Buffer {
  return frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
}

function http2Attack(port: number): Buffer {
  // GET, http, and the path as a literal.
  const block = Buffer.concat([
    Buffer.from([0x82, 0x86]),
    literal(':path', path),
    literal(':authority', `127.0.0.1:${port}`),
  ]);
  const requests = Array.from({ length: streamsPerSession }, (_, index) =>
    frame('headers', flags.endStream | flags.endHeaders, 2 * index + 1, block),
  );
  return Buffer.concat([preface, windowOfZero(), emptySettings, ...requests]);
}

function http1Attack(port: number): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(pipelinedRequests));
}

function attack(port: number): Socket[] {
  const attacks = [http2Attack(port), http1Attack(port)];
  return Array.from({ length: connectionCount }, (_, index) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.pause();
    socket.write(attacks[index % 2]!);
    return socket;
  });
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-benchmark-'));
  const port = await freePort();
  const issue = [`${built}keys.js`, 'issue', '--name', 'benchmark', '--json', '--data-dir', dataDirectory];
  const { key } = JSON.parse(execFileSync(process.execPath, issue, { encoding: 'utf8' })) as { key: string };
  const server = await startServer(
    [...hostFlags, `${built}serve.js`, '--port', String(port), '--data-dir', dataDirectory, '--json'],
    port,
  );
  const sockets: Socket[] = [];
  try {
    const call = async (): Promise<number> => {
      const startedAt = performance.now();
      // A new connection each time, because room for new callers is measured.
      const headers = { authorization: `Bearer ${key}`, connection: 'close' };
      const response = await fetch(`http://127.0.0.1:${port}/prompts`, { headers });
      await response.text();
      if (response.status !== 200) throw new Error(`The service responded with ${response.status}.`);
      return performance.now() - startedAt;
    };
    for (let warmUp = 0; warmUp < 50; warmUp += 1) await call();
    const before = megabytes(server.pid, 'VmRSS');
    const socketsBefore = countSockets(server.pid);
    const cpuBefore = cpuSeconds(server.pid);
    const startedAt = performance.now();
    sockets.push(...attack(port));
    const times: number[] = [];
    let [failures, peak, closedAfter] = [0, before, Number.NaN];
    while (performance.now() - startedAt < longestWaitMs) {
      await delay(100);
      await call().then(
        (time) => times.push(time),
        () => (failures += 1),
      );
      peak = Math.max(peak, megabytes(server.pid, 'VmRSS'));
      // One more may be this benchmark's own closing call.
      if (countSockets(server.pid) > socketsBefore + 1) continue;
      closedAfter = (performance.now() - startedAt) / 1000;
      break;
    }
    printReport('connections', [
      row('memory of the host before', before, 'MB'),
      row('memory of the host at most', peak, 'MB'),
      row('of that for the connections', peak - before, 'MB', { max: 300 }),
      row(`until the last of ${connectionCount} connections is gone`, closedAfter, 's', { max: 60 }),
      row('processor time of the host meanwhile', cpuSeconds(server.pid) - cpuBefore, 's'),
      row('calls of a program with a key meanwhile', times.length, 'calls'),
      row('of them failed', failures, 'calls', { max: 0 }),
      row('p50 of these calls', percentile(times, 0.5), 'ms'),
      row('slowest of these calls', percentile(times, 1), 'ms', { max: 1000 }),
    ]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

await main();
