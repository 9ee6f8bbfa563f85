import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { IncomingRequest } from '../../../electron/server/incoming-request.ts';

const url = 'http://127.0.0.1:8080/a/../b?c=d';
const values = { 'content-type': 'text/plain', 'x-app-name': 'Größe', accept: '*/*' };

function requestOf(method: string, body: string | null = null) {
  const incoming = new IncomingMessage(new Socket());
  incoming.push(body);
  if (body !== null) incoming.push(null);
  const controller = new AbortController();
  const options = { controller, hasBody: body !== null, beforeBody: () => undefined };
  return { request: new IncomingRequest(url, { method, headers: values }, incoming, options), controller };
}

test('has what a plain request of the same head has', () => {
  for (const method of ['GET', 'POST', 'PURGE', 'post']) {
    const { request } = requestOf(method);
    const plain = new Request(url, { method, headers: values });
    const names = ['url', 'method', 'cache', 'mode', 'referrer', 'credentials', 'body', 'bodyUsed'] as const;
    for (const name of names) expect(request[name]).toEqual(plain[name]);
  }
});

test('rejects what a plain request rejects', () => {
  expect(() => requestOf('TRACE')).toThrow(TypeError);
  expect(() => requestOf('A B')).toThrow(TypeError);
});

test('has headers as a plain request has them, which do not change', () => {
  const { headers } = requestOf('GET').request;
  const plain = new Headers(values);
  expect(headers.get('Content-Type')).toBe('text/plain');
  expect([headers.get('constructor'), headers.get('__proto__'), headers.has('toString')]).toEqual([null, null, false]);
  expect([headers.has('ACCEPT'), headers.getSetCookie()]).toEqual([true, []]);
  expect([[...headers], [...headers.keys()], [...headers.values()]]).toEqual([
    [...plain],
    [...plain.keys()],
    [...plain.values()],
  ]);
  expect([...new Headers(headers)]).toEqual([...plain]);
  const seen: unknown[] = [];
  headers.forEach((value, name, all) => seen.push([name, value, all === headers]));
  expect(seen).toEqual([...plain].map((pair) => [...pair, true]));
  for (const change of [() => headers.set('a', 'b'), () => headers.append('a', 'b'), () => headers.delete('accept')])
    expect(change).toThrow(TypeError);
});

test('gives its body once, also through a copy', async () => {
  expect(await requestOf('POST', 'one').request.text()).toBe('one');
  const { request } = requestOf('POST', 'two');
  expect(await request.clone().text()).toBe('two');
  expect(await request.text()).toBe('two');
  expect(request.bodyUsed).toBe(true);
  await expect(request.text()).rejects.toThrow(TypeError);
});

test('ends the body when its caller leaves', async () => {
  const { request, controller } = requestOf('POST', 'three');
  controller.abort();
  await expect(request.bytes()).rejects.toThrow('aborted');
  expect(request.signal.aborted).toBe(true);
});
