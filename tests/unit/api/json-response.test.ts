import { expect, test } from 'vitest';
import { JsonResponse } from '../../../electron/api/json-response.ts';
import { isResponse } from '../../../electron/api/lazy-response.ts';

const value = { text: 'Grüße, 世界' };
const headers = { 'x-run-id': 'one' };

test('a response whose properties are read is the Response that it represents', async () => {
  const [answer, plain] = [
    new JsonResponse(value, { status: 201, headers }),
    Response.json(value, { status: 201, headers }),
  ];
  expect({ status: answer.status, ok: answer.ok, headers: [...answer.headers] }).toEqual({
    status: 201,
    ok: true,
    headers: [...plain.headers],
  });
  expect(answer.bodyUsed).toBe(false);
  expect(await answer.clone().json()).toEqual(value);
  expect(new TextDecoder().decode(await answer.arrayBuffer())).toBe(await plain.text());
  expect(answer.bodyUsed).toBe(true);
  await expect(answer.text()).rejects.toThrow(TypeError);
});

test('a response is told from a value that becomes JSON', () => {
  expect([new JsonResponse(value), Response.json(value), new Response(null, { status: 204 })].map(isResponse)).toEqual([
    true,
    true,
    true,
  ]);
  expect([value, { status: 200, headers: {}, body: null }, [], undefined, null].map(isResponse)).toEqual(
    Array(5).fill(false),
  );
});

test('a response that is not read is sent as text, with its latest headers', () => {
  const answer = new JsonResponse(value, { headers });
  answer.setHeader('x-request-id', 'two');
  expect(answer.unread).toEqual({
    headers: { 'content-type': 'application/json', 'x-run-id': 'one', 'x-request-id': 'two' },
    text: JSON.stringify(value),
  });
});

test('changes of its headers count once they are read', () => {
  const answer = new JsonResponse(value, { headers });
  answer.headers.set('x-run-id', 'changed');
  answer.setHeader('x-request-id', 'two');
  expect(answer.unread).toBeNull();
  expect([answer.headers.get('x-run-id'), answer.headers.get('x-request-id')]).toEqual(['changed', 'two']);
});

test.for(['body', 'text', 'json', 'bytes', 'blob'] as const)('reading %s leaves nothing unread', async (property) => {
  const answer = new JsonResponse(value);
  const read = answer[property];
  await (typeof read === 'function' ? read.call(answer) : read);
  expect(answer.unread).toBeNull();
});
