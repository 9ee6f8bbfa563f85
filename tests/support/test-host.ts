import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream as NodeStream } from 'node:stream/web';
import { createHost, type Host } from '../../electron/create-host.ts';
import { createMemoryKeyStore, type KeyStore } from '../../electron/key-store/key-store.ts';
import { listen, type Listener } from '../../electron/server/listen.ts';
import type { ApiKeyInput } from '../../shared/contract/api-keys.ts';
import { holdRequest } from './hold-request.ts';
import { call as callOverSocket, type CallerRequest, type PendingCall } from './http-clients.ts';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';

/** The ways in which the contract is tried: without a socket, and over the port with both protocols. */
export const ways = ['in memory', 'HTTP/1.1', 'HTTP/2'] as const;
export type Way = (typeof ways)[number];

export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface TestHost {
  readonly host: Host;
  readonly keyStore: KeyStore;
  /** Its data folder, which is gone once it is closed. */
  readonly dataDirectory: string;
  readonly listener: Listener;
  /** Answers the model `scripted/model` of `OpenAiCompatible`, and every model of `Groq`. */
  readonly provider: ScriptedProvider;
  /** A key with all scopes and without a limit. */
  readonly key: string;
  /** What the host told its person; failures of our own are in it. */
  readonly log: string[];
  issueKey(input?: Partial<ApiKeyInput>): string;
  begin(way: Way, request: CallerRequest): PendingCall;
  send(way: Way, request: CallerRequest): Promise<TestAnswer>;
  close(): Promise<void>;
}

/** What the scripted provider is called with as Groq; it must be seen nowhere else. */
export const providerKey = 'gsk_not-a-real-key-but-as-long-as-one';

/** The fewest fields of a completion request that the scripted provider answers. */
export const minimalRequest = {
  promptText: 'Say hello',
  aiSystem: 'OpenAiCompatible',
  model: 'scripted/model',
} as const;

/** A completion call of the host's key, as JSON. */
export function completionCall(
  { key }: Pick<TestHost, 'key'>,
  path: string,
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): CallerRequest {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ ...minimalRequest, ...body }),
  };
}

function callInMemory(host: Host, { method, path, headers, body }: CallerRequest): PendingCall {
  const leaving = new AbortController();
  const request = new Request(`http://127.0.0.1${path ?? '/'}`, {
    method: method ?? 'GET',
    headers: headers ?? {},
    signal: leaving.signal,
    ...(body === undefined ? {} : { body: body instanceof Readable ? NodeStream.from(body) : body, duplex: 'half' }),
  } as RequestInit);
  const leave = () => leaving.abort();
  holdRequest(request, leaving.signal);
  const response = host.api.fetch(request, { access: 'network' }).then((answer) => {
    const stream = answer.body ? Readable.fromWeb(answer.body as never) : Readable.from([]);
    leaving.signal.addEventListener('abort', () => stream.destroy());
    stream.on('error', () => {});
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: stream, leave };
  });
  return { response, leave };
}

/** Everything that was sent, as text; ends without an error when the connection does. */
export async function readAll(body: Readable): Promise<string> {
  body.setEncoding('utf8');
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

/** A whole host in a folder of its own, with a listener, a scripted provider and a key. */
export async function startTestHost({ team = null }: { readonly team?: string | null } = {}): Promise<TestHost> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'touchstone-contract-'));
  const provider = await startScriptedProvider();
  const log: string[] = [];
  const keyStore = createMemoryKeyStore();
  const host = await createHost({
    dataDirectory,
    providerBases: { Groq: provider.baseAddress },
    endpoints: [{ name: 'scripted', baseAddress: provider.baseAddress }],
    capabilities: [],
    environment: { GROQ_API_KEY: providerKey },
    keyStore,
    team,
    log: (message, error) => void log.push(`${message} ${error instanceof Error ? error.stack : String(error ?? '')}`),
  });
  const listener = await listen({ api: host.api, port: 0, isTls: false, dataDirectory, window: null, log: () => {} });
  const issueKey = (input: Partial<ApiKeyInput> = {}) => host.storage.apiKeys.issue({ name: 'Test', ...input }).key;
  const begin = (way: Way, request: CallerRequest): PendingCall =>
    way === 'in memory' ? callInMemory(host, request) : callOverSocket(way, listener.address, request);
  return {
    host,
    keyStore,
    dataDirectory,
    listener,
    provider,
    key: issueKey(),
    log,
    issueKey,
    begin,
    send: async (way, request) => {
      const { status, headers, body } = await begin(way, request).response;
      return { status, headers, text: await readAll(body) };
    },
    close: async () => {
      await listener.close({ signal: AbortSignal.timeout(2000) });
      await host.close();
      await provider.close();
      await rm(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
