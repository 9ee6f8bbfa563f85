import { Agent, request, type RequestOptions } from 'node:http';

/** One kind of request, repeated over persistent connections. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function sendBody(options: RequestOptions, body: string): Promise<void> {
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

function optionsOf({ port, path, headers, body }: Target, agent: Agent): RequestOptions {
  const length = String(Buffer.byteLength(body));
  const allHeaders = { 'content-type': 'application/json', 'content-length': length, ...headers };
  return { host: '127.0.0.1', port, path, method: 'POST', agent, headers: allHeaders };
}

/** Makes one request and reads its response; rejects unless its status is 200. */
export const send = (target: Target, agent: Agent): Promise<void> => sendBody(optionsOf(target, agent), target.body);

/** Makes `count` requests, `connections` at a time; returns the milliseconds that each took. */
export async function makeRequests(target: Target, count: number, connections: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const options = optionsOf(target, agent);
  const milliseconds: number[] = [];
  let started = 0;
  const worker = async () => {
    while (started < count) {
      started += 1;
      const begin = performance.now();
      await sendBody(options, target.body);
      milliseconds.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
  return milliseconds;
}
