import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainPage } from './plain-page.ts';
import { kinds, textOf, type TextKind } from './texts.ts';

/** Characters of one token, as the window estimates them. */
const charactersPerToken = 4;

export interface PacedProvider {
  /** `http://127.0.0.1:40123`; its API is below `/v1`. */
  readonly address: string;
  /** Resolves when this many more answers have been sent in full. */
  sent(count: number): Promise<void>;
  /** Milliseconds since 1970 at which the newest request for an answer arrived, and how many came before it. */
  newest(): { readonly at: number; readonly count: number };
  close(): void;
}

/** `mixed-2500-120000`: the kind of the text, its tokens a second, and its length in characters. */
export function modelName(kind: TextKind, tokensPerSecond: number, length: number): string {
  return `${kind}-${tokensPerSecond}-${length}`;
}

const texts = new Map<string, string>();

function readModel(model: string): { text: string; tokensPerSecond: number } {
  const [kind = '', speed, length] = model.split('-');
  const key = `${kind}-${length}`;
  if (!texts.has(key)) texts.set(key, textOf(kinds.find((known) => known === kind) ?? 'mixed', Number(length)));
  return { text: texts.get(key)!, tokensPerSecond: Number(speed) };
}

function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const value = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'paced', choices };
  return `data: ${JSON.stringify(value)}\n\n`;
}

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
const lastEvents = `${chunk({}, 'stop')}data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\ndata: [DONE]\n\n`;

/** An event for each token. A late timer sends what is due by then, so that the speed is the same on a slow machine. */
function stream(response: ServerResponse, model: string, onEnd: () => void): void {
  const { text, tokensPerSecond } = readModel(model);
  const tokens = Math.ceil(text.length / charactersPerToken);
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(tokens, Math.floor(((performance.now() - startedAt) / 1000) * tokensPerSecond));
    let events = '';
    for (; sent < due; sent += 1) {
      events += chunk({ content: text.slice(sent * charactersPerToken, (sent + 1) * charactersPerToken) });
    }
    if (events !== '') response.write(events);
    if (sent < tokens && !response.closed) return;
    clearInterval(timer);
    response.end(lastEvents);
    onEnd();
  }, 2);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  return body;
}

/** A provider that streams at the speed in the name of the model, and serves the page that appends plain text. */
export async function startPacedProvider(models: readonly string[]): Promise<PacedProvider> {
  const waiting: { left: number; resolve: () => void }[] = [];
  let newest = { at: 0, count: 0 };
  const onEnd = (): void => {
    for (const entry of waiting) {
      entry.left -= 1;
      if (entry.left === 0) entry.resolve();
    }
  };
  const server = createServer({ noDelay: true }, (request, response) => {
    const at = performance.timeOrigin + performance.now();
    if (request.url === '/plain') return void response.setHeader('content-type', 'text/html').end(plainPage);
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
    newest = { at, count: newest.count + 1 };
    void readBody(request).then((body) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream(response, (JSON.parse(body) as { model: string }).model, onEnd);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: (count) => new Promise((resolve) => waiting.push({ left: count, resolve })),
    newest: () => newest,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
