import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tool, ToolInput } from '../../shared/contract/tool-library.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const schema = { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const anyId = expect.any(String) as unknown;
const unusedName = () => `tool_${randomUUID().slice(0, 8)}`;

async function create(way: Way, input: Partial<ToolInput> = {}): Promise<Tool> {
  const { status, body } = await callJson(host, way, 'POST', '/tools', {
    body: { name: unusedName(), parameters: schema, ...input },
  });
  expect([status, body]).toEqual([201, expect.any(Object)]);
  return body as Tool;
}

describe.each(ways)('%s: tools', (way) => {
  test('stores a tool with its versions, which never change', async () => {
    const name = unusedName();
    const entry = { arguments: { order_id: 'NW-1' }, content: '{"paid": 12}', isError: false };
    const mock = { kind: 'lookUp' as const, entries: [entry], otherwise: null };
    const made = await create(way, { name, description: 'Looks up one order', strict: true, mock, note: 'first' });
    expect(made).toEqual({
      id: anyId,
      name,
      description: 'Looks up one order',
      mockKind: 'lookUp',
      latestVersionId: anyId,
      latestVersionNumber: 1,
      createdAt: time,
      updatedAt: time,
    });
    const address = `/tools/${made.id.toUpperCase()}`;
    expect((await callJson(host, way, 'GET', address)).body).toEqual(made);
    const renamed = unusedName();
    const added = await callJson(host, way, 'POST', `${address}/versions`, {
      body: { name: renamed, parameters: {} },
    });
    const bare = { description: null, strict: null, mock: null, note: null, createdAt: time };
    const second = { id: anyId, toolId: made.id, number: 2, name: renamed, parameters: {}, ...bare };
    expect([added.status, added.body]).toEqual([201, second]);
    const first = { ...second, number: 1, name, description: 'Looks up one order', parameters: schema };
    expect(await walk(host, way, `${address}/versions`, 1)).toEqual([
      second,
      { ...first, strict: true, mock, note: 'first' },
    ]);
    const read = await callJson(host, way, 'GET', `${address}/versions/${made.latestVersionId}`);
    expect(read.body).toEqual({ ...first, strict: true, mock, note: 'first' });
    expect((await callJson(host, way, 'GET', address)).body).toMatchObject({
      name: renamed,
      mockKind: null,
      latestVersionId: added.body.id,
      latestVersionNumber: 2,
    });
    expect((await callJson(host, way, 'DELETE', address)).status).toBe(204);
    for (const path of [address, `${address}/versions`, `${address}/versions/${made.latestVersionId}`])
      expect((await callJson(host, way, 'GET', path)).status).toBe(404);
    await create(way, { name });
  });

  test('lists tools newest first, and those that contain every word', async () => {
    const word = randomUUID().slice(0, 8);
    const tools = [];
    for (const description of [`Café ${word}`, null, `${word} of a cafe`])
      tools.push(await create(way, { name: `${unusedName()}_${description === null ? word : ''}`, description }));
    const [first, second, third] = tools;
    expect(await walk(host, way, '/tools', 2)).toEqual(expect.arrayContaining(tools));
    const search = async (text: string) =>
      (await callJson(host, way, 'GET', `/tools?search=${encodeURIComponent(text)}`)).body.data as Tool[];
    expect(await search(word.toUpperCase())).toEqual([third, second, first]);
    expect(await search(`CAFE ${word}`)).toEqual([third, first]);
    expect(await search(`"of a cafe" ${word}`)).toEqual([third]);
    expect(await search(`${word}%`)).toEqual([]);
    const page = await callJson(host, way, 'GET', `/tools?search=${word}&pageSize=1`);
    const other = `/tools?search=cafe&continuationToken=${encodeURIComponent(page.body.continuationToken)}`;
    expect((await callJson(host, way, 'GET', other)).status).toBe(400);
  });

  test.each<[string, Record<string, unknown>, string, unknown]>([
    ['a name', { name: 'find order' }, 'name', 'must be 1 to 64 letters, digits, underscores or hyphens'],
    ['no name', { name: undefined }, 'name', 'is required'],
    ['no schema', { parameters: undefined }, 'parameters', 'is required'],
    ['a schema', { parameters: [] }, 'parameters', 'must be of type object'],
    ['a long schema', { parameters: { title: 'x'.repeat(110_000) } }, 'parameters', 'is larger than 100 KB'],
    [
      'a deep schema',
      { parameters: JSON.parse(`${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`) as unknown },
      'parameters',
      expect.stringContaining('is nested deeper than 32 levels'),
    ],
    [
      'an invalid schema',
      { parameters: { properties: { a: { type: 'text' } } } },
      'parameters',
      expect.stringContaining('at /properties/a/type must be one of'),
    ],
    ['strict', { strict: 'yes' }, 'strict', 'must be of type boolean'],
    ['an unknown field', { schema: {} }, 'schema', 'is not a known field'],
    ['a mock', { mock: { kind: 'fixed' } }, 'mock.content', 'is required'],
    ['a mock', { mock: { kind: 'recorded', runId: 'x' } }, 'mock.runId', 'must be a UUID'],
    [
      'a large mock',
      { mock: { kind: 'fixed', content: 'x'.repeat(1_100_000) } },
      'mock.content',
      'is longer than 1 MB',
    ],
  ])('rejects %s: %j', async (_what, input, field, issue) => {
    const rejected = await callJson(host, way, 'POST', '/tools', {
      body: { name: unusedName(), parameters: schema, ...input },
    });
    expect(rejectionOf(rejected)).toEqual([400, 'invalid_request', [{ field, issue }]]);
  });

  test('rejects the name of another tool, but a new version may keep its own', async () => {
    const [one, other] = [await create(way), await create(way)];
    const body = { name: one.name, parameters: schema };
    const detail = [{ field: 'name', issue: 'is the name of another tool' }];
    expect(rejectionOf(await callJson(host, way, 'POST', '/tools', { body }))).toEqual([
      400,
      'invalid_request',
      detail,
    ]);
    const renamed = await callJson(host, way, 'POST', `/tools/${other.id}/versions`, { body });
    expect(rejectionOf(renamed)).toEqual([400, 'invalid_request', detail]);
    expect((await callJson(host, way, 'GET', `/tools/${other.id}`)).body).toEqual(other);
    expect((await callJson(host, way, 'POST', `/tools/${one.id}/versions`, { body })).status).toBe(201);
  });

  test('lists the prompt versions and agents that offer a tool', async () => {
    const [name, next] = [unusedName(), unusedName()];
    const { id } = await create(way, { name });
    const uses = async () => await walk(host, way, `/tools/${id}/uses`, 1);
    expect(await uses()).toEqual([]);
    const post = async (path: string, body: object) => (await callJson(host, way, 'POST', path, { body })).body;
    const nested = { type: 'function', function: { name, parameters: schema } };
    const flat = { type: 'function', name: next, parameters: schema };
    const search = { type: 'web_search', name };
    const prompt = { name: 'Support reply', promptText: 'Hi', configuration: { tools: [search] } };
    const made = await post('/prompts', prompt);
    const tools = [nested, { ...nested, function: { ...nested.function, name: 'other' } }];
    const first = await post(`/prompts/${made.id}/versions`, { promptText: 'Hi', configuration: { tools } });
    const target = { name: 'Desk', aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini', prompt: 'Hi' };
    const agent = await post('/agents', { ...target, configuration: { tools: [nested, flat] } });
    const use = { kind: 'prompt', id: made.id, name: 'Support reply', isLatest: true };
    const oldUse = { ...use, versionId: first.id, versionNumber: 2 };
    const agentUse = { kind: 'agent', id: agent.id, name: 'Desk' };
    expect(await uses()).toEqual([agentUse, oldUse]);

    await post(`/tools/${id}/versions`, { name: next, parameters: schema });
    const second = await post(`/prompts/${made.id}/versions`, { promptText: 'Hi', configuration: { tools: [flat] } });
    const newUse = { ...use, versionId: second.id, versionNumber: 3 };
    expect(await uses()).toEqual([newUse, agentUse, { ...oldUse, isLatest: false }]);
    await callJson(host, way, 'PATCH', `/agents/${agent.id}`, { body: { configuration: null } });
    expect(await uses()).toEqual([newUse, { ...oldUse, isLatest: false }]);

    // The name of the first version is another tool's now.
    await create(way, { name });
    expect(await uses()).toEqual([newUse]);
    await callJson(host, way, 'DELETE', `/prompts/${made.id}`);
    expect(await uses()).toEqual([]);
  });

  test('knows neither an unknown tool nor a version of another one', async () => {
    const [one, other] = [await create(way), await create(way)];
    const body = { name: unusedName(), parameters: schema };
    for (const [method, path] of [
      ['GET', `/tools/${randomUUID()}`],
      ['DELETE', `/tools/${randomUUID()}`],
      ['GET', `/tools/${randomUUID()}/versions`],
      ['GET', `/tools/${randomUUID()}/uses`],
      ['POST', `/tools/${randomUUID()}/versions`],
      ['GET', `/tools/${one.id}/versions/${other.latestVersionId}`],
    ] as const) {
      const rejected = await callJson(host, way, method, path, method === 'POST' ? { body } : {});
      expect([path, rejected.status, rejected.body.error.code]).toEqual([path, 404, 'not_found']);
    }
  });
});
