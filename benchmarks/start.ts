/**
 * Starts and idle memory, in turn and in the same run: `npm run serve` and the host itself beside a bare Node server and Portkey's
 * gateway, and the desktop beside an empty sandboxed window of the same Electron. `npm run benchmark -- start`; `--rounds N` (7 unless
 * given), `--part serve` or `--part desktop` for one of the two. Linux only: it reads `/proc`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hostFlags } from '../scripts/run-built.mjs';
import { root } from '../scripts/project-node.mjs';
import { obstacleTo } from '../scripts/suite-needs.ts';
import { type DesktopStart, startDesktop, startDisplay } from './support/desktop-start.ts';
import { installPeers } from './support/gateways.ts';
import { cpuSeconds, endTree, freePort, megabytesOf, treeOf } from './support/processes.ts';
import { median, printReport, type RawResults, row, type Row } from './support/report.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    part: { type: 'string', multiple: true, default: ['serve', 'desktop'] },
  },
});
const rounds = Number(values.rounds);
/** When the host has freed the memory of its start. */
const idleMs = 4_000;
const folder = mkdtempSync(join(tmpdir(), 'touchstone-start-'));
const raw: Record<string, number[]> = {};

function keep(name: string, value: number): void {
  (raw[name] ??= []).push(value);
}

const of = (name: string): number => median(raw[name] ?? []);

/** A command that serves HTTP on the port. */
interface Served {
  readonly name: string;
  readonly command: (port: number) => readonly string[];
}

const bareServer = join(folder, 'bare.mjs');
const portkey = join(root, 'benchmarks/peers/node_modules/@portkey-ai/gateway/build/start-server.js');
const host = ['--port'];
const served: readonly Served[] = [
  { name: 'bare Node server', command: (port) => [process.execPath, bareServer, `${port}`] },
  {
    name: 'Portkey',
    command: (port) => [process.execPath, portkey, '--headless', `--port=${port}`],
  },
  {
    name: 'the host itself',
    command: (port) => [
      process.execPath,
      ...hostFlags,
      join(root, 'out/host/serve.js'),
      ...host,
      `${port}`,
      '--data-dir',
      join(folder, 'host'),
    ],
  },
  {
    name: 'npm run serve',
    command: (port) => ['npm', 'run', 'serve', '--', ...host, `${port}`, '--data-dir', join(folder, 'npm')],
  },
];

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function measureServed({ name, command }: Served, isWarmUp: boolean): Promise<void> {
  const port = await freePort();
  const [executable, ...parameters] = command(port);
  const startedAt = performance.now();
  const child = spawn(executable!, parameters, { cwd: root, stdio: 'ignore' });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    await delay(2);
  }
  const listening = performance.now() - startedAt;
  const seconds = treeOf(child.pid!).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  await fetch(`http://127.0.0.1:${port}/`);
  const answered = performance.now() - startedAt;
  if (!isWarmUp) {
    keep(`${name}: to listening`, listening);
    keep(`${name}: to the first answer`, answered);
    keep(`${name}: processor time`, seconds * 1000);
    await delay(idleMs);
    // Of the process that serves: npm and its shell stay beside the host.
    keep(`${name}: idle memory`, Math.max(...treeOf(child.pid!).map(({ pid }) => megabytesOf(pid, 'VmRSS'))));
  }
  await endTree(child);
}

async function measureServing(): Promise<Row[]> {
  installPeers();
  writeFileSync(
    bareServer,
    `import { createServer } from 'node:http';
     createServer((request, response) => response.end()).listen(Number(process.argv[2]), '127.0.0.1');`,
  );
  for (let round = -1; round < rounds; round += 1) for (const each of served) await measureServed(each, round < 0);
  const aims: Readonly<Record<string, number>> = {
    'npm run serve: to listening': 400,
    'the host itself: idle memory': 100,
  };
  const rows = served.flatMap(({ name }) => [
    ...['to listening', 'to the first answer', 'processor time'].map((what) => [`${name}: ${what}`, 'ms'] as const),
    [`${name}: idle memory`, 'MiB'] as const,
  ]);
  return rows.map(([what, unit]) => row(what, of(what), unit, what in aims ? { max: aims[what]! } : undefined));
}

async function measureDesktop(): Promise<Row[]> {
  await using display = await startDisplay();
  const starts: readonly { name: string; start: () => Promise<DesktopStart> }[] = [
    { name: 'empty window', start: () => startDesktop('empty', folder, display.name) },
    { name: 'desktop', start: () => startDesktop('touchstone', folder, display.name) },
  ];
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, start } of starts) {
      await using started = await start();
      if (round < 0) continue;
      keep(`${name}: to usable`, started.usableAfterMs);
      keep(`${name}: to the first key`, started.keyAfterMs);
      await delay(idleMs);
      keep(`${name}: memory`, started.megabytes());
    }
  }
  const ratios = (what: string): number[] =>
    raw[`desktop: ${what}`]!.map((value, round) => value / raw[`empty window: ${what}`]![round]!);
  return [
    ...starts.flatMap(({ name }) => [
      row(`${name}: to usable`, of(`${name}: to usable`), 'ms'),
      row(`${name}: to the first key`, of(`${name}: to the first key`), 'ms'),
      row(`${name}: memory`, of(`${name}: memory`), 'MiB'),
    ]),
    row('desktop to usable, to an empty window', median(ratios('to usable')), 'x', { max: 1.3 }),
    row('desktop to the first key, to an empty window', median(ratios('to the first key')), 'x'),
    row('memory of the desktop, to an empty window', median(ratios('memory')), 'x', { max: 1.5 }),
  ];
}

const rows: Row[] = [];
try {
  if (values.part.includes('serve')) rows.push(...(await measureServing()));
  if (values.part.includes('desktop')) {
    const obstacle = await obstacleTo('electron');
    if (obstacle === null) rows.push(...(await measureDesktop()));
    else {
      console.log(`NOT RUN on the desktop: ${obstacle}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
printReport('start', rows, raw satisfies RawResults);
