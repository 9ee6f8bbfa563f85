import { createServer } from 'node:http';

/** A provider that immediately returns the same 1.3 KB of text: only the cost of the way there and back remains. */
const text = 'The carrier has held the parcel since Monday because a form was missing. '.repeat(18).slice(0, 1300);

const answer = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'fixed',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 24, completion_tokens: 260, total_tokens: 284 },
  }),
);
const models = Buffer.from(JSON.stringify({ object: 'list', data: [{ id: 'fixed', object: 'model' }] }));

createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const body = request.method === 'GET' ? models : answer;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
