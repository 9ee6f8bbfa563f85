import { Agent, createServer, request as requestUpstream } from 'node:http';

/** A minimal gateway: receives a request, makes the same one upstream, returns the response. */
const agent = new Agent({ keepAlive: true });
const upstreamPort = Number(process.argv[3]);

createServer((incoming, outgoing) => {
  const options = { port: upstreamPort, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', agent };
  const upstream = requestUpstream({ ...options, headers: incoming.headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(upstream);
}).listen(Number(process.argv[2]), '127.0.0.1');
