// @module-tag slow
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Api } from '../../electron/api/api.ts';
import type { ListenerLimits } from '../../electron/server/listener-limits.ts';
import { call, fetchText, RawConnection, startListener } from '../support/http-clients.ts';
import { emptySettings, flags, frame, getRequest, literal, preface, uint32 } from '../support/http2-frames.ts';

const echo: Api['fetch'] = async (request) => new Response(`<${await request.text()}>`);

/** A listener that must still answer both protocols after what the test did to it. */
async function startVictim(limits: Partial<ListenerLimits> = {}, fetch: Api['fetch'] = echo) {
  const listener = await startListener(fetch, { limits });
  const { host } = new URL(listener.address);
  return {
    ...listener,
    host,
    connect: () => new RawConnection(listener.address),
    async expectAlive() {
      for (const transport of ['HTTP/1.1', 'HTTP/2'] as const) {
        const answer = await fetchText(transport, listener.address, { method: 'POST', body: 'alive' });
        expect(answer.text).toBe('<alive>');
      }
    },
  };
}

function errorOf(text: string): unknown {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)).error.code;
}

describe('malformed HTTP/1.1', () => {
  test.each([
    ['words', 'HELLO WORLD HOW ARE YOU\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/3.7\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost HOST\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : HOST\r\n\r\n'],
    ['a zero byte in a header', 'GET / HTTP/1.1\r\nHost: HOST\r\nx: a\0b\r\n\r\n'],
    ['a lone carriage return', 'GET / HTTP/1.1\r\nHost: HOST\r\nx: a\rb\r\n\r\n'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n'],
    ['two different lengths', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks, as used for smuggling',
      'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG',
    ],
    ['a coding that ends in something else', 'POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, x\r\n\r\n'],
    ['bytes of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('responds to %s with 400 in the error format and closes the connection', async (_what, text) => {
    const { connect, host, expectAlive } = await startVictim();
    const answer = await connect()
      .send(Buffer.from(text.replace('HOST', host), 'latin1'))
      .untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/^x-request-id: /m);
    expect(errorOf(answer)).toBe('invalid_request');
    await expectAlive();
  });

  test('a malformed chunk in the middle of a body ends the connection', async () => {
    const { connect, host, expectAlive } = await startVictim();
    const connection = connect();
    connection.send(`POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nZZ\r\n`);
    expect(await connection.untilClosed()).not.toContain('200');
    await expectAlive();
  });

  test.each([
    ['one huge header', (): string => `x: ${'a'.repeat(1_000_000)}\r\n`],
    ['very many headers', (): string => 'x-a: b\r\n'.repeat(100_000)],
  ])('rejects %s in the error format', async (_what, headers) => {
    const { connect, host, expectAlive } = await startVictim();
    const answer = await connect().send(`GET / HTTP/1.1\r\nHost: ${host}\r\n${headers()}\r\n`).untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(errorOf(answer)).toBe('payload_too_large');
    await expectAlive();
  });

  test('rejects a huge header with 431 on a connection that has served a request, but not within a response', async () => {
    const { connect, host } = await startVictim({}, async ({ url }) => {
      if (!url.endsWith('/open')) return new Response('whole');
      return new Response(new ReadableStream({ start: (own) => own.enqueue(Buffer.from('part')) }));
    });
    const huge = `GET / HTTP/1.1\r\nHost: ${host}\r\nx: ${'a'.repeat(64_000)}\r\n\r\n`;
    const served = connect().send(`GET /whole HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await served.receive('whole');
    expect(await served.send(huge).untilClosed()).toContain('HTTP/1.1 431 Request Header Fields Too Large\r\n');
    const open = connect().send(`GET /open HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await open.receive('part');
    expect(await open.send(huge).untilClosed()).not.toContain('431');
  });

  test("rejects a method or a header that Fetch doesn't support, in the error format", async () => {
    const { connect, host } = await startVictim();
    const connection = connect().send(`CONNECT evil.example:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const rejected = await connection.untilClosed();
    expect(rejected).toMatch(/^HTTP\/1\.1 405 /);
    expect(errorOf(rejected)).toBe('method_not_allowed');
    const other = connect().send(`GET /%zz?\\ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await other.untilClosed()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("errors of Node's parser on the path of a provider's API", () => {
  const failures: readonly [status: number, rest: string][] = [
    [431, `x: ${'a'.repeat(1_000_000)}\r\n\r\n`],
    [431, `${'x-a: b\r\n'.repeat(100_000)}\r\n`],
    [400, 'Content-Length: -1\r\n\r\n'],
    [408, ''],
  ];
  const typesOf = {
    openai: { 431: 'invalid_request_error', 400: 'invalid_request_error', 408: 'invalid_request_error' },
    anthropic: { 431: 'request_too_large', 400: 'invalid_request_error', 408: 'invalid_request_error' },
    gemini: { 431: 'INVALID_ARGUMENT', 400: 'INVALID_ARGUMENT', 408: 'INVALID_ARGUMENT' },
  } as const;
  const cases = (Object.keys(typesOf) as (keyof typeof typesOf)[]).flatMap((api) =>
    failures.map(([status, rest], index) => ({ api, status: status as 400 | 408 | 431, rest, index })),
  );

  /** What tells the formats apart. */
  function typeIn(api: keyof typeof typesOf, answer: string): unknown {
    const { error } = JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4));
    return api === 'gemini' ? error.status : error.type;
  }

  test.each(cases)('have the format of $api: $status, case $index', async ({ api, status, rest }) => {
    const { connect, host, expectAlive } = await startVictim({ headTime: 500 });
    const connection = connect();
    for (const part of [
      `POST /${api}/v1/x?key=secret HTTP/1.1\r\n`,
      `Host: ${host}\r\nAuthorization: Bearer sk-own\r\n`,
      rest,
    ])
      connection.send(part);
    const answer = await connection.untilClosed();
    expect([answer.slice(0, 12), typeIn(api, answer)]).toEqual([`HTTP/1.1 ${status}`, typesOf[api][status]]);
    expect(answer).toMatch(/^connection: close\r$/m);
    expect(answer).toContain(`x-should-retry: ${status === 408}\r\n`);
    expect(answer).not.toMatch(/secret|sk-own|\.ts\b|HPE_/);
    await expectAlive();
  });

  test('have it on a connection that served a request of that API, and in the absolute form', async () => {
    const { connect, host } = await startVictim();
    const served = connect().send(`GET /anthropic/v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await served.receive('<>');
    expect(typeIn('anthropic', await served.send('wrong\r\n\r\n').untilClosed())).toBe('invalid_request_error');
    const absolute = connect().send(`POST http://${host}/gemini/v1/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n`);
    expect(typeIn('gemini', await absolute.untilClosed())).toBe('INVALID_ARGUMENT');
  });

  test('have it in the middle of a body', async () => {
    const { connect, host } = await startVictim();
    const head = `POST /anthropic/v1/messages HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await connect().send(`${head}4\r\nbody\r\nZZ\r\n`).untilClosed();
    expect(typeIn('anthropic', answer)).toBe('invalid_request_error');
  });

  test('have it over HTTP/2, whose connection stays open', async () => {
    const { address, expectAlive } = await startVictim();
    const session = connectHttp2(address);
    onTestFinished(() => session.destroy());
    const path = '/anthropic/v1/models?key=secret';
    const long = Array.from({ length: 12 }, (_, index) => [`x-${index}`, 'a'.repeat(4000)]);
    const huge = session.request({ ':path': path, ...Object.fromEntries(long) });
    const [rejected] = await once(huge, 'response');
    const body = (await huge.toArray()).join('');
    expect([rejected[':status'], JSON.parse(body).error.type]).toEqual([431, 'request_too_large']);
    expect(body).not.toContain('secret');
    const [headers] = await once(session.request({ ':path': path }), 'response');
    expect(headers[':status']).toBe(200);
    await expectAlive();
  });
});

describe('slow callers', () => {
  // As short as a caller that is not slow still keeps on a machine that is.
  const limits = { headTime: 500, bodyTime: 500, lingerTime: 500, idleTime: 500 };

  test('closes a connection that sends nothing', async () => {
    const { connect, expectAlive } = await startVictim(limits);
    expect(await connect().untilClosed()).toBe('');
    await expectAlive();
  });

  test('closes a connection that sends half of a method', async () => {
    const { connect } = await startVictim(limits);
    expect(await connect().send('PR').untilClosed()).toBe('');
  });

  test('rejects a head that never ends and closes the connection', async () => {
    const { connect, host, expectAlive } = await startVictim(limits);
    const connection = connect().send(`GET / HTTP/1.1\r\nHost: ${host}\r\n`);
    const drip = setInterval(() => connection.send('x-a: b\r\n'), 20);
    const answer = await connection.untilClosed();
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    await expectAlive();
  });

  test('closes the connection for an endless head after a response', async () => {
    const { connect, host } = await startVictim(limits);
    const connection = connect().send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await connection.receive('<>');
    await connection.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n`).closed;
  });

  test.each(['HTTP/1.1', 'HTTP/2'] as const)(
    'a body over %s that never ends is refused in the error form',
    async (transport) => {
      const { address, expectAlive } = await startVictim(limits);
      const { PassThrough } = await import('node:stream');
      const body = new PassThrough();
      const drip = setInterval(() => body.write('a'), 20);
      const answer = await fetchText(transport, address, { method: 'POST', body });
      clearInterval(drip);
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([400, 'invalid_request']);
      await expectAlive();
    },
  );

  test('a large body may take long while bytes arrive', async () => {
    const arrived = Promise.withResolvers<void>();
    const { connect, host } = await startVictim(
      { ...limits, bodyTime: 1500, smallBody: 1000 },
      async (request, context) => {
        arrived.resolve();
        return echo(request, context);
      },
    );
    const connection = connect().send(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2010\r\n\r\n`);
    await arrived.promise;
    connection.send('a'.repeat(2000));
    for (let piece = 0; piece < 10; piece += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      connection.send('b');
    }
    expect(await connection.receive('bbb>')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('closes the connection of a caller that keeps sending after the response', async () => {
    const { connect, host } = await startVictim(
      { ...limits, bodyTime: 60_000 },
      async () => new Response('no', { status: 413 }),
    );
    const connection = connect().send(`POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const drip = setInterval(() => connection.send('1\r\na\r\n'), 20);
    const answer = await connection.untilClosed();
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['sends only the preface', () => Buffer.concat([preface, emptySettings])],
    [
      'leaves its head unfinished',
      (host: string) => Buffer.concat([preface, emptySettings, frame('headers', flags.endStream, 1, getRequest(host))]),
    ],
  ])('closes an HTTP/2 connection that %s', async (_what, bytes) => {
    const { connect, host, expectAlive } = await startVictim(limits);
    await connect().send(bytes(host)).closed;
    await expectAlive();
  });

  test('closes an HTTP/2 connection without requests, but not one with a request', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { address } = await startVictim(limits, async () => {
      await promise;
      return new Response('patience');
    });
    const idle = connectHttp2(address);
    const pending = call('HTTP/2', address);
    await once(idle, 'close');
    resolve();
    const { body } = await pending.response;
    expect(String(await once(body, 'data'))).toBe('patience');
  });

  test('drops connections above the limit', async () => {
    const { connect } = await startVictim({ connections: 2 });
    const stored = [connect(), connect()];
    await Promise.all(stored.map(({ socket }) => once(socket, 'connect')));
    await connect().closed;
    expect(stored.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });
});

describe('malformed HTTP/2', () => {
  const begin = Buffer.concat([preface, emptySettings]);
  const after = (...frames: Buffer[]) => Buffer.concat([begin, ...frames]);

  test.each([
    ['a preface that goes wrong', () => Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')],
    ['garbage after the preface', () => Buffer.concat([preface, Buffer.from('garbage'.repeat(100))])],
    [
      'a request before the settings',
      (host: string) => Buffer.concat([preface, frame('headers', 5, 1, getRequest(host))]),
    ],
    ['a frame that is too long', () => after(frame('headers', 5, 1, Buffer.alloc(20_000)))],
    ['a frame of 16 MB', () => after(frame('data', 0, 1, 'x', 0xffffff), Buffer.alloc(20_000))],
    ['headers on stream 0', (host: string) => after(frame('headers', 5, 0, getRequest(host)))],
    ['headers on an even stream', (host: string) => after(frame('headers', 5, 2, getRequest(host)))],
    ['data on a stream that was never opened', () => after(frame('data', 1, 1, 'x'))],
    ['data on stream 0', () => after(frame('data', 1, 0, 'x'))],
    ['a reset of a stream that was never opened', () => after(frame('reset', 0, 1, uint32(8)))],
    ['a reset of the wrong length', () => after(frame('reset', 0, 1, 'abc'))],
    ['settings of the wrong length', () => after(frame('settings', 0, 0, 'abc'))],
    ['settings on a stream', () => after(frame('settings', 0, 1, ''))],
    ['an acknowledgement with contents', () => after(frame('settings', 1, 0, 'abcdef'))],
    ['a window that is too large', () => after(frame('settings', 0, 0, Buffer.from([0, 4, 0xff, 0xff, 0xff, 0xff])))],
    ['a frame size that is too small', () => after(frame('settings', 0, 0, Buffer.from([0, 5, 0, 0, 0, 1])))],
    ['a ping of the wrong length', () => after(frame('ping', 0, 0, 'abc'))],
    ['a ping on a stream', () => after(frame('ping', 0, 1, 'abcdefgh'))],
    ['a window update by 0', () => after(frame('windowUpdate', 0, 0, uint32(0)))],
    [
      'a window that overflows',
      () => after(frame('windowUpdate', 0, 0, uint32(0x7fffffff)), frame('windowUpdate', 0, 0, uint32(0x7fffffff))),
    ],
    ['a continuation of nothing', (host: string) => after(frame('continuation', 4, 1, getRequest(host)))],
    [
      'another frame between headers and continuation',
      (host: string) => after(frame('headers', 1, 1, getRequest(host)), frame('ping', 0, 0, 'abcdefgh')),
    ],
    ['padding longer than the frame', () => after(frame('headers', flags.padded | 5, 1, Buffer.from([200, 0x82])))],
    ['a push promise from a client', () => after(frame('pushPromise', 4, 1, uint32(2)))],
    [
      'headers that cannot be unpacked',
      () => after(frame('headers', 5, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))),
    ],
    ['an index outside the table', () => after(frame('headers', 5, 1, Buffer.from([0xfe])))],
  ])('%s ends the connection', async (_what, bytes) => {
    const { connect, host, expectAlive } = await startVictim({ headTime: 2000 });
    const connection = connect().send(bytes(host));
    await connection.closed;
    expect(connection.text).not.toContain('<>');
    await expectAlive();
  });

  test.each([
    ['an upper-case name', [literal('X-Upper', 'a')]],
    ['a connection header', [literal('connection', 'close')]],
    ['an unknown pseudo header', [literal(':unknown', 'a')]],
    ['a second path', [literal(':path', '/2')]],
    ['a length that is not true', [literal('content-length', '5')]],
  ])('a request with %s never reaches the service', async (_what, fields) => {
    let reached = 0;
    const { connect, host } = await startVictim({}, async () => {
      reached += 1;
      return new Response('reached');
    });
    const block = Buffer.concat([getRequest(host), ...fields]);
    const bytes = after(frame('headers', 5, 1, block), frame('goAway', 0, 0, Buffer.alloc(8)));
    await connect().send(bytes).closed;
    expect(reached).toBe(0);
  });

  test('ignores frames of unknown types and flags', async () => {
    const { connect, host } = await startVictim();
    const connection = connect().send(
      after(frame(0xbe, 0xff, 0, 'what'), frame('headers', 5 | 0x80, 1, getRequest(host))),
    );
    expect(await connection.receive('<>')).toContain('<>');
  });

  test('survives random bytes after the preface, many times', async () => {
    const { connect, expectAlive } = await startVictim({ headTime: 500 });
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) & 255;
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const noise = frame(random() % 10, random(), random() % 4, Buffer.from(Array.from({ length: 64 }, random)));
        await connect().send(Buffer.concat([begin, noise, noise])).closed;
      }),
    );
    await expectAlive();
  });
});

test('a caller over HTTP/2 that closes its side while it reads nothing has left', async () => {
  const left = Promise.withResolvers<void>();
  const { connect, host } = await startVictim({}, async (request) => {
    request.signal.addEventListener('abort', () => left.resolve());
    return new Response(new ReadableStream({ pull: (own) => own.enqueue(Buffer.alloc(65_536)) }));
  });
  const noWindow = frame('settings', 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(0)]));
  const request = frame('headers', flags.endStream | flags.endHeaders, 1, getRequest(host));
  const connection = connect().send(Buffer.concat([preface, noWindow, request]));
  // The head of the response: HEADERS of stream 1.
  await connection.receive('\x01\x04\0\0\0\x01');
  connection.socket.end();
  await left.promise;
});

describe('floods over HTTP/2', () => {
  const begin = Buffer.concat([preface, emptySettings]);

  test('requests that are reset immediately end the connection and their work', async () => {
    let [started, ended] = [0, 0];
    const { connect, host, expectAlive } = await startVictim({}, async (request) => {
      if (request.method === 'POST') return echo(request, { access: 'network' });
      started += 1;
      await new Promise<void>((resolve) => {
        if (request.signal.aborted) resolve();
        request.signal.addEventListener('abort', () => resolve());
      });
      ended += 1;
      return new Response();
    });
    const frames = Array.from({ length: 5000 }, (_, index) => [
      frame('headers', 5, 2 * index + 1, getRequest(host)),
      frame('reset', 0, 2 * index + 1, uint32(8)),
    ]);
    await connect().send(Buffer.concat([begin, ...frames.flat()])).closed;
    await expectAlive();
    // As many as one read of the socket holds; the other thousands are never looked at.
    expect([ended, started < 2000]).toEqual([started, true]);
  });

  test.each([
    ['pings', () => frame('ping', 0, 0, 'abcdefgh')],
    ['settings', () => emptySettings],
    [
      'empty settings that ask for an answer and are never read',
      () => frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 1, 0])),
    ],
  ])('endless %s without reading the responses end the connection', async (_what, make) => {
    const { connect, expectAlive } = await startVictim();
    const connection = connect();
    connection.socket.pause();
    connection.send(begin);
    const flood = Buffer.concat(Array.from({ length: 10_000 }, make));
    const isCut = connection.closed.then(() => true);
    for (let round = 0; round < 200; round += 1) {
      const isSent = new Promise<boolean>((resolve) => connection.socket.write(flood, () => resolve(false)));
      if (await Promise.race([isCut, isSent])) break;
    }
    connection.socket.resume();
    expect(await isCut).toBe(true);
    await expectAlive();
  });

  test('endless continuations end the connection', async () => {
    const { connect, host, expectAlive } = await startVictim();
    const pieces = Array.from({ length: 10_000 }, () => frame('continuation', 0, 1, literal('x-a', 'b'.repeat(100))));
    await connect().send(Buffer.concat([begin, frame('headers', 1, 1, getRequest(host)), ...pieces])).closed;
    await expectAlive();
  });

  test('a header bomb of a few bytes never reaches the service', async () => {
    let reached = 0;
    const { connect, host, expectAlive } = await startVictim({ headTime: 500 }, async (request) => {
      if (request.method === 'POST') return echo(request, { access: 'network' });
      reached += 1;
      return new Response();
    });
    // Kept in the table once (0x40: index it), then named by its index (0xbe) again and again.
    const large = Buffer.concat([Buffer.from([0x40]), literal('x-a', 'b'.repeat(3000)).subarray(1)]);
    const bomb = Buffer.concat([getRequest(host), large, Buffer.alloc(10_000, 0xbe)]);
    await connect().send(Buffer.concat([begin, frame('headers', 5, 1, bomb)])).closed;
    expect(reached).toBe(0);
    await expectAlive();
  });

  test('no more requests at a time than allowed reach the service', async () => {
    let [now, maxActive] = [0, 0];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { address } = await startVictim({ streams: 4 }, async () => {
      now += 1;
      maxActive = Math.max(maxActive, now);
      await promise;
      now -= 1;
      return new Response();
    });
    const session = connectHttp2(address);
    onTestFinished(() => session.destroy());
    await once(session, 'remoteSettings');
    const streams = Array.from({ length: 12 }, () => session.request({ ':path': '/' }).resume());
    // By the answer to a ping everything that was sent before it has been looked at.
    await new Promise((pinged) => session.ping(pinged));
    resolve();
    await Promise.all(streams.map((stream) => once(stream, 'close')));
    expect(maxActive).toBeLessThanOrEqual(4);
    expect(streams.map((stream) => stream.rstCode)).toEqual(Array(12).fill(0));
  });
});
