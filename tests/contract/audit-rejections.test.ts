import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAudit, recordRun } from '../support/audit-runs.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
/** Of a walk without filters, with one conversation to a page. */
let token: string;
beforeAll(async () => {
  host = await startTestHost();
  for (let run = 0; run < 3; run += 1) await recordRun(host.host);
  token = JSON.parse((await askAudit(host, 'in memory', { pageSize: 1 })).text).continuationToken;
});
afterAll(() => host.close());

const readOnly = 'is set by the service and cannot be sent';
const noUuid = 'must be a UUID';
const noMoment = 'must be a date and time that exists, such as 2026-11-20T09:30:00Z';
const foreignToken = 'does not belong to this query';
const uuidFields = [
  'callerId',
  'promptId',
  'promptVersionId',
  'promptRunId',
  'conversationRunId',
  'workspaceId',
  'conversationId',
];

const bad: [body: Record<string, unknown>, field: string, issue: string][] = [
  [{ pageSize: 0 }, 'pageSize', 'must be from 1 to 20'],
  [{ pageSize: 21 }, 'pageSize', 'must be from 1 to 20'],
  [{ pageSize: '5' }, 'pageSize', 'must be of type number'],
  [{ pageSize: 1.5 }, 'pageSize', 'must be a whole number'],
  [{ pageSize: null }, 'pageSize', 'must be of type number'],
  ...uuidFields.map((field): (typeof bad)[number] => [{ [field]: 'no-uuid' }, field, noUuid]),
  [{ callerId: 5 }, 'callerId', 'must be of type string'],
  ...['2026-02-30T00:00:00Z', '2026-11-20', '2026-11-20T25:00:00Z', '2026-11-20T10:00:00', 'yesterday', ''].map(
    (startDate): (typeof bad)[number] => [{ startDate }, 'startDate', noMoment],
  ),
  [{ endDate: '2025-02-29T00:00:00.000Z' }, 'endDate', noMoment],
  [
    { startDate: '2026-11-20T10:00:00Z', endDate: '2026-11-20T10:30:00+01:00' },
    'startDate',
    'must not be after endDate',
  ],
  [{ colour: 'red' }, 'colour', 'is not a known field'],
  [{ text: 'word' }, 'text', 'is not a known field'],
  [{ lookupTypes: [] }, 'lookupTypes', readOnly],
  [{ userId: randomUUID() }, 'userId', readOnly],
  [{ userId: null }, 'userId', readOnly],
  [{ isAdmin: false }, 'isAdmin', readOnly],
  [{ organizationId: randomUUID() }, 'organizationId', readOnly],
  [{ includeFeedback: null }, 'includeFeedback', 'must be of type boolean'],
  [{ includeFeedback: 'true' }, 'includeFeedback', 'must be of type boolean'],
  [{ feedback: null }, 'feedback', 'must be of type object'],
  [{ feedback: { stars: 5 } }, 'feedback.stars', 'is not a known field'],
  [{ feedback: { score: 1.5 } }, 'feedback.score', 'must be a whole number'],
  [{ feedback: { score: '5' } }, 'feedback.score', 'must be of type number'],
  [{ feedback: { scoreTags: ['good'] } }, 'feedback.scoreTags', 'must be of type string'],
  [{ appHeaders: [] }, 'appHeaders', 'must be of type object'],
  [{ appHeaders: { team: 5 } }, 'appHeaders.team', 'must be of type string'],
  [{ continuationToken: '' }, 'continuationToken', 'must not be empty'],
  [{ continuationToken: 5 }, 'continuationToken', 'must be of type string'],
  [{ continuationToken: 'forged' }, 'continuationToken', foreignToken],
];

function refusal(text: string): unknown {
  const { error } = JSON.parse(text);
  return [error.code, error.details];
}

describe.each(ways)('%s', (way) => {
  test.each(bad)('rejects %j and names %s', async (body, field, issue) => {
    const answer = await askAudit(host, way, body);
    expect([answer.status, refusal(answer.text)]).toEqual([400, ['invalid_request', [{ field, issue }]]]);
  });

  test('rejects a token that is truncated, changed, or from other filters, for every caller', async () => {
    const changed = `${token.slice(0, 5)}${token[5] === 'A' ? 'B' : 'A'}${token.slice(6)}`;
    const bodies = [
      { continuationToken: token.slice(0, -1) },
      { continuationToken: `${token}A` },
      { continuationToken: changed },
      { continuationToken: token, callerId: randomUUID() },
      { continuationToken: token, feedback: { score: 1 } },
    ];
    for (const body of bodies) {
      const answer = await askAudit(host, way, body);
      expect([answer.status, refusal(answer.text)]).toEqual([
        400,
        ['invalid_request', [{ field: 'continuationToken', issue: foreignToken }]],
      ]);
    }
    const next = await askAudit(
      host,
      way,
      { continuationToken: token, pageSize: 2 },
      { 'x-hl-api-key': host.issueKey() },
    );
    expect([next.status, JSON.parse(next.text).conversations.length]).toEqual([200, 2]);
  });

  test('accepts the three media types and rejects others with 415', async () => {
    const taken = ['application/json', 'text/json', 'application/vnd.audit+json', 'Application/JSON; charset=utf-8'];
    const rejected = ['text/plain', 'application/xml', 'application/jsonx', 'json', 'multipart/form-data'];
    const statuses = async (types: string[]) => {
      const answers = await Promise.all(types.map((type) => askAudit(host, way, {}, { 'content-type': type })));
      return answers.map(({ status }) => status);
    };
    expect(await statuses(taken)).toEqual(taken.map(() => 200));
    expect(await statuses(rejected)).toEqual(rejected.map(() => 415));
  });

  test("rejects a body that isn't a JSON object", async () => {
    for (const body of ['', '{', '[]', 'null', '"text"', '5']) {
      const { status, text } = await askAudit(host, way, body);
      expect([body, status, JSON.parse(text).error.code]).toEqual([body, 400, 'invalid_request']);
    }
  });

  test('rejects no key, a wrong key and two keys with 401, a missing scope with 403, another method with 405', async () => {
    const statusOf = async (headers: Record<string, string>, method = 'POST') => {
      const path = '/audit/conversations';
      const answer = await host.send(way, {
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
      return answer.status;
    };
    const other = host.issueKey();
    expect([
      await statusOf({}),
      await statusOf({ 'x-hl-api-key': 'ts_wrong' }),
      await statusOf({ 'x-hl-api-key': host.key, authorization: `Bearer ${other}` }),
      await statusOf({ 'x-hl-api-key': host.issueKey({ scopes: ['run', 'manage'] }) }),
      await statusOf({ authorization: `Bearer ${host.key}` }, 'PUT'),
      await statusOf({ authorization: `Bearer ${host.key}` }),
    ]).toEqual([401, 401, 401, 403, 405, 200]);
  });

  test('hides window endpoints from every key', async () => {
    for (const path of ['/window/audit/search', '/window/audit/summary', '/window/audit/views']) {
      const answer = await host.send(way, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'x-hl-api-key': host.key },
        body: '{"filter":{}}',
      });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
