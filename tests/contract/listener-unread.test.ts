// @module-tag slow
import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as connectSocket, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Api } from '../../electron/api/api.ts';
import { JsonResponse } from '../../electron/api/json-response.ts';
import { defaultLimits, type ListenerLimits } from '../../electron/server/listener-limits.ts';
import { createClearServer } from '../../electron/server/port-server.ts';
import { fetchText, RawConnection, startListener } from '../support/http-clients.ts';

const megabyte = 1_048_576;

/** What a key says of itself in these tests. */
const withKey = { authorization: 'Bearer known' };
const isKnown: Api['isKnown'] = ({ headers }) => headers['authorization'] === withKey.authorization;

/** More than the buffers of the operating system take. */
const text = 'a'.repeat(16 * megabyte);

const answerLong: Api['fetch'] = async (request) =>
  request.url.endsWith('/short') ? new Response('short') : new JsonResponse({ text });

async function startVictim(limits: Partial<ListenerLimits>, fetch: Api['fetch'] = answerLong) {
  const { address, port } = await startListener(fetch, { limits, isKnown });
  return {
    address,
    /** A session whose streams take nothing before they are read. */
    session: (initialWindowSize = 0): ClientHttp2Session => {
      const session = connect(address, { settings: { initialWindowSize } }).on('error', () => {});
      onTestFinished(() => session.destroy());
      return session;
    },
    /** An HTTP/1.1 connection that reads nothing. */
    deaf: (path = '/') => {
      const connection = new RawConnection(address);
      connection.socket.pause();
      return connection.send(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    },
    short: async (headers: Record<string, string> = {}) =>
      (await fetchText('HTTP/1.1', address, { path: '/short', headers })).text,
  };
}

/** Also after an error. */
function untilClosed(stream: ClientHttp2Stream | ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => void stream.once('close', () => resolve()));
}

function ask(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  return session.request({ ':path': '/', ...headers }).on('error', () => {});
}

describe('a stranger that reads nothing', () => {
  const limits = { strangerStallTime: 300, stallTime: 60_000, strangerIdleTime: 60_000 };

  test('over HTTP/2 loses its connection, and other callers are served meanwhile', async () => {
    const { session, short } = await startVictim(limits);
    const deaf = session();
    ask(deaf);
    const cut = untilClosed(deaf);
    expect(await short()).toBe('short');
    await cut;
  });

  test('over HTTP/1.1 loses its connection, and other callers are served meanwhile', async () => {
    const { deaf, short } = await startVictim(limits);
    const { socket, closed } = deaf();
    expect(await short()).toBe('short');
    // A paused socket hears of the end only when it writes.
    const pulse = setInterval(() => socket.write('\r\n'), 50);
    await closed;
    clearInterval(pulse);
  });

  test('loses its connection although it keeps sending', async () => {
    const { session } = await startVictim(limits);
    const deaf = session();
    ask(deaf);
    const pulse = setInterval(() => !deaf.destroyed && deaf.ping(() => {}), 20);
    await untilClosed(deaf);
    clearInterval(pulse);
  });

  test('gets two responses at a time, and its further requests are rejected', async () => {
    let made = 0;
    const { session } = await startVictim(
      { ...limits, strangerStallTime: 60_000, strangerRequests: 4 },
      async (request, context) => {
        made += 1;
        return answerLong(request, context);
      },
    );
    const deaf = session();
    const streams = Array.from({ length: 6 }, () => ask(deaf));
    const started = streams.slice(0, 2).map((stream) => once(stream, 'response'));
    await Promise.all([...started, ...streams.slice(4).map(untilClosed)]);
    expect(streams.map(({ rstCode }) => rstCode).slice(4)).toEqual(Array(2).fill(constants.NGHTTP2_REFUSED_STREAM));
    expect(made).toBe(2);
    streams[0]!.close(constants.NGHTTP2_CANCEL);
    await once(streams[2]!, 'response');
    expect(made).toBe(3);
  });
});

test('a stranger that opens too many requests loses its connection, and most are never processed', async () => {
  let made = 0;
  const { session } = await startVictim({ strangerRequests: 4, strangerStallTime: 60_000 }, async () => {
    made += 1;
    return new Response('short');
  });
  const stranger = session();
  for (let request = 0; request < 100; request += 1) ask(stranger);
  await untilClosed(stranger);
  expect(made).toBeLessThanOrEqual(4);
});

test('of many simultaneous connections with a request a few are served in each turn of the event loop', async () => {
  const count = 60;
  let turn = 0;
  let ticking = setImmediate(function tick() {
    turn += 1;
    ticking = setImmediate(tick);
  });
  onTestFinished(() => clearImmediate(ticking));
  const servedIn = new Map<number, number>();
  const allServed = Promise.withResolvers<void>();
  let served = 0;
  const serve = (socket: Socket): void => {
    socket.destroy();
    servedIn.set(turn, (servedIn.get(turn) ?? 0) + 1);
    served += 1;
    if (served === count) allServed.resolve();
  };
  const server = createClearServer({ http1: serve, http2: serve }, defaultLimits).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let accepted = 0;
  const allAccepted = Promise.withResolvers<void>();
  server.on('connection', () => ++accepted === count && allAccepted.resolve());
  const sockets = Array.from({ length: count }, () => connectSocket(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  await Promise.all([allAccepted.promise, ...sockets.map((socket) => once(socket, 'connect'))]);
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n');
  await allServed.promise;
  expect(Math.max(...servedIn.values())).toBeLessThanOrEqual(8);
});

describe('a stranger', () => {
  test('gets the whole response if it reads slowly', async () => {
    const { session } = await startVictim({ strangerStallTime: 1500 });
    const stream = ask(session(65_536));
    let length = 0;
    let pieces = 0;
    for await (const chunk of stream) {
      length += (chunk as Buffer).byteLength;
      // In total longer than it may take nothing.
      if (length > pieces * 4 * megabyte) {
        pieces += 1;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    expect(length).toBe(JSON.stringify({ text }).length);
  });

  test("loses an idle connection, and a known caller doesn't", async () => {
    const { session } = await startVictim({ strangerIdleTime: 300 });
    const [known, stranger] = [session(65_535), session(65_535)];
    const closed = untilClosed(stranger);
    // At once: a connection without a request is idle, too.
    await Promise.all([
      once(ask(known, { ':path': '/short', ...withKey }).resume(), 'end'),
      once(ask(stranger, { ':path': '/short' }).resume(), 'end'),
    ]);
    await closed;
    expect(known.closed).toBe(false);
  });

  test('replaces the stranger that has been idle longest when too many made a request', async () => {
    const { session } = await startVictim({ strangers: 2 });
    const [first, second, third] = [session(65_535), session(65_535), session(65_535)];
    const short = async (from: ClientHttp2Session) => once(ask(from, { ':path': '/short' }).resume(), 'end');
    await short(first);
    await short(second);
    await short(first);
    const removed = untilClosed(second);
    await short(third);
    await removed;
    expect([first.closed, third.closed]).toEqual([false, false]);
  });

  test('is replaced by a new caller when the listener is full', async () => {
    const { deaf, short } = await startVictim({ connections: 3 });
    const connections = [deaf(), deaf(), deaf()];
    for (const { socket } of connections) {
      socket.resume();
      await once(socket, 'data');
      socket.pause();
    }
    expect(await short(withKey)).toBe('short');
  });
});

describe('a caller with a key that reads nothing', () => {
  test('loses only the response, and only after a long time', async () => {
    const { session } = await startVictim({ stallTime: 900, strangerStallTime: 100 });
    // Room for the short response only.
    const known = session(1000);
    const stalled = ask(known, withKey);
    await once(stalled, 'response');
    await untilClosed(stalled);
    expect(stalled.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
    const stream = ask(known, { ':path': '/short', ...withKey });
    expect(String(await once(stream, 'data'))).toBe('short');
  });

  test('gets no further response until it reads', async () => {
    let made = 0;
    const { session } = await startVictim({ unreadBytes: 20 * megabyte }, async (request, context) => {
      made += 1;
      return answerLong(request, context);
    });
    const known = session();
    const [first, second] = [ask(known, withKey), ask(known, withKey)];
    await Promise.all([once(first, 'response'), once(second, 'response')]);
    const further = ask(known, withKey);
    await new Promise((pinged) => known.ping(pinged));
    expect(made).toBe(2);
    first.close(constants.NGHTTP2_CANCEL);
    await once(further, 'response');
    expect(made).toBe(3);
  });

  test('stays known for the rest of the connection, whose earlier requests waited', async () => {
    const { session } = await startVictim({ unreadBytes: 1024 * megabyte });
    const deaf = session();
    const streams = Array.from({ length: 6 }, (_, index) => ask(deaf, index === 5 ? withKey : {}));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
  });
});
