import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ProxyServer {
  readonly port: number;
  /** What was asked of it, in order: `GET http://provider.test/v1/models`, `CONNECT provider.test:443`. */
  readonly requests: string[];
  /** The last caller's name and password, as `name:password`; null when it gave none. */
  readonly caller: () => string | null;
  close(): Promise<void>;
}

/** A company's proxy: it knows every name, and finds behind each the server at `targetPort` of this computer. */
export async function startProxyServer(targetPort: number, { refusal = 200 } = {}): Promise<ProxyServer> {
  const requested: string[] = [];
  const tunnels = new Set<Socket>();
  let caller: string | null = null;

  function note(message: IncomingMessage): void {
    requested.push(`${message.method} ${message.url}`);
    const encoded = /^Basic (.+)$/.exec(message.headers['proxy-authorization'] ?? '')?.[1];
    caller = encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
  }

  function pass(message: IncomingMessage, response: ServerResponse): void {
    note(message);
    const { pathname, search } = new URL(message.url!);
    const { method, headers } = message;
    const onward = forward({ port: targetPort, host: '127.0.0.1', path: pathname + search, method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    message.pipe(onward);
  }

  const server = createServer(pass);
  server.on('connect', (message: IncomingMessage, socket: Socket) => {
    note(message);
    if (refusal !== 200) return void socket.end(`HTTP/1.1 ${refusal} Refused\r\nContent-Length: 0\r\n\r\n`);
    const onward = connect(targetPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [socket, onward]) {
      tunnels.add(end);
      end.on('error', () => undefined);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests: requested,
    caller: () => caller,
    async close() {
      for (const tunnel of tunnels) tunnel.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
