import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { chunkWriter } from '../../../electron/api/chunk-writer.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void): Promise<number> {
  server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** What the server sends for these requests, byte for byte, until it has ended the connection. */
async function exchange(port: number, requests: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(requests);
  return text(socket);
}

const chunks = ['first', 'é“☂', '', Buffer.from('bytes ☂'), Buffer.alloc(0), 'x'.repeat(5000), 'last'];

test('a body arrives as it was written, also to HTTP/1.0', async () => {
  const port = await listen((_, outgoing) => {
    const write = chunkWriter(outgoing.writeHead(200));
    for (const chunk of chunks) expect(write(chunk)).toBe(true);
    outgoing.end();
  });
  const expected = `firsté“☂bytes ☂${'x'.repeat(5000)}last`;
  const [incoming] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  expect(incoming.headers['transfer-encoding']).toBe('chunked');
  expect(await text(incoming)).toBe(expected);
  const old = await exchange(port, 'GET / HTTP/1.0\r\n\r\n');
  expect(old.slice(old.indexOf('\r\n\r\n') + 4)).toBe(expected);
});

test('responses of one connection come one after the other', async () => {
  const held: ServerResponse[] = [];
  const port = await listen((_, outgoing) => {
    const write = chunkWriter(outgoing);
    const name = `response ${held.push(outgoing)}`;
    for (const part of ['begins', 'goes on', 'ends']) write(`${name} ${part}`);
    if (held.length < 2) return;
    for (const each of held.toReversed()) each.end();
  });
  const request = 'GET / HTTP/1.1\r\nhost: here\r\n';
  const answer = await exchange(port, `${request}\r\n${request}connection: close\r\n\r\n`);
  const bodies = answer.split(/HTTP\/1\.1 200 OK\r\n.*?\r\n\r\n/s).slice(1);
  const chunked = (name: string) =>
    ['begins', 'goes on', 'ends'].map(
      (part) => `${(name.length + part.length + 1).toString(16)}\r\n${name} ${part}\r\n`,
    );
  expect(bodies).toEqual(['response 1', 'response 2'].map((name) => `${chunked(name).join('')}0\r\n\r\n`));
});

test('a full connection is told once it takes more', async () => {
  const drained = Promise.withResolvers<ServerResponse>();
  const part = 'y'.repeat(4096);
  let count = 0;
  const port = await listen((_, outgoing) => {
    const write = chunkWriter(outgoing);
    outgoing.once('drain', () => drained.resolve(outgoing));
    do count += 1;
    while (write(part));
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n');
  const answer = text(socket);
  const outgoing = await drained.promise;
  expect([outgoing.writableLength, outgoing.socket?.writableLength]).toEqual([0, 0]);
  outgoing.end();
  const body = await answer;
  expect(body.split(part)).toHaveLength(count + 1);
  expect(count).toBeGreaterThan(1);
});
