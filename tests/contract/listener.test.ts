// @module-tag slow
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { call, fetchText, isSecure, RawConnection, startListener, transports } from '../support/http-clients.ts';

const megabyte = 1_048_576;

/** A promise that a test resolves by hand. */
function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe.each(transports)('%s', (transport) => {
  const isTls = isSecure(transport);

  test('passes method, address, headers and body in, and status, headers and body out', async () => {
    const { address } = await startListener(
      async (request, { access }) => {
        const { method, url, headers } = request;
        const seen = { method, url, named: headers.get('x-named'), text: await request.text(), access };
        return Response.json(seen, { status: 201, headers: { 'x-answer': 'yes' } });
      },
      { isTls },
    );
    const answer = await fetchText(transport, address, {
      method: 'PUT',
      path: '/a%20b?c=d&c=e',
      headers: { 'x-named': 'Name' },
      body: 'Grüße 🌍',
    });
    expect({ status: answer.status, named: answer.headers['x-answer'], json: JSON.parse(answer.text) }).toEqual({
      status: 201,
      named: 'yes',
      json: {
        method: 'PUT',
        url: `${address}/a%20b?c=d&c=e`,
        named: 'Name',
        text: 'Grüße 🌍',
        access: 'network',
      },
    });
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
  });

  test('gives a request without a body a null body', async () => {
    const { address } = await startListener(
      async (request) => Response.json([request.method, request.body, await request.text()]),
      { isTls },
    );
    const post = await fetchText(transport, address, { method: 'POST' });
    const get = await fetchText(transport, address);
    expect([post.text, get.text]).toEqual(['["POST",null,""]', '["GET",null,""]']);
  });

  test('answers HEAD without a body and ends the source of the body', async () => {
    const cancelled = gate();
    const { address } = await startListener(
      async () => new Response(new ReadableStream({ cancel: cancelled.open }), { headers: { 'x-answer': 'yes' } }),
      { isTls },
    );
    const answer = await fetchText(transport, address, { method: 'HEAD' });
    await cancelled.opened;
    expect([answer.status, answer.headers['x-answer'], answer.text]).toEqual([200, 'yes', '']);
  });

  test('sends the head before the first chunk, and every chunk immediately', async () => {
    const pieces = new TransformStream<Uint8Array, Uint8Array>();
    const { address } = await startListener(
      async () => new Response(pieces.readable, { headers: { 'content-type': 'text/event-stream' } }),
      { isTls },
    );
    const { status, body } = await call(transport, address).response;
    expect(status).toBe(200);
    const writer = pieces.writable.getWriter();
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      void writer.write(Buffer.from(piece));
      const [received] = (await once(body, 'data')) as [Buffer];
      expect(received.toString()).toBe(piece);
    }
    void writer.close();
    await once(body, 'end');
  });

  test('transfers large bodies unchanged in both directions', async () => {
    const bytes = randomBytes(3 * megabyte);
    const { address } = await startListener(async (request) => new Response(request.body), { isTls });
    const { body } = await call(transport, address, { method: 'POST', body: bytes }).response;
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    expect(hash(Buffer.concat(chunks))).toBe(hash(bytes));
  });

  test('aborts the request when its caller leaves before the response', async () => {
    const [arrived, ended] = [gate(), gate()];
    const { address } = await startListener(
      async (request) => {
        await request.text();
        arrived.open();
        await aborted(request.signal);
        ended.open();
        return new Response('too late');
      },
      { isTls },
    );
    const pending = call(transport, address, { method: 'POST', body: 'text' });
    await arrived.opened;
    pending.leave();
    await ended.opened;
  });

  test('aborts the request and cancels the source when its caller leaves in the middle of the response', async () => {
    const [ended, cancelled] = [gate(), gate()];
    const { address } = await startListener(
      async (request) => {
        void aborted(request.signal).then(ended.open);
        const body = new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from('first')),
          cancel: cancelled.open,
        });
        return new Response(body);
      },
      { isTls },
    );
    const { body, leave } = await call(transport, address).response;
    await once(body, 'data');
    leave();
    await Promise.all([ended.opened, cancelled.opened]);
  });

  test('stops reading a body whose caller leaves in the middle of it', async () => {
    const [arrived, failed] = [gate(), gate()];
    const { address } = await startListener(
      async (request) => {
        arrived.open();
        await request.text().catch(failed.open);
        return new Response();
      },
      { isTls },
    );
    const body = new Readable({ read() {} });
    body.push('half');
    const pending = call(transport, address, { method: 'POST', headers: { 'content-length': '8' }, body });
    await arrived.opened;
    pending.leave();
    await failed.opened;
  });

  test('does not wait for the body of a caller that has already left', async () => {
    const [arrived, failed] = [gate(), gate()];
    const { address } = await startListener(
      async (request) => {
        arrived.open();
        await aborted(request.signal);
        await request.text().catch(failed.open);
        return new Response();
      },
      { isTls },
    );
    const body = new PassThrough();
    body.write('half');
    const pending = call(transport, address, { method: 'POST', headers: { 'content-length': '8' }, body });
    await arrived.opened;
    pending.leave();
    await failed.opened;
  });

  test('aborts the requests that are under way when it closes, and waits for them', async () => {
    const [arrived, ended] = [gate(), gate()];
    let signals: AbortSignal[] = [];
    const { address, close } = await startListener(
      async ({ signal }) => {
        if (signals.push(signal) === 2) arrived.open();
        await aborted(signal);
        await ended.opened;
        signals = [];
        return new Response('late');
      },
      { isTls },
    );
    for (const path of ['/one', '/two']) call(transport, address, { path }).response.catch(() => undefined);
    await arrived.opened;
    const closed = close({ signal: AbortSignal.timeout(60_000) });
    await Promise.all(signals.map(aborted));
    expect(signals).toHaveLength(2);
    ended.open();
    await closed;
    expect(signals).toEqual([]);
  });

  test('does not abort a request that was answered', async () => {
    let signal: AbortSignal | undefined;
    const { address, close } = await startListener(
      async (request) => {
        signal = request.signal;
        return new Response('answer');
      },
      { isTls },
    );
    await fetchText(transport, address);
    await close();
    expect(signal?.aborted).toBe(false);
  });

  test('reads no more from the source than the caller does', async () => {
    let requested = 0;
    let stalled = gate();
    const { address } = await startListener(
      async () => {
        const piece = Buffer.alloc(megabyte);
        const body = new ReadableStream(
          {
            pull(controller) {
              requested += 1;
              if (requested === 64) controller.close();
              else controller.enqueue(piece);
              stalled.open();
              stalled = gate();
            },
          },
          { highWaterMark: 0 },
        );
        return new Response(body);
      },
      { isTls },
    );
    const { body } = await call(transport, address).response;
    body.pause();
    // Until the source has not been asked for 100 turns of the event loop in which it could have been.
    for (let quiet = 0, before = requested; quiet < 100; quiet += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (requested !== before) [quiet, before] = [0, requested];
    }
    expect(requested).toBeLessThan(32);
    let received = 0;
    for await (const chunk of body) received += (chunk as Buffer).byteLength;
    expect([requested, received]).toEqual([64, 63 * megabyte]);
  });

  test('receives a body no faster than it is read', async () => {
    const reading = gate();
    const { address } = await startListener(
      async (request) => {
        await reading.opened;
        return Response.json((await request.arrayBuffer()).byteLength);
      },
      { isTls },
    );
    let given = 0;
    const body = new Readable({
      highWaterMark: 65_536,
      read() {
        given += 1;
        this.push(given > 512 ? null : Buffer.alloc(65_536));
      },
    });
    const { response } = call(transport, address, { method: 'POST', body });
    for (let quiet = 0, before = given; quiet < 100; quiet += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (given !== before) [quiet, before] = [0, given];
    }
    expect(given).toBeLessThan(300);
    reading.open();
    const answer = await response;
    answer.body.setEncoding('utf8');
    expect(await once(answer.body, 'data')).toEqual([String(512 * 65_536)]);
  });

  test.each([
    ['announced', { 'content-length': String(64 * megabyte) }],
    ['unannounced', {}],
  ])('lets a caller read the rejection of an %s body that it is still sending', async (_how, headers) => {
    const { address } = await startListener(
      async (request) => {
        const reader = request.body?.getReader();
        let bytes = 0;
        while (bytes < 4 * megabyte && !request.headers.has('content-length')) {
          bytes += (await reader?.read())?.value?.byteLength ?? Infinity;
        }
        await reader?.cancel();
        return new Response('too large', { status: 413 });
      },
      { isTls },
    );
    const body = new Readable({
      read() {
        setImmediate(() => this.push(Buffer.alloc(65_536)));
      },
    });
    const answer = await fetchText(transport, address, { method: 'POST', headers, body });
    body.destroy();
    expect([answer.status, answer.text]).toEqual([413, 'too large']);
  });

  test('reports a bug of the service in the error format and continues', async () => {
    const { address, logged } = await startListener(
      async (request) => {
        if (request.method === 'POST') throw new Error('a secret path');
        return new Response('fine');
      },
      { isTls },
    );
    const failed = await fetchText(transport, address, { method: 'POST', body: 'text' });
    expect([failed.status, JSON.parse(failed.text)]).toEqual([
      500,
      {
        error: {
          code: 'internal',
          message: expect.not.stringContaining('secret'),
          details: [],
          requestId: failed.headers['x-request-id'],
        },
      },
    ]);
    expect(logged.join()).toContain('a secret path');
    expect((await fetchText(transport, address)).text).toBe('fine');
  });

  test("ends a response whose source fails, so that it doesn't look complete", async () => {
    const { address, logged } = await startListener(
      async () => {
        let isFirst = true;
        const body = new ReadableStream({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 10));
            if (!isFirst) throw new Error('the source broke');
            isFirst = false;
            controller.enqueue(Buffer.from('first'));
          },
        });
        return new Response(body);
      },
      { isTls },
    );
    await expect(fetchText(transport, address)).rejects.toThrow();
    expect(logged.join()).toContain('the source broke');
  });

  test('sends 100 Continue once the body is needed', async () => {
    const { address } = await startListener(async (request) => new Response(await request.text()), { isTls });
    const body = new Readable({ read() {} });
    const { response } = call(transport, address, { method: 'POST', headers: { expect: '100-continue' }, body });
    body.push('wanted');
    body.push(null);
    const answer = await response;
    answer.body.setEncoding('utf8');
    expect(await once(answer.body, 'data')).toEqual(['wanted']);
  });
});

test('rejects an unneeded body before it is sent', async () => {
  const { address } = await startListener(async () => new Response('no', { status: 413 }));
  const connection = new RawConnection(address).send(
    `POST / HTTP/1.1\r\nHost: ${new URL(address).host}\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n\r\n`,
  );
  const text = await connection.receive('no');
  expect(text).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([
  ['not read at all', 0, ''],
  ['read in part', 1, ''],
  ['not read at all and the last of its connection', 0, 'Connection: close\r\n'],
])('reads the rest of a body that was %s, for callers that read after they have sent', async (_how, pieces, last) => {
  const { address } = await startListener(async (request) => {
    const reader = request.body?.getReader();
    for (let piece = 0; piece < pieces; piece += 1) await reader?.read();
    await reader?.cancel();
    return new Response('too large', { status: 413 });
  });
  const connection = new RawConnection(address);
  connection.socket.pause();
  const { host } = new URL(address);
  connection.send(`POST / HTTP/1.1\r\nHost: ${host}\r\n${last}Content-Length: ${32 * megabyte}\r\n\r\n`);
  await new Promise((resolve) => connection.socket.write(Buffer.alloc(32 * megabyte), resolve));
  connection.socket.resume();
  expect(await connection.receive('too large')).toMatch(/^HTTP\/1\.1 413 /);
});

test('sends 100 Continue only when the body is read', async () => {
  const { address } = await startListener(async (request) => new Response(await request.text()));
  const connection = new RawConnection(address).send(
    `POST / HTTP/1.1\r\nHost: ${new URL(address).host}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`,
  );
  await connection.receive('HTTP/1.1 100 Continue');
  connection.send('body');
  expect(await connection.receive('\r\n\r\nbody')).toContain('HTTP/1.1 200 OK');
});

test('responds to pipelined requests in order', async () => {
  const { address } = await startListener(async (request) => new Response(`<${new URL(request.url).pathname}>`));
  const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${new URL(address).host}\r\n\r\n`;
  const connection = new RawConnection(address).send(head('/1') + head('/2') + head('/3'));
  const text = await connection.receive('</3>');
  expect(text.match(/<[^>]+>/g)).toEqual(['</1>', '</2>', '</3>']);
});

test('detects the protocol of a connection whose first bytes arrive one by one', async () => {
  const { address } = await startListener(async () => new Response('yes'));
  const request = `PROPFIND / HTTP/1.1\r\nHost: ${new URL(address).host}\r\n\r\n`;
  const connection = new RawConnection(address);
  connection.socket.setNoDelay(true);
  await once(connection.socket, 'connect');
  for (const byte of request.slice(0, 6)) {
    connection.send(byte);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  connection.send(request.slice(6));
  expect(await connection.receive('yes')).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('frees the port when it closes, and ends open connections', async () => {
  const { address, port, close } = await startListener(async (request) => {
    await aborted(request.signal);
    return new Response();
  });
  const pending = call('HTTP/1.1', address);
  const idle = new RawConnection(address);
  await once(idle.socket, 'connect');
  await close();
  await expect(pending.response).rejects.toThrow();
  await idle.closed;
  const second = await startListener(async () => new Response('second'), { port });
  expect((await fetchText('HTTP/1.1', second.address)).text).toBe('second');
});

test("reports the port in use with the system's error", async () => {
  const { port } = await startListener(async () => new Response());
  await expect(startListener(async () => new Response(), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
