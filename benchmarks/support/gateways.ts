import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostFlags } from '../../scripts/run-built.mjs';
import type { Target } from './load.ts';
import { freePort, startServer, type MeasuredProcess } from './processes.ts';

/** What stands between a caller and the provider: one of the peers, or this service. */
export interface Gateway {
  readonly name: string;
  readonly process: MeasuredProcess;
  readonly target: Target;
}

export type GatewayName = 'direct' | 'bare pass-through' | '@musistudio/llms' | 'Portkey' | 'Touchstone' | 'recorder';

const peers = new URL('../peers/', import.meta.url);
const support = new URL('./', import.meta.url).pathname;
const built = new URL('../../out/host/', import.meta.url).pathname;

/** Installs the peers beside the benchmarks. They are no dependencies of the product. */
export function installPeers(): void {
  const names = ['@portkey-ai/gateway', '@musistudio/llms'];
  if (names.every((name) => existsSync(new URL(`node_modules/${name}`, peers)))) return;
  console.log('Installing the peer gateways beside the benchmarks ...');
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: peers, stdio: 'inherit' });
}

/** A call of OpenAI's chat endpoint at a gateway that has the same interface. */
function chatTarget(port: number, content: string, model: string, stream: boolean): Target {
  const body = { model, messages: [{ role: 'user', content }], ...(stream && { stream: true }) };
  return { port, path: '/v1/chat/completions', headers: {}, body: JSON.stringify(body) };
}

export interface GatewayOptions {
  readonly upstreamPort: number;
  readonly dataDirectory: string;
  /** What the model is asked; the model decides what the upstream sends. */
  readonly content: string;
  readonly model: string;
  readonly stream: boolean;
  /** The same as `content`, as this service's template and its values. */
  readonly template?: { readonly promptText: string; readonly replacements: Record<string, string> };
  /** The processor for the gateway; any one if absent. */
  readonly core?: number;
}

/** Starts `name` in front of the upstream. `Touchstone` and `recorder`, its pass-through of other programs, record every call. */
export async function startGateway(
  name: Exclude<GatewayName, 'direct'>,
  { upstreamPort, dataDirectory, content, template, model, stream, core }: GatewayOptions,
): Promise<Gateway> {
  const port = await freePort();
  const start = (parameters: readonly string[]) => startServer(parameters, port, {}, core);
  const target = chatTarget(port, content, model, stream);
  switch (name) {
    case 'bare pass-through':
      return { name, target, process: await start([`${support}pass-through.ts`, String(port), String(upstreamPort)]) };
    case 'Portkey': {
      const entry = new URL('node_modules/@portkey-ai/gateway/build/start-server.js', peers).pathname;
      const headers = {
        authorization: 'Bearer none',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      };
      return { name, target: { ...target, headers }, process: await start([entry, '--headless', `--port=${port}`]) };
    }
    case '@musistudio/llms': {
      const process = await start([`${support}llms-server.mjs`, String(port), String(upstreamPort)]);
      return { name, target: chatTarget(port, content, `bench,${model}`, stream), process };
    }
    case 'recorder':
    case 'Touchstone': {
      const parameters = ['issue', '--name', 'benchmark', '--json', '--data-dir', dataDirectory];
      const issued = execFileSync(process.execPath, [`${built}keys.js`, ...parameters], { encoding: 'utf8' });
      const endpoint = `bench=http://127.0.0.1:${upstreamPort}/v1`;
      const service = [`${built}serve.js`, '--port', String(port), '--data-dir', dataDirectory];
      const headers = { authorization: `Bearer ${(JSON.parse(issued) as { key: string }).key}` };
      const running = await start([...hostFlags, ...service, '--endpoint', endpoint, '--json']);
      if (name === 'recorder') {
        return { name, target: { ...target, headers, path: '/openai/bench/v1/chat/completions' }, process: running };
      }
      const request = {
        aiSystem: 'OpenAiCompatible',
        model: `bench/${model}`,
        ...(template ?? { promptText: content }),
      };
      return {
        name,
        target: {
          port,
          path: stream ? '/api/completions/sse' : '/api/completions/sync',
          headers,
          body: JSON.stringify(request),
        },
        process: running,
      };
    }
  }
}

/** The upstream itself, as a caller reaches it without a gateway. */
export function directTarget({ upstreamPort, content, model, stream }: GatewayOptions): Target {
  return chatTarget(upstreamPort, content, model, stream);
}
