import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small stand-in for Hugging Face on the loopback interface that has one file in one repository. */
export interface TestHub {
  readonly address: string;
  readonly content: Buffer;
  /** Bytes of the file that were sent, over all answers. */
  sentBytes(): number;
  /** Sends this many bytes in all, then keeps every answer open without a byte, and new ones without a head; null sends on. */
  holdAfter(bytes: number | null): void;
  close(): Promise<void>;
}

export async function createTestHub(path: string, bytes = 12_000_000): Promise<TestHub> {
  const content = Buffer.concat([Buffer.from('GGUF'), randomBytes(bytes - 4)]);
  let sentBytes = 0;
  let hold: number | null = null;
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== path) return void response.writeHead(404).end();
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = range?.[2] ? Number(range[2]) + 1 : content.length;
    const body = content.subarray(start, end);
    const sent = Math.min(body.length, hold === null ? body.length : Math.max(0, hold - sentBytes));
    if (range && sent === 0) return;
    response.writeHead(range ? 206 : 200, {
      'accept-ranges': 'bytes',
      'content-length': body.length,
      ...(range ? { 'content-range': `bytes ${start}-${end - 1}/${content.length}` } : {}),
    });
    if (request.method === 'HEAD') return void response.end();
    // What asks for the whole file only wants its length and leaves.
    if (!range) return void response.write(body.subarray(0, 1));
    sentBytes += sent;
    if (sent === body.length) response.end(body);
    else response.write(body.subarray(0, sent));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    content,
    sentBytes: () => sentBytes,
    holdAfter: (value) => void (hold = value),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
