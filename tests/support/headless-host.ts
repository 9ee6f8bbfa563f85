import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { hostEnvironment } from './host-environment.ts';
import { nodeOptions } from './node-options.ts';
import { signIn } from './sign-in.ts';

const serve = fileURLToPath(new URL('../../electron/server/serve.ts', import.meta.url));

/** The headless host as a process of its own. */
export interface HeadlessHost {
  /** All of stdout and stderr so far. */
  output(): { stdout: string; stderr: string };
  signal(name: NodeJS.Signals): void;
  /** Exit status, once the process has ended and its output is complete. */
  readonly ended: Promise<number | null>;
}

/** Starts `serve.ts` with the arguments, without provider keys in its environment; it is killed when the test is over. */
export function startHeadlessHost(parameters: readonly string[]): HeadlessHost {
  const child = spawn(process.execPath, [...nodeOptions, serve, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: hostEnvironment,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
  const ended = once(child, 'close').then(([status]) => status as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { output: () => ({ stdout, stderr }), signal: (name) => void child.kill(name), ended };
}

export interface ReadyHost extends HeadlessHost {
  readonly address: string;
  readonly windowUrl: string;
  /** Calls the API as the window in a browser does. */
  fetchAsWindow(path: string, init?: RequestInit): Promise<Response>;
}

/** Starts it with `--json` on a free port and resolves once it listens. */
export async function startReadyHost(parameters: readonly string[]): Promise<ReadyHost> {
  const host = startHeadlessHost(['--json', ...parameters]);
  const line = await firstLine(host);
  const { address, windowUrl } = JSON.parse(line) as { address: string; windowUrl: string };
  const session = await signIn(windowUrl);
  return {
    ...host,
    address,
    windowUrl,
    fetchAsWindow: (path, init = {}) =>
      fetch(address + path, { ...init, headers: { origin: address, ...session, ...init.headers } }),
  };
}

async function firstLine(host: HeadlessHost): Promise<string> {
  let hasEnded = false;
  void host.ended.then(() => (hasEnded = true));
  while (!host.output().stdout.includes('\n')) {
    if (hasEnded) throw new Error(`The host ended: ${host.output().stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return host.output().stdout.split('\n', 1)[0] as string;
}
