import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ScriptedUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
}

const defaultUsage: ScriptedUsage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

export interface ScriptedAnswer {
  content: string;
  reasoning?: string;
  finishReason?: string;
  usage?: ScriptedUsage;
}

export interface ScriptedToolCall {
  id?: string;
  name: string;
  arguments: string;
}

const closings = new WeakMap<Socket, Promise<number>>();

/** One listener for a socket, however many calls come over it. */
function socketClosed(socket: Socket): Promise<number> {
  const known = closings.get(socket);
  if (known) return known;
  const closed = new Promise<number>((resolve) => {
    if (socket.destroyed) resolve(performance.now());
    else socket.once('close', () => resolve(performance.now()));
  });
  closings.set(socket, closed);
  return closed;
}

/**
 * One request that has arrived whole and waits for the test to answer it, byte by byte. Nothing is answered by itself.
 * The `chat...` methods write the chat completions form that an `OpenAiCompatible` endpoint speaks.
 */
export class ScriptedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly bodyText: string;
  /** Resolves with the `performance.now()` at which the client's socket closed; a kept connection does not close. */
  readonly closed: Promise<number>;
  readonly socket: Socket;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse, bodyText: string) {
    this.method = request.method ?? '';
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.bodyText = bodyText;
    this.socket = request.socket;
    this.#response = response;
    this.closed = socketClosed(request.socket);
  }

  get body(): Record<string, unknown> {
    return JSON.parse(this.bodyText) as Record<string, unknown>;
  }

  /** Sends the status line and headers at once, before any byte of a body. */
  head(status: number, headers: Record<string, string> = {}): this {
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
    return this;
  }

  /** Resolves when the bytes were handed to the operating system. */
  async write(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#response.write(bytes, () => resolve()));
  }

  end(bytes = ''): void {
    this.#response.end(bytes);
  }

  /** Cuts the connection in the middle, as a crashed server or a network does. */
  cut(): void {
    this.socket.resetAndDestroy();
  }

  json(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.head(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  /** An error as OpenAI-style APIs word it. */
  fail(status: number, message: string, headers: Record<string, string> = {}): void {
    this.json(status, { error: { message, type: 'scripted_error', param: null, code: null } }, headers);
  }

  /** A whole, non-streamed chat completion. */
  chatAnswer(answer: ScriptedAnswer): void {
    const { content, reasoning, finishReason = 'stop', usage = defaultUsage } = answer;
    this.json(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_780_000_000,
      model: 'scripted',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, ...(reasoning === undefined ? {} : { reasoning_content: reasoning }) },
          finish_reason: finishReason,
        },
      ],
      usage,
    });
  }

  /** Opens a streamed answer without sending any byte of its body. */
  openEventStream(): this {
    return this.head(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  }

  async event(data: unknown, name?: string): Promise<void> {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    await this.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }

  async chatDelta(delta: { content?: string; reasoning_content?: string; reasoning?: string }): Promise<void> {
    await this.event(chatChunk([{ index: 0, delta, finish_reason: null }]));
  }

  /** The last events of a streamed chat completion; `usage: null` leaves the usage out. */
  async chatEnd(options: { finishReason?: string; usage?: ScriptedUsage | null } = {}): Promise<void> {
    const { finishReason = 'stop', usage = defaultUsage } = options;
    await this.event(chatChunk([{ index: 0, delta: {}, finish_reason: finishReason }]));
    if (usage) await this.event({ ...chatChunk([]), usage });
    await this.event('[DONE]');
    this.end();
  }

  /** A whole streamed chat completion, one event for each text. */
  async chatStream(texts: readonly string[], end: Parameters<ScriptedCall['chatEnd']>[0] = {}): Promise<void> {
    this.openEventStream();
    for (const content of texts) await this.chatDelta({ content });
    await this.chatEnd(end);
  }

  /** A whole streamed chat completion that calls tools. The arguments of each call come in two parts. */
  async chatCalls(calls: readonly ScriptedToolCall[], content: string | null = null): Promise<void> {
    const delta = (part: object) => this.event(chatChunk([{ index: 0, delta: part, finish_reason: null }]));
    this.openEventStream();
    if (content !== null) await delta({ content });
    for (const [index, { id, name, arguments: text }] of calls.entries()) {
      await delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
      const middle = Math.ceil(text.length / 2);
      for (const part of [text.slice(0, middle), text.slice(middle)])
        await delta({ tool_calls: [{ index, function: { arguments: part } }] });
    }
    await this.chatEnd({ finishReason: 'tool_calls' });
  }

  /** OpenAI's list of models. */
  models(names: readonly string[]): void {
    this.json(200, { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 1_780_000_000 })) });
  }
}

function chatChunk(choices: unknown[]): Record<string, unknown> {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_780_000_000, model: 'scripted', choices };
}

export type ScriptedHandler = (call: ScriptedCall) => unknown;

/**
 * A provider whose every byte the test decides: either take calls one after the other with `nextCall()`, or give a
 * handler that answers each of them. `calls` keeps all that arrived, in order.
 */
export interface ScriptedProvider {
  /** With the version segment, for example `http://127.0.0.1:40123/v1`. */
  readonly baseAddress: string;
  readonly calls: readonly ScriptedCall[];
  /** Sockets that were ever opened: tells whether connections are kept. */
  readonly connections: () => number;
  /** The oldest call that no one has taken yet; waits for it. */
  nextCall(): Promise<ScriptedCall>;
  /** From here on every call that is not waited for goes to this handler; null takes it away. */
  answerWith(handler: ScriptedHandler | null): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * A handler that knows only completions throws at the list of models, which the host may ask for at any time: that is answered
 * as a provider without such a list does. Uncaught, it would end the test process well after the test.
 */
async function answerWith(handler: ScriptedHandler, call: ScriptedCall): Promise<void> {
  try {
    await handler(call);
  } catch (error) {
    if (call.method !== 'GET') throw error;
    call.fail(404, String(error));
  }
}

/** Starts a scripted provider on 127.0.0.1 and a free port. */
export async function startScriptedProvider(firstHandler: ScriptedHandler | null = null): Promise<ScriptedProvider> {
  const calls: ScriptedCall[] = [];
  const untaken: ScriptedCall[] = [];
  const waiting: ((call: ScriptedCall) => void)[] = [];
  let handler = firstHandler;
  let connections = 0;

  const server = createServer({ noDelay: true }, async (request, response) => {
    const call = new ScriptedCall(request, response, await readText(request));
    calls.push(call);
    const next = waiting.shift();
    if (next) next(call);
    else if (handler) await answerWith(handler, call);
    else untaken.push(call);
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return {
    baseAddress: `http://127.0.0.1:${port}/v1`,
    calls,
    connections: () => connections,
    nextCall: () => {
      const call = untaken.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve));
    },
    answerWith: (next) => {
      handler = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
