// A compatible provider that returns the last message, at once or in chunks of 64 KB: its answers are as hostile as the prompts.
import { createServer } from 'node:http';

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const pieceLength = 65_536;

function* chunksOf(text) {
  for (let start = 0; start < text.length; start += pieceLength) yield text.slice(start, start + pieceLength);
}

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method === 'GET') return response.end(JSON.stringify({ object: 'list', data: [{ id: 'echo' }] }));
  const { messages, stream } = JSON.parse(Buffer.concat(chunks).toString());
  const { content } = messages.at(-1);
  const text = typeof content === 'string' ? content : content.map((part) => part.text).join('');
  const base = { id: 'chatcmpl-1', created: 1, model: 'echo' };
  if (stream !== true) {
    response.setHeader('content-type', 'application/json');
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
    return response.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }));
  }
  response.setHeader('content-type', 'text/event-stream');
  const send = (delta, finish_reason) =>
    response.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  for (const chunk of chunksOf(text)) send({ content: chunk }, null);
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
}).listen(0, '127.0.0.1', function () {
  process.send(this.address().port);
});
