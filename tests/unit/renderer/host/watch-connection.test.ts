import { expect, test } from 'vitest';
import {
  type Connection,
  type HostFetch,
  type HostRequest,
  watchConnection,
} from '../../../../renderer/host/host-fetch.ts';

const request: HostRequest = { method: 'GET', path: '/', headers: {}, body: null };

async function reported(hostFetch: HostFetch, signal?: AbortSignal): Promise<Connection[]> {
  const connections: Connection[] = [];
  const watched = watchConnection(hostFetch, (connection) => connections.push(connection));
  await watched({ ...request, ...(signal && { signal }) }).catch(() => undefined);
  return connections;
}

test("a response shows that the host works, a rejection that the browser isn't signed in", async () => {
  expect(await reported(async () => new Response('well'))).toEqual(['there']);
  expect(await reported(async () => new Response('busy', { status: 503 }))).toEqual(['there']);
  expect(await reported(async () => new Response('who?', { status: 401 }))).toEqual(['locked']);
});

test('a missing response shows that the host is silent, unless the request was aborted', async () => {
  const unreachable = () => Promise.reject(new TypeError('no connection'));
  expect(await reported(unreachable)).toEqual(['silent']);
  expect(await reported(unreachable, AbortSignal.abort())).toEqual([]);
});
