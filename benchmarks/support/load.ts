import { Agent, request, type RequestOptions } from 'node:http';

/** One kind of request, repeated over persistent connections. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function send(options: RequestOptions, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      incoming.resume();
      incoming.on('error', reject);
      incoming.on('end', () => {
        if (incoming.statusCode === 200) resolve();
        else reject(new Error(`${options.path} answered ${incoming.statusCode}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Makes `count` requests, `connections` at a time; returns the milliseconds that each took. */
export async function makeRequests(target: Target, count: number, connections: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(target.body)),
    ...target.headers,
  };
  const options = { host: '127.0.0.1', port: target.port, path: target.path, method: 'POST', agent, headers };
  const milliseconds: number[] = [];
  let started = 0;
  const worker = async () => {
    while (started < count) {
      started += 1;
      const begin = performance.now();
      await send(options, target.body);
      milliseconds.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
  return milliseconds;
}
