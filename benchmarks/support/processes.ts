import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Clock ticks a second in `/proc`; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Processor seconds of a process with all its threads. Linux only. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/**
 * A field of a process's memory in MiB: `VmRSS` is what is resident, `RssAnon` the same without mapped files, which the system can take
 * back, and `Pss` shares what several processes have. Linux only.
 */
export function megabytesOf(pid: number, field: 'VmRSS' | 'RssAnon' | 'Pss'): number {
  const file = readFileSync(`/proc/${pid}/${field === 'Pss' ? 'smaps_rollup' : 'status'}`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(file)?.[1]) / 1024;
}

/** A process with all its descendants, and the command lines of each. Linux only. */
export function treeOf(root: number): { readonly pid: number; readonly command: string }[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root).flatMap((pid) => {
    try {
      return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return [];
    }
  });
}

/** Ends a process and its descendants, the last ones first. npm's shell doesn't pass signals on. */
export async function endTree(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  for (const { pid } of treeOf(child.pid).toReversed()) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It has ended meanwhile.
    }
  }
  await ended;
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A server under measurement. */
export interface MeasuredProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

function measured(child: ChildProcess): MeasuredProcess {
  if (child.pid === undefined) throw new Error('the process did not start');
  return {
    pid: child.pid,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Starts a Node process, on one processor if `core` is given, and waits until its port responds; at most 20 seconds. */
export async function startServer(
  parameters: readonly string[],
  port: number,
  environment: Record<string, string> = {},
  core?: number,
): Promise<MeasuredProcess> {
  const command = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [program, ...rest] = [...command, process.execPath, ...parameters];
  const child = spawn(program!, rest, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', ...environment },
  });
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) return measured(child);
    if (child.exitCode !== null) throw new Error(`${parameters.join(' ')} ended with ${child.exitCode}`);
    await delay(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${parameters.join(' ')} did not listen on ${port}`);
}
