import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A provider whose model decides what it sends: `fixed` answers at once, `flood` sends its frames as fast as the reader takes them, `paced` one every 20 ms with
 * the time at which it was sent. `GET /sent` returns how many frames the paced streams have sent so far.
 */
export const floodFrames = 60_000;
export const pacedSeconds = 10;
const paceMs = 20;
const modelOf = /"model":"(\w+)"/;
/** A whole answer, or a stream of one frame. */
const whole = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'fixed',
  choices: [{ index: 0, message: { role: 'assistant', content: 'It is held up. '.repeat(90) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 24, completion_tokens: 260, total_tokens: 284 },
});

const words = 'The carrier has held the parcel since Monday because a form was missing'.split(' ');

function frame(content: string, finishReason: string | null = null): string {
  const delta = finishReason === null ? { content } : {};
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'fixed', choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const usage = { prompt_tokens: 24, completion_tokens: floodFrames, total_tokens: floodFrames + 24 };
const end =
  frame('', 'stop') +
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'fixed', choices: [], usage })}\n\n` +
  'data: [DONE]\n\n';

const block = Array.from({ length: 100 }, (_, index) => frame(` ${words[index % words.length]}`));

/** A write for each frame, as servers do that stream a model's output. Node sends those of one turn together. */
async function flood(response: ServerResponse): Promise<void> {
  for (let sent = 0; sent < floodFrames && !response.closed; sent += block.length) {
    let hasRoom = true;
    for (const text of block) hasRoom = response.write(text);
    await (hasRoom ? nextTurn() : once(response, 'drain'));
  }
  response.end(end);
}

let sentFrames = 0;
const paced = new Set<{ response: ServerResponse; phase: number; until: number }>();

/** One timer for all streams; each has its phase, so that their frames don't come together. */
function sendPaced(): void {
  let lastSlot = Math.floor(performance.now());
  setInterval(() => {
    const now = Math.floor(performance.now());
    const stamp = (performance.timeOrigin + performance.now()).toFixed(3);
    const text = frame(`${stamp} `);
    for (const stream of paced) {
      const { response, phase, until } = stream;
      const due = Math.floor((now - phase) / paceMs) - Math.floor((lastSlot - phase) / paceMs);
      for (let count = 0; count < due && !response.closed; count++, sentFrames++) response.write(text);
      if (now < until && !response.closed) continue;
      paced.delete(stream);
      response.end(end);
    }
    lastSlot = now;
  }, 1);
}

function serve(port: number): void {
  let streams = 0;
  createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (request.url === '/sent') return void response.end(String(sentFrames));
      if (request.method === 'GET') {
        const data = ['flood', 'paced', 'fixed'].map((id) => ({ id, object: 'model' }));
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
      }
      const model = modelOf.exec(body)?.[1];
      if (model === 'fixed' && !body.includes('"stream":true'))
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      if (model === 'fixed') return void response.end(frame('Soon.') + end);
      if (model === 'flood') return void flood(response);
      response.write(frame('start '));
      paced.add({ response, phase: streams++ % paceMs, until: performance.now() + pacedSeconds * 1000 });
    });
  }).listen(port, '127.0.0.1');
  sendPaced();
}

if (import.meta.main) serve(Number(process.argv[2]));
