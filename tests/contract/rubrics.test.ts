import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const unknown = '00000000-0000-4000-8000-000000000000';
const [way] = ways;

async function callWindow(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const request = new Request(`http://test${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await host.host.api.fetch(request, { access: 'window' });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

const items = [
  { kind: 'yesNo', question: 'Does every promise match the terms?' },
  {
    kind: 'category',
    question: 'What went wrong?',
    isRequired: false,
    categories: [{ label: 'Wrong policy', description: 'Another rule' }, { label: 'Tone' }],
    examples: [{ text: 'We refund it twice.', value: 'Wrong policy' }],
  },
  { kind: 'score', question: 'How useful is it?', description: ' For the customer ' },
  { kind: 'text', question: 'What should it have said?', isRequired: false },
];

describe.each(ways)('%s: rubrics', (each) => {
  const call = (method: string, path: string, body?: unknown, key = host.key) =>
    callJson(host, each, method, path, { key, ...(body === undefined ? {} : { body }) });

  test('have versions that never change, whose items stay the same by their ID', async () => {
    const created = await call('POST', '/rubrics', { name: 'Refund policy', description: 'For refunds', items });
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Refund policy',
        version: 1,
        latestVersion: 1,
        description: 'For refunds',
        items: [
          expect.objectContaining({ kind: 'yesNo', isRequired: true, categories: [], examples: [], description: null }),
          expect.objectContaining({
            categories: [
              { label: 'Wrong policy', description: 'Another rule' },
              { label: 'Tone', description: null },
            ],
            examples: [{ text: 'We refund it twice.', value: 'Wrong policy' }],
          }),
          expect.objectContaining({ kind: 'score', description: 'For the customer' }),
          expect.objectContaining({ kind: 'text', isRequired: false }),
        ],
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        queueCount: 0,
      },
    ]);
    const path = `/rubrics/${created.body.id}`;
    const [first] = created.body.items;
    const next = { items: [{ id: first.id.toUpperCase(), kind: 'yesNo', question: 'Is it right?' }] };
    const changed = await call('POST', `${path}/versions`, next);
    expect(changed.body).toMatchObject({ version: 2, latestVersion: 2, items: [{ id: first.id }] });
    expect((await call('GET', path)).body).toEqual(changed.body);
    expect((await call('GET', `${path}?version=1`)).body).toEqual({ ...created.body, latestVersion: 2 });
    expect((await call('GET', `${path}?version=3`)).body.error.message).toBe('The rubric has no version 3.');
    expect((await walk(host, each, '/rubrics', 1)).filter(({ id }) => id === created.body.id)).toEqual([changed.body]);
    const otherKind = { items: [{ id: first.id, kind: 'score', question: 'Is it right?' }] };
    expect(rejectionOf(await call('POST', `${path}/versions`, otherKind))).toMatchObject([
      400,
      'invalid_request',
      [{ field: 'items[0].kind' }],
    ]);
    const reader = host.issueKey({ scopes: ['audit'] });
    expect((await call('GET', path, undefined, reader)).status).toBe(200);
    for (const [method, at, body] of [
      ['POST', '/rubrics', { name: 'x', items }],
      ['POST', `${path}/versions`, next],
      ['DELETE', path],
    ] as const)
      expect((await call(method, at, body, reader)).status).toBe(403);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
  });
});

test.each([
  ['items', []],
  ['items[0].categories', [{ kind: 'category', question: 'Which?' }]],
  ['items[0].categories', [{ kind: 'score', question: 'How?', categories: [{ label: 'a' }, { label: 'b' }] }]],
  [
    'items[0].categories[1].label',
    [{ kind: 'category', question: 'Which?', categories: [{ label: 'a' }, { label: 'A' }] }],
  ],
  [
    'items[0].categories[0].label',
    [{ kind: 'category', question: 'Which?', categories: [{ label: 'a,b' }, { label: 'c' }] }],
  ],
  ['items[0].examples[0].value', [{ kind: 'yesNo', question: 'Is it?', examples: [{ text: 'x', value: 'yes' }] }]],
  ['items[0].id', [{ id: unknown, kind: 'yesNo', question: 'Is it?' }]],
  [
    'items[1].id',
    [
      { id: unknown, kind: 'text', question: 'a' },
      { id: unknown, kind: 'text', question: 'b' },
    ],
  ],
  ['items[0].question', [{ kind: 'yesNo', question: ' ' }]],
  ['items', Array.from({ length: 51 }, () => ({ kind: 'yesNo', question: 'Is it?' }))],
])('a rubric is rejected at %s', async (field, given) => {
  const answer = await callJson(host, way, 'POST', '/rubrics', { body: { name: 'Wrong', items: given } });
  expect(rejectionOf(answer)).toMatchObject([400, 'invalid_request', [{ field }]]);
});

describe('reviewers', () => {
  test('are people with an optional PIN, and API keys with a name', async () => {
    const wren = await callWindow('POST', '/reviewers', { name: ' wren ', pin: '1234' });
    expect([wren.status, wren.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'wren',
        hasPin: true,
        apiKeyId: null,
        isYou: false,
        createdAt: expect.any(String),
      },
    ]);
    const key = (await callWindow('GET', '/window/api-keys')).body.data.at(-1);
    const heron = await callWindow('POST', '/reviewers', { name: 'heron', apiKeyId: key.id });
    expect(heron.body).toMatchObject({ name: 'heron', apiKeyId: key.id, isYou: false });
    const list = await callJson(host, way, 'GET', '/reviewers');
    expect(list.body.data).toMatchObject([
      { name: 'heron', isYou: true },
      { name: 'wren', isYou: false },
    ]);
    for (const [body, field] of [
      [{ name: 'WREN' }, 'name'],
      [{ name: 'other', apiKeyId: key.id }, 'apiKeyId'],
    ] as const)
      expect(await callWindow('POST', '/reviewers', body)).toMatchObject({
        status: 409,
        body: { error: { details: [{ field }] } },
      });
    expect((await callWindow('POST', '/reviewers', { name: 'x', apiKeyId: unknown })).status).toBe(400);
    expect((await callWindow('POST', '/reviewers', { name: 'x', pin: '12' })).status).toBe(400);

    const act = (pin?: string) => callWindow('POST', `/window/reviewers/${wren.body.id}/act`, { ...(pin && { pin }) });
    expect((await act()).status).toBe(403);
    expect((await act('4321')).body.error.message).toBe('This is not the PIN of wren.');
    const { token } = (await act('1234')).body;
    const asWren = { 'x-touchstone-reviewer': token };
    const you = (await callWindow('GET', '/reviewers', undefined, asWren)).body.data.filter(
      (one: { isYou: boolean }) => one.isYou,
    );
    expect(you).toMatchObject([{ name: 'wren' }]);
    // A key is one reviewer, whatever it sends.
    expect((await callJson(host, way, 'GET', '/reviewers', { headers: asWren })).body.data[0]).toMatchObject({
      name: 'heron',
      isYou: true,
    });
    // The PIN protects against the others at the window.
    const change = (body: object, headers = {}) => callWindow('PATCH', `/reviewers/${wren.body.id}`, body, headers);
    for (const body of [{ pin: null }, { pin: '9999' }, { name: 'Heron' }, { pin: null, currentPin: '4321' }])
      expect(await change(body)).toMatchObject({
        status: 403,
        body: { error: { details: [{ field: 'currentPin' }] } },
      });
    expect((await change({ name: 'Wren' }, asWren)).body).toMatchObject({ name: 'Wren', hasPin: true, isYou: true });
    expect((await change({ pin: '9999', currentPin: '1234' })).status).toBe(200);
    const asNew = { 'x-touchstone-reviewer': (await act('9999')).body.token };
    expect((await change({ pin: '5678' }, asNew)).body).toMatchObject({ hasPin: true, isYou: true });
    expect((await callWindow('GET', '/reviewers', undefined, asWren)).status).toBe(403);
    expect((await callWindow('DELETE', `/reviewers/${wren.body.id}`)).status).toBe(403);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let guess = 0; guess < 5; guess += 1) expect((await act('0000')).status).toBe(403);
    expect(await act('5678')).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    // Then there is one guess after each pause, and every pause is twice as long.
    for (const seconds of [60, 120, 240]) {
      const { message } = (await act('0000')).body.error;
      expect(message).toContain(`Try again in ${seconds} seconds.`);
      vi.advanceTimersByTime(seconds * 1000);
      expect((await act('0000')).status).toBe(403);
    }
    vi.useRealTimers();
    // A program that may change everything resets a forgotten PIN.
    await callJson(host, way, 'PATCH', `/reviewers/${wren.body.id}`, { body: { pin: null } });
    expect((await act()).body.reviewer).toMatchObject({ name: 'Wren', hasPin: false, isYou: true });
    expect((await callWindow('DELETE', `/reviewers/${wren.body.id}`)).status).toBe(204);
    expect((await act()).status).toBe(404);
    expect((await callWindow('POST', '/reviewers', { name: 'wren' })).status).toBe(201);
  });

  test('are changed only with the scope manage, and PINs are stored as hashes', async () => {
    const reader = host.issueKey({ scopes: ['audit'] });
    expect((await callJson(host, way, 'POST', '/reviewers', { key: reader, body: { name: 'x' } })).status).toBe(403);
    const { body } = await callWindow('POST', '/reviewers', { name: 'osprey', pin: '424242' });
    expect(host.host.storage.reviewers.read(body.id).pinHash).toMatch(/^[\w+/]{22}==:[\w+/]{43}=$/);
    expect(JSON.stringify(body)).not.toContain('424242');
  });
});
