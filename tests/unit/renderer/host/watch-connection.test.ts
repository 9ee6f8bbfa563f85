import { expect, test } from 'vitest';
import {
  type Connection,
  type HostFetch,
  type HostRequest,
  watchConnection,
} from '../../../../renderer/host/host-fetch.ts';

const request: HostRequest = { method: 'GET', path: '/', headers: {}, body: null };

async function told(hostFetch: HostFetch, signal?: AbortSignal): Promise<Connection[]> {
  const connections: Connection[] = [];
  const watched = watchConnection(hostFetch, (connection) => connections.push(connection));
  await watched({ ...request, ...(signal && { signal }) }).catch(() => undefined);
  return connections;
}

test('an answer tells that the host is there, a refusal that it does not know this browser', async () => {
  expect(await told(async () => new Response('well'))).toEqual(['there']);
  expect(await told(async () => new Response('busy', { status: 503 }))).toEqual(['there']);
  expect(await told(async () => new Response('who?', { status: 401 }))).toEqual(['locked']);
});

test('no answer tells that the host is silent, unless nobody waited for one any more', async () => {
  const unreachable = () => Promise.reject(new TypeError('no connection'));
  expect(await told(unreachable)).toEqual(['silent']);
  expect(await told(unreachable, AbortSignal.abort())).toEqual([]);
});
