import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, Server, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { JsonResponse } from '../../electron/api/json-response.ts';
import { PassedResponse } from '../../electron/api/passed-response.ts';
import { PassedCall } from '../../electron/passthrough/passed-call.ts';
import { createDownloadTickets } from '../../electron/server/browser-window.ts';
import { contentSecurityPolicy } from '../../electron/server/window-content.ts';
import { AppError } from '../../shared/app-error.ts';
import { sessionHeader } from '../../shared/window-socket.ts';
import {
  fetchText,
  RawConnection,
  startListener,
  temporaryFolder,
  type CallerRequest,
} from '../support/http-clients.ts';
import { readSession } from '../support/sign-in.ts';

const token = 'start-up-token';

/** A listener whose API says where a request came in, with a small built window. */
async function startWithWindow() {
  const folder = await temporaryFolder();
  const directory = join(folder, 'window');
  await mkdir(join(directory, 'assets'), { recursive: true });
  await writeFile(join(directory, 'index.html'), '<p>window</p>');
  await writeFile(join(directory, 'favicon.svg'), '<svg/>');
  await writeFile(join(directory, 'assets/main-a1b2.js'), 'export {}');
  await writeFile(join(folder, 'secret.js'), 'outside');
  await symlink(join(folder, 'secret.js'), join(directory, 'assets/link.js'));
  const addresses: string[] = [];
  const downloads = createDownloadTickets();
  const listener = await startListener(
    async (request, { access }) => Response.json({ access, path: new URL(request.url).pathname }, { status: 200 }),
    { window: { directory, token, downloads, onNewAddress: (address) => addresses.push(address) } },
  );
  const get = (path: string, headers: Record<string, string> = {}, others: CallerRequest = {}) =>
    fetchText('HTTP/1.1', listener.address, { path, headers, ...others });
  return { ...listener, get, addresses, downloads };
}

/** The headers of a window that signed in. */
async function signIn(get: Awaited<ReturnType<typeof startWithWindow>>['get']): Promise<Record<string, string>> {
  const answer = await get(`/?token=${token}`);
  return readSession(answer.headers['set-cookie'], answer.text);
}

async function startPlain() {
  const { address, port } = await startListener(
    async () => new Response('reached', { headers: { 'x-request-id': '1' } }),
  );
  return { address, port };
}

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('over %s', (transport) => {
  test.each(['127.0.0.1', 'localhost', '[::1]', 'LocalHost'])('accepts the Host %s with the port', async (name) => {
    const { address, port } = await startPlain();
    const answer = await fetchText(transport, address, { headers: { host: `${name}:${port}` } });
    expect(answer.text).toBe('reached');
  });

  test.each([
    ['a name that was pointed here', 'rebound.example:PORT'],
    ['another port', '127.0.0.1:1'],
    ['no port', 'localhost'],
    ['another loopback address', '127.0.0.2:PORT'],
    ['a name that only begins like ours', 'localhost.example:PORT'],
    ['a dot at the end', 'localhost.:PORT'],
  ])('rejects the Host with %s with 421 in the error format', async (_what, host) => {
    const { address, port } = await startPlain();
    const answer = await fetchText(transport, address, { headers: { host: host.replace('PORT', String(port)) } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      421,
      {
        error: {
          code: 'misdirected_request',
          message: expect.stringContaining('127.0.0.1'),
          details: [],
          requestId: answer.headers['x-request-id'],
        },
      },
    ]);
  });

  test.each(['null', 'https://example.com', 'http://localhost:1', 'http://127.0.0.1', 'file://', ''])(
    'rejects the Origin "%s" with 403',
    async (origin) => {
      const { address } = await startPlain();
      const answer = await fetchText(transport, address, { headers: { origin } });
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([403, 'forbidden']);
    },
  );

  test.each([
    ['/openai/v1/models?a=b', { error: { type: 'invalid_request_error', code: 'misdirected_request' } }],
    ['/anthropic/v1/messages', { type: 'error', error: { type: 'invalid_request_error' } }],
    ['/gemini/v1beta/models', { error: { code: 421, status: 'INVALID_ARGUMENT' } }],
  ])('rejects a wrong Host at %s with the error of that API', async (path, error) => {
    const { address } = await startPlain();
    const answer = await fetchText(transport, address, { path, headers: { host: 'rebound.example' } });
    expect({ status: answer.status, body: JSON.parse(answer.text) }).toMatchObject({ status: 421, body: error });
    const page = await fetchText(transport, address, { path, headers: { origin: 'https://example.com' } });
    expect([page.status, JSON.parse(page.text).error.requestId]).toEqual([403, undefined]);
  });

  test('a call that can not be recorded gets the error of its API', async () => {
    const call = new PassedCall('openai-chat', {
      begin: () => {},
      take: () => {},
      endAtOnce: () => false,
      end: () => Promise.reject(new AppError('internal', 'The disk is full.')),
      fail: () => Promise.resolve(),
    });
    call.begin(200, 'OK', {}, { resume: () => {}, cancel: () => {} }, []);
    call.end();
    await call.whole.catch(() => {});
    const { address } = await startListener(async () => new PassedResponse(call, await call.head, {}));
    const answer = await fetchText(transport, address, { method: 'POST', path: '/openai/v1/chat/completions' });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      500,
      { error: { message: 'The disk is full.', type: 'server_error', param: null, code: 'internal' } },
    ]);
  });

  test('a response whose head Node does not take gets the error of its API', async () => {
    const call = new PassedCall('openai-chat', {
      begin: () => {},
      take: () => {},
      endAtOnce: () => false,
      end: () => Promise.resolve(),
      fail: () => Promise.resolve(),
    });
    call.begin(200, 'OK', { ':odd': '1' }, { resume: () => {}, cancel: () => {} }, [':odd', '1']);
    call.take(Buffer.from('{}'));
    call.end();
    const { address } = await startListener(async () => new PassedResponse(call, await call.head, {}));
    const answer = await fetchText(transport, address, { method: 'POST', path: '/openai/v1/chat/completions' });
    const { error } = JSON.parse(answer.text);
    expect([answer.status, error.message]).toEqual([502, 'The headers of the response can not be passed on.']);
  });

  test.each(['127.0.0.1', 'localhost', '[::1]'])('our own Origin by the name %s passes, without CORS', async (name) => {
    const { address, port } = await startPlain();
    const answer = await fetchText(transport, address, { headers: { origin: `http://${name}:${port}` } });
    expect(answer.text).toBe('reached');
    expect(Object.keys(answer.headers).filter((header) => header.startsWith('access-control'))).toEqual([]);
  });

  test("responses can't be stored, sniffed or embedded by another origin, with or without an error", async () => {
    const { address } = await startListener(async (request) =>
      request.url.endsWith('/kept')
        ? Response.json({}, { headers: { 'cache-control': 'max-age=1' } })
        : new JsonResponse({}, { headers: { 'x-request-id': '1' } }),
    );
    const expected = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    };
    expect((await fetchText(transport, address)).headers).toMatchObject(expected);
    expect((await fetchText(transport, address, { headers: { origin: 'null' } })).headers).toMatchObject(expected);
    const stored = await fetchText(transport, address, { path: '/kept' });
    expect(stored.headers).toMatchObject({ ...expected, 'cache-control': 'max-age=1' });
  });

  test('rejects a preflight of a foreign page', async () => {
    const { address } = await startPlain();
    const headers = { origin: 'https://example.com', 'access-control-request-method': 'POST' };
    expect((await fetchText(transport, address, { method: 'OPTIONS', headers })).status).toBe(403);
  });
});

/** Whether this machine has `::1`. */
const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));

/** Takes a port that is free on `::1`. */
async function takePort(): Promise<number> {
  const server = createServer().listen(0, '::1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe.runIf(hasIpv6)('the other loopback address', () => {
  test.each([false, true])('serves the same, and no other process can take it (TLS: %s)', async (isTls) => {
    const { port } = await startListener(async () => new Response('reached'), { isTls });
    const address = `${isTls ? 'https' : 'http'}://[::1]:${port}`;
    const transport = isTls ? 'HTTP/1.1 over TLS' : 'HTTP/1.1';
    expect((await fetchText(transport, address)).text).toBe('reached');
    const [error] = (await once(createServer().listen(port, '::1'), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('EADDRINUSE');
  });

  test('ends the start and leaves nothing behind if it is in use', async () => {
    const port = await takePort();
    await expect(startListener(async () => new Response(), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const first = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void first.close());
    await once(first, 'listening');
  });

  test("gets another port on both if the system's choice for the first one is in use", async () => {
    const taken = await takePort();
    const chosen: unknown[] = [];
    const listen = Server.prototype.listen as (port: number, host: string) => Server;
    // The system chooses a port that is free on the first address and taken on the other.
    const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (
      this: Server,
      ...parameters: unknown[]
    ) {
      const [port, host] = parameters as [number, string];
      chosen.push(port);
      return listen.call(this, chosen.length === 1 ? taken : port, host);
    });
    onTestFinished(() => spy.mockRestore());
    const { port } = await startListener(async () => new Response('reached'));
    expect(port).not.toBe(taken);
    expect(chosen).toEqual([0, taken, 0, port]);
    for (const host of ['127.0.0.1', '[::1]'])
      expect((await fetchText('HTTP/1.1', `http://${host}:${port}`)).text).toBe('reached');
    spy.mockRestore();
    const free = createServer().listen(taken, '127.0.0.1');
    onTestFinished(() => void free.close());
    await once(free, 'listening');
  });

  test('is free again after the listener has closed', async () => {
    const listener = await startListener(async () => new Response());
    await listener.close();
    const server = createServer().listen(listener.port, '::1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
  });
});

test.each([
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n', 421],
  ['a user before the Host', 'GET / HTTP/1.1\r\nHost: x@localhost:PORT\r\n\r\n', 421],
  ['a foreign authority in its target', 'GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n', 421],
  ['our authority in its target', 'GET http://127.0.0.1:PORT/x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n', 200],
  ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n', 400],
])('responds to a request with %s as documented', async (_what, text, status) => {
  const { address, port } = await startPlain();
  const answer = await new RawConnection(address).send(text.replaceAll('PORT', String(port))).receive('\r\n\r\n');
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toMatch(/^x-request-id: /im);
});

describe('the window in a browser', () => {
  test('its address contains the token', async () => {
    const { address, windowAddress } = await startWithWindow();
    expect(windowAddress).toBe(`${address}/?token=${token}`);
  });

  test('exchanges the token for a cookie and a session secret, and removes it from the address', async () => {
    const { get, port } = await startWithWindow();
    const { status, headers, text } = await get(`/?token=${token}`);
    expect({ status, cache: headers['cache-control'], policy: headers['content-security-policy'] }).toEqual({
      status: 200,
      cache: 'no-store',
      policy: contentSecurityPolicy,
    });
    expect(String(headers['set-cookie'])).toMatch(
      new RegExp(`^touchstone_${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
    );
    const { cookie = '', [sessionHeader]: secret = '' } = readSession(headers['set-cookie'], text);
    expect(cookie).not.toContain(secret);
    expect(JSON.stringify([headers, text])).not.toContain(token);
  });

  test('the token works once; the next address is printed on demand, once for all requests', async () => {
    const { get, addresses, address } = await startWithWindow();
    expect((await get('/')).status).toBe(401);
    expect(addresses).toEqual([]);
    const { cookie = '' } = await signIn(get);
    expect(addresses).toEqual([]);

    const again = await get(`/?token=${token}`);
    expect([again.status, again.headers['set-cookie']]).toEqual([401, undefined]);
    await get('/');
    await get('/window/host', { cookie });
    expect(addresses).toEqual([expect.stringMatching(new RegExp(`^${address}/\\?token=[\\w-]{43}$`))]);
    const next = await get(addresses[0]!.slice(address.length));
    expect(readSession(next.headers['set-cookie'], next.text)).toHaveProperty('cookie', cookie);
  });

  test('a HEAD request leaves the token unused', async () => {
    const { get } = await startWithWindow();
    expect((await get(`/?token=${token}`, {}, { method: 'HEAD' })).headers['set-cookie']).toBeUndefined();
    expect(await signIn(get)).toHaveProperty('cookie');
  });

  test('a used address opens the window in a browser that is signed in', async () => {
    const { get } = await startWithWindow();
    const { cookie = '' } = await signIn(get);
    const { status, headers } = await get(`/?token=${token}`, { cookie });
    expect([status, headers['location'], headers['set-cookie']]).toEqual([303, '/', undefined]);
  });

  test('serves it with the cookie under the strict policy', async () => {
    const { get } = await startWithWindow();
    const { cookie } = await signIn(get);
    const { status, headers, text } = await get('/', { cookie: `other=1; ${cookie}` });
    expect([status, text]).toEqual([200, '<p>window</p>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    });
  });

  test.each([
    ['no cookie', '/', {}],
    ['a wrong token', '/?token=guess', {}],
    ['an empty token', '/?token=', {}],
    ['a made-up cookie', '/', { cookie: 'touchstone_PORT=guess' }],
  ])('with %s it says where to find the address', async (_what, path, headers: Record<string, string>) => {
    const { get, port } = await startWithWindow();
    const cookie = headers['cookie']?.replace('PORT', String(port));
    const answer = await get(path, cookie ? { cookie } : {});
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
    expect(answer.text).toContain('printed in the terminal');
  });

  test.each([
    ['without its cookie', {}],
    ['with the cookie of an earlier start', { cookie: 'touchstone_PORT=earlier' }],
  ])('a page of it %s shows that the address must be opened again', async (_what, headers: Record<string, string>) => {
    const { get, port } = await startWithWindow();
    const cookie = headers['cookie']?.replace('PORT', String(port));
    const ask = (others: Record<string, string>) =>
      get('/window/host', { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...others });
    const answer = await ask({ 'sec-fetch-mode': 'cors' });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('Open the newest address')]);
    // A link that is followed, and a program's key, are what they were.
    expect((await ask({ 'sec-fetch-mode': 'navigate' })).status).toBe(200);
    expect((await ask({ authorization: 'Bearer ts_x' })).status).toBe(200);
  });

  test('hashed files may be kept for good, and are there without a cookie', async () => {
    const { get } = await startWithWindow();
    const { status, headers, text } = await get('/assets/main-a1b2.js');
    expect([status, text, headers['cache-control'], headers['content-type']]).toEqual([
      200,
      'export {}',
      'public, max-age=31536000, immutable',
      'text/javascript; charset=utf-8',
    ]);
    expect((await get('/favicon.svg')).headers['content-type']).toBe('image/svg+xml');
  });

  test.each([
    '/assets/../../secret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/..%5c..%5csecret.js',
    '/assets/link.js',
    '/assets/%00.js',
    '/assets/%ff.js',
    '/assets/missing.js',
    '/assets/',
    '/index.html',
    '/favicon/../../secret.js',
    '/%2e%2e/secret.js',
  ])('%s reaches nothing in or outside the window', async (path) => {
    const { address, port } = await startWithWindow();
    const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
    const text = await new RawConnection(address).send(head).untilClosed();
    expect(text).toContain('{"access":"network"');
  });

  test("other methods and paths are the API's", async () => {
    const { get } = await startWithWindow();
    expect((await get('/', {}, { method: 'POST' })).text).toBe('{"access":"network","path":"/"}');
    expect((await get('/openapi.json')).text).toBe('{"access":"network","path":"/openapi.json"}');
  });
});

describe('a request with the cookie and the session secret of the window', () => {
  const own = 'http://localhost:PORT';
  test.each([
    ['GET', {}, 'window'],
    ['GET', { 'sec-fetch-site': 'same-origin' }, 'window'],
    ['GET', { 'sec-fetch-site': 'same-site' }, 'network'],
    ['GET', { 'sec-fetch-site': 'cross-site' }, 'network'],
    ['GET', { 'sec-fetch-site': 'none' }, 'network'],
    ['POST', {}, 'network'],
    ['POST', { origin: own }, 'window'],
    ['POST', { 'sec-fetch-site': 'same-origin' }, 'window'],
    ['POST', { origin: own, 'sec-fetch-site': 'same-origin' }, 'window'],
    ['POST', { origin: own, 'sec-fetch-site': 'same-site' }, 'network'],
    ['POST', { origin: own, authorization: 'Bearer ts_1' }, 'network'],
    ['GET', { 'x-hl-api-key': 'ts_1' }, 'network'],
    ['POST', { origin: 'https://example.com' }, 'refused'],
    ['GET', { origin: 'null' }, 'refused'],
  ])('%s with %j counts as %s', async (method, headers: Record<string, string>, expected) => {
    const { get, port } = await startWithWindow();
    const { origin, ...others } = headers;
    const answer = await get(
      '/api',
      { ...(await signIn(get)), ...others, ...(origin ? { origin: origin.replace('PORT', String(port)) } : {}) },
      { method },
    );
    expect(answer.status === 403 ? 'refused' : JSON.parse(answer.text).access).toBe(expected);
  });

  test.each([
    ['GET', {}],
    ['GET', { 'sec-fetch-site': 'same-origin' }],
    ['GET', { 'sec-fetch-site': 'none' }],
    ['POST', { origin: own }],
    ['POST', { origin: own, 'sec-fetch-site': 'same-origin' }],
    ['POST', { origin: own, [sessionHeader]: 'guess' }],
    ['POST', { origin: own, [sessionHeader]: '' }],
  ])('%s with the cookie and %j alone is unauthorized', async (method, headers: Record<string, string>) => {
    const { get, port } = await startWithWindow();
    const { cookie = '' } = await signIn(get);
    const { origin, ...others } = headers;
    const sent = { cookie, ...others, ...(origin && { origin: origin.replace('PORT', String(port)) }) };
    const answer = await get('/window/api-keys', sent, { method });
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([401, 'unauthorized']);
  });

  test('needs both: the secret alone is worthless', async () => {
    const { get } = await startWithWindow();
    const { [sessionHeader]: secret = '' } = await signIn(get);
    expect((await get('/api', { [sessionHeader]: secret })).text).toContain('network');
  });

  test('alone may follow a download address, which works once and for one path', async () => {
    const { get, downloads } = await startWithWindow();
    const { cookie = '' } = await signIn(get);
    const address = downloads.issue('/window/pack');
    const navigate = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
    expect((await get(address, navigate)).text).toBe(`{"access":"network","path":"${address}"}`);
    expect((await get(address, { cookie, ...navigate, 'sec-fetch-site': 'same-site' })).text).toContain('network');
    expect((await get(address, { cookie, ...navigate })).text).toBe('{"access":"window","path":"/window/pack"}');
    expect((await get(address, { cookie, ...navigate })).text).toContain('network');
  });

  test('is valid only for the listener that issued it', async () => {
    const [one, other] = [await startWithWindow(), await startWithWindow()];
    const session = await signIn(one.get);
    const cookie = session['cookie']!.replace(String(one.port), String(other.port));
    expect((await other.get('/api', { ...session, cookie })).text).toContain('network');
  });

  test('is worthless on a listener without a window', async () => {
    const { address } = await startListener(async (_request, { access }) => new Response(access));
    expect((await fetchText('HTTP/1.1', address, { headers: { cookie: 'touchstone_1=x' } })).text).toBe('network');
    expect((await fetchText('HTTP/1.1', address, { path: '/?token=x' })).text).toBe('network');
  });
});
