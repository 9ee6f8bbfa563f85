import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface HeadlessHost {
  readonly address: string;
  /** Signs one browser in, once. */
  readonly windowUrl: string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface HeadlessHostOptions {
  /** `name=address` of compatible endpoints. */
  endpoints?: readonly string[];
  environment?: Record<string, string>;
}

/** The built headless host on a data folder of its own and a free port. */
export async function startHeadlessHost({
  endpoints = [],
  environment = {},
}: HeadlessHostOptions = {}): Promise<HeadlessHost> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-browser-'));
  const named = endpoints.flatMap((endpoint) => ['--endpoint', endpoint]);
  const root = join(import.meta.dirname, '../../..');
  const serve = ['out/host/serve.js', '--json', '--port', '0', '--data-dir', dataDirectory, ...named];
  const host = spawn(process.execPath, serve, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string];
  const { address, windowUrl } = JSON.parse(line) as { address: string; windowUrl: string };
  const close = async (): Promise<void> => {
    if (host.exitCode === null) {
      const ended = once(host, 'exit');
      host.kill('SIGTERM');
      await ended;
    }
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
  };
  return { address, windowUrl, close, [Symbol.asyncDispose]: close };
}
