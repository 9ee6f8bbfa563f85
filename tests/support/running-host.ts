import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { hostEnvironment } from './host-environment.ts';
import { nodeOptions } from './node-options.ts';
import { signIn } from './sign-in.ts';

const serve = fileURLToPath(new URL('../../electron/server/serve.ts', import.meta.url));

/** The headless host as a process, reached as its window reaches it. */
export interface RunningHost {
  readonly child: ChildProcess;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** Starts it on a free port, without provider keys; whoever starts it ends it. */
export async function startHost(directory: string, parameters: readonly string[] = []): Promise<RunningHost> {
  const own = ['--json', '--port', '0', '--data-dir', directory];
  const child = spawn(process.execPath, [...nodeOptions, serve, ...own, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: hostEnvironment,
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { address, windowUrl } = JSON.parse(line) as { address: string; windowUrl: string };
    const headers = { origin: address, ...(await signIn(windowUrl)) };
    return {
      child,
      fetch: (path, init) => fetch(address + path, { ...init, headers: { ...headers, ...init?.headers } }),
    };
  }
  throw new Error('The host did not start.');
}

/** The JSON of an answer; throws for every status outside 2xx. */
export async function read<Body>({ fetch }: RunningHost, path: string, init?: RequestInit): Promise<Body> {
  const response = await fetch(path, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}
