// @module-tag slow
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { defaultPort } from '../../electron/server/host-options.ts';
import { fetchText, startListener, temporaryFolder } from '../support/http-clients.ts';
import { startHeadlessHost, startReadyHost } from '../support/headless-host.ts';

/** A provider that begins an answer and then holds it until its caller leaves. */
async function startSlowProvider(): Promise<{ address: string; closed: Promise<void> }> {
  const closed = Promise.withResolvers<void>();
  const server: Server = createServer((request, response: ServerResponse) => {
    request.resume();
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'slow' }] }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const choice = { index: 0, delta: { role: 'assistant', content: 'Half an answer' }, finish_reason: null };
    response.write(`data: ${JSON.stringify({ id: '1', model: 'slow', choices: [choice] })}\n\n`);
    response.on('close', () => closed.resolve());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, closed: closed.promise };
}

test('with --json it prints one line, serves the API to keys and to a signed-in window', async () => {
  const host = await startReadyHost(['--port', '0', '--data-dir', await temporaryFolder()]);
  expect(host.output().stdout).toBe(`${JSON.stringify({ address: host.address, windowUrl: host.windowUrl })}\n`);
  expect(host.windowUrl).toMatch(new RegExp(`^${host.address}/\\?token=[\\w-]{43}$`));

  const withoutKey = await fetch(`${host.address}/api/completions/sync`, { method: 'POST' });
  const forWindow = await fetch(`${host.address}/window/host`);
  const state = await host.fetchAsWindow('/window/host');
  expect([withoutKey.status, forWindow.status, state.status]).toEqual([401, 404, 200]);
  expect(await state.json()).toMatchObject({
    serverAddress: host.address,
    serverFailure: null,
    protocols: ['HTTP/1.1', 'HTTP/2'],
  });

  // The address was used. Another browser makes the host print the next one.
  expect((await fetch(host.windowUrl)).status).toBe(401);
  while (host.output().stdout.split('\n').length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  const [, next] = host.output().stdout.split('\n');
  const { address, windowUrl } = JSON.parse(next!) as { address: string; windowUrl: string };
  expect([address, windowUrl === host.windowUrl]).toEqual([host.address, false]);
  expect((await fetch(windowUrl)).headers.get('set-cookie')).toContain('touchstone_');
  host.signal('SIGTERM');
  expect(await host.ended).toBe(0);
});

test('without --json it prints the addresses and how to create a key', async () => {
  const host = startHeadlessHost(['--port', '0', '--data-dir', await temporaryFolder()]);
  while (!host.output().stdout.includes('Ctrl+C')) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(host.output().stdout).toMatch(/http:\/\/127\.0\.0\.1:\d+\n.*\?token=.*\n.*npm run keys -- issue/);
  host.signal('SIGINT');
  expect(await host.ended).toBe(0);
});

test('with --tls the address is https and both protocols work', async () => {
  const host = startHeadlessHost(['--json', '--tls', '--port', '0', '--data-dir', await temporaryFolder()]);
  while (!host.output().stdout.includes('\n')) await new Promise((resolve) => setTimeout(resolve, 10));
  const { address } = JSON.parse(host.output().stdout) as { address: string };
  expect(address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  for (const transport of ['HTTP/1.1 over TLS', 'HTTP/2 over TLS'] as const) {
    expect((await fetchText(transport, address, { path: '/openapi.json' })).status).toBe(200);
  }
});

test('a signal in the middle of a run ends it at the provider, records it as cancelled and exits cleanly', async () => {
  const provider = await startSlowProvider();
  const folder = await temporaryFolder();
  const parameters = ['--port', '0', '--data-dir', folder, '--endpoint', `slow=${provider.address}`];
  const host = await startReadyHost(parameters);
  const answer = await host.fetchAsWindow('/api/completions/sse', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ promptText: 'Go on', aiSystem: 'OpenAiCompatible', model: 'slow/slow' }),
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain('Half an answer');

  host.signal('SIGTERM');
  await provider.closed;
  expect(await host.ended).toBe(0);
  await expect(
    (async () => {
      while (!(await reader?.read())?.done);
    })(),
  ).rejects.toThrow();

  const next = await startReadyHost(parameters);
  const runs = (await (await next.fetchAsWindow('/window/runs')).json()) as {
    data: { runId: string; status: string }[];
  };
  expect(runs.data.map(({ status }) => status)).toEqual(['Cancelled']);
  const run = await (await next.fetchAsWindow(`/window/runs/${runs.data[0]?.runId}`)).json();
  expect(run).toMatchObject({ output: { content: 'Half an answer' } });
});

test('a port in use ends the start with the remedy', async () => {
  const { port } = await startListener(async () => new Response());
  const host = startHeadlessHost(['--port', String(port), '--data-dir', await temporaryFolder()]);
  expect(await host.ended).toBe(1);
  expect(host.output()).toEqual({
    stdout: '',
    stderr: `Port ${port} is already in use. Choose another port, or 0 for any free port.\n`,
  });
});

test('without --port it uses a free one if the default is in use', async () => {
  // Taken by this test or, on a machine where Touchstone runs, already.
  await startListener(async () => new Response(), { port: defaultPort }).catch(() => {});
  const host = await startReadyHost(['--data-dir', await temporaryFolder()]);
  expect(host.address).not.toBe(`http://127.0.0.1:${defaultPort}`);
  expect((await fetch(`${host.address}/openapi.json`)).status).toBe(200);
});

test.each([[['--help']], [['-h']]])('%j prints help and ends with exit status 0', async (parameters) => {
  const host = startHeadlessHost(parameters);
  expect(await host.ended).toBe(0);
  expect(host.output()).toEqual({ stdout: expect.stringContaining('Usage: npm run serve --'), stderr: '' });
});

test.each([[['--port', 'x']], [['--unknown']], [['--endpoint', 'x']]])(
  'rejects the command line %j with exit status 2 and one line',
  async (parameters) => {
    const host = startHeadlessHost(parameters);
    expect(await host.ended).toBe(2);
    expect(host.output().stdout).toBe('');
    expect(host.output().stderr).toMatch(/^[^\n]+\n$/);
  },
);
