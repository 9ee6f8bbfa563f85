import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket as Caller } from 'ws';
import type { HostFetch, HostRequest } from '../../renderer/host/host-fetch.ts';
import { createSocketFetch, openSocket } from '../../renderer/host/socket-fetch.ts';
import { AppError } from '../../shared/app-error.ts';
import { initialCredit } from '../../shared/port-frames.ts';
import { socketProtocol } from '../../shared/window-socket.ts';
import { RawConnection } from '../support/http-clients.ts';
import { startSocketWindow } from '../support/socket-window.ts';

const lasting: HostRequest = { method: 'GET', path: '/', headers: {}, body: null, isLasting: true };

const direct: HostFetch = async () => new Response('direct');

/** An answer that has begun and never ends, and whether its caller has left. */
function endlessAnswer() {
  const left = Promise.withResolvers<void>();
  const fetch = async (request: Request) => {
    request.signal.addEventListener('abort', () => left.resolve());
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([49])) }));
  };
  return { fetch, left: left.promise };
}

async function firstByte(response: Response): Promise<number | undefined> {
  return (await response.body!.getReader().read()).value?.[0];
}

/** The status with which a socket is refused. */
async function rejectionOf(
  address: string,
  headers: Record<string, string>,
  protocols: string[],
): Promise<number | undefined> {
  const caller = new Caller(`${address.replace('http', 'ws')}/window/socket`, protocols, { headers });
  const [, response] = (await once(caller, 'unexpected-response')) as [unknown, { statusCode?: number }];
  caller.on('error', () => {});
  caller.terminate();
  return response.statusCode;
}

describe('the socket of a window in a browser', () => {
  test("transfers a request and every byte of its response as the window's", async () => {
    const bytes = new Uint8Array(3 * initialCredit + 17).map((_, index) => index % 251);
    const seen: unknown[] = [];
    const window = await startSocketWindow(async (request, { access }) => {
      seen.push([request.method, new URL(request.url).pathname, await request.text(), access]);
      return new Response(bytes, { status: 203, headers: { 'x-one': '1' } });
    });
    const hostFetch = createSocketFetch({ direct, open: openSocket });
    const response = await hostFetch({ ...lasting, method: 'POST', path: '/a/b', body: '{"ü":1}' });
    expect([response.status, response.headers.get('x-one')]).toEqual([203, '1']);
    expect(Buffer.compare(await response.bytes(), bytes)).toBe(0);
    expect(seen).toEqual([['POST', '/a/b', '{"ü":1}', 'window']]);
    expect(window.sockets).toHaveLength(1);
  });

  test('carries what several responses have at the same time in one message', async () => {
    const texts = ['', 'ü', 'x'.repeat(70_000), 'y'.repeat(300)];
    await startSocketWindow(async ({ url }) => {
      const [first, second] = [new URL(url).pathname.slice(1), 'end'].map((text) => Buffer.from(text));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          if (first!.byteLength > 0) controller.enqueue(first!);
          setImmediate(() => (controller.enqueue(second!), controller.close()));
        },
      });
      return new Response(body);
    });
    const hostFetch = createSocketFetch({ direct, open: openSocket });
    const answers = await Promise.all(
      texts.map(async (text) => (await hostFetch({ ...lasting, path: `/${text}` })).text()),
    );
    expect(answers.map((answer) => decodeURIComponent(answer))).toEqual(texts.map((text) => `${text}end`));
  });

  test('also works with a certificate', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const window = await startSocketWindow(async () => new Response('secured'), { isTls: true });
    const response = await createSocketFetch({ direct, open: openSocket })(lasting);
    vi.unstubAllEnvs();
    expect([await response.text(), new URL(window.sockets[0]!.url).protocol]).toEqual(['secured', 'wss:']);
  });

  test('carries a hundred endless responses at once, while short requests use another connection', async () => {
    const { fetch } = endlessAnswer();
    const window = await startSocketWindow(fetch);
    const hostFetch = createSocketFetch({ direct, open: openSocket });
    const responses = await Promise.all(Array.from({ length: 100 }, () => hostFetch(lasting)));
    expect(new Set(await Promise.all(responses.map(firstByte)))).toEqual(new Set([49]));
    expect(window.sockets).toHaveLength(1);
    expect(await (await hostFetch({ ...lasting, isLasting: false })).text()).toBe('direct');
  });

  test('notifies the host of the one request that its caller aborted', async () => {
    const { fetch, left } = endlessAnswer();
    await startSocketWindow(fetch);
    const controller = new AbortController();
    const response = await createSocketFetch({ direct, open: openSocket })({ ...lasting, signal: controller.signal });
    const reading = response.text();
    controller.abort();
    await expect(reading).rejects.toThrow(/abort/i);
    await left;
  });

  test('aborts its requests when the window closes, and fails them when the host ends', async () => {
    const { fetch, left } = endlessAnswer();
    const window = await startSocketWindow(fetch);
    const hostFetch = createSocketFetch({ direct, open: openSocket });
    const first = await hostFetch(lasting);
    window.sockets[0]!.close();
    await left;
    await expect(first.text()).rejects.toThrow(AppError);

    const second = (await hostFetch(lasting)).text();
    const failed = expect(second).rejects.toThrow(/isn't responding/);
    await window.close();
    await failed;
    expect(window.sockets).toHaveLength(2);
  });

  test("reports the host's reason through an ordinary request if the socket is rejected", async () => {
    const window = await startSocketWindow(async () => new Response());
    await window.close();
    const response = await createSocketFetch({ direct, open: openSocket })(lasting);
    expect(await response.text()).toBe('direct');
  });

  test("doesn't make an aborted request wait for it", async () => {
    const controller = new AbortController();
    const hostFetch = createSocketFetch({ direct, open: () => new Promise(() => {}) });
    const answer = hostFetch({ ...lasting, signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow('stopped');
  });

  test('is dropped when it falls silent, and not while the host responds', async () => {
    const { fetch } = endlessAnswer();
    const window = await startSocketWindow(fetch);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const port = await openSocket();
    const lost = Promise.withResolvers<string>();
    port.onClose(() => lost.resolve('lost'));
    const [socket] = window.sockets as [WebSocket];
    for (let minute = 0; minute < 10; minute += 1) {
      // First it was silent, then it is asked; the answer is on its way back over a real connection.
      const heard = new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
      await vi.advanceTimersByTimeAsync(60_000);
      await heard;
    }
    expect(socket.readyState).toBe(socket.OPEN);

    // Answers are swallowed from now on, as by a network that is gone.
    socket.dispatchEvent = () => true;
    await vi.advanceTimersByTimeAsync(150_000);
    vi.useRealTimers();
    expect(await lost.promise).toBe('lost');
  });

  test.each([
    ['no cookie', { origin: 'OWN', cookie: '' }, 401],
    ['a made-up cookie', { origin: 'OWN', cookie: 'touchstone_PORT=guess' }, 401],
    ['no page that asks', { cookie: 'COOKIE' }, 401],
    ['a page of another site', { origin: 'https://evil.example', cookie: 'COOKIE' }, 403],
    ['a page on another port', { origin: 'http://127.0.0.1:1', cookie: 'COOKIE' }, 403],
    ['another name of the machine', { origin: 'OWN', cookie: 'COOKIE', host: 'rebound.example' }, 421],
    ['an API key', { origin: 'OWN', cookie: 'COOKIE', authorization: 'Bearer ts_x' }, 401],
  ])('rejects a caller with %s', async (_what, given: Record<string, string>, status) => {
    const window = await startSocketWindow(async () => new Response());
    const fill = (text: string) =>
      text.replace('OWN', window.address).replace('COOKIE', window.cookie).replace('PORT', String(window.port));
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fill(value)]));
    expect(await rejectionOf(window.address, headers, [socketProtocol, window.secret])).toBe(status);
  });

  test.each([
    ['none', []],
    ['no secret', [socketProtocol]],
    ['a made-up secret', [socketProtocol, 'guess']],
    ['the secret alone', ['SECRET']],
    ['the secret first', ['SECRET', socketProtocol]],
  ])('needs the session secret beside the cookie: subprotocols with %s', async (_what, given: string[]) => {
    const window = await startSocketWindow(async () => new Response());
    const headers = { origin: window.address, cookie: window.cookie };
    const protocols = given.map((name) => name.replace('SECRET', window.secret));
    expect(await rejectionOf(window.address, headers, protocols)).toBe(401);
  });

  test('never returns the session secret in its response', async () => {
    const window = await startSocketWindow(async () => new Response());
    await openSocket();
    expect(window.sockets.map(({ protocol }) => protocol)).toEqual([socketProtocol]);
  });

  test.each([
    ['HTTP/2', 'GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'],
    ['a socket elsewhere', 'GET /window/other HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('ignores a caller that offers %s, which gets an ordinary response', async (_what, head) => {
    const { address, port } = await startSocketWindow(async () => new Response('as ever'));
    const connection = new RawConnection(address).send(`${head}Host: 127.0.0.1:${port}\r\n\r\n`);
    expect(await connection.receive('\r\n\r\n')).toMatch(/^HTTP\/1\.1 (200|401) /);
  });
});
