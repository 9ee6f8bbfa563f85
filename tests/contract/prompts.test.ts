// @module-tag slow
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Prompt, PromptInput } from '../../shared/contract/prompts.ts';
import { askAudit } from '../support/audit-runs.ts';
import { callJson, jsonRequest, rejectionOf, walk } from '../support/json-call.ts';
import { judgeError, judgeUuid } from '../support/specification-judge.ts';
import { minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const scripted = { aiSystem: minimalRequest.aiSystem, model: minimalRequest.model };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

async function create(way: Way, input: Partial<PromptInput> = {}): Promise<Prompt> {
  const { status, body } = await callJson(host, way, 'POST', '/prompts', {
    body: { name: 'Greeting', promptText: 'Hello {{name}}', ...scripted, ...input },
  });
  expect([status, body]).toEqual([201, expect.any(Object)]);
  return body;
}

async function run(way: Way, body: unknown, headers: Record<string, string> = {}) {
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Good morning', usage }));
  return callJson(host, way, 'POST', '/prompts/run', { body, headers });
}

/** What the provider was asked last. */
const lastMessages = () => host.provider.calls.at(-1)?.body['messages'];

describe.each(ways)('%s: prompts', (way) => {
  test('a prompt is created with its first version, and reads the same afterwards', async () => {
    const made = await create(way, {
      folder: 'mail/daily',
      tags: ['short', 'kind'],
      description: 'A greeting',
      systemMessage: 'Be kind.',
      configuration: { temperature: 0.5, custom: [1] },
      variables: [{ name: 'name', defaultValue: 'you' }],
      note: 'first',
    });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Greeting',
      folder: 'mail/daily',
      tags: ['short', 'kind'],
      description: 'A greeting',
      latestVersionId: expect.any(String),
      latestVersion: { number: 1, ...scripted },
      labels: [],
      createdAt: time,
      updatedAt: time,
    });
    judgeUuid(made.id, 'id');
    const read = await callJson(host, way, 'GET', `/prompts/${made.id.toUpperCase()}`);
    expect([read.status, read.body]).toEqual([200, made]);
    const version = await callJson(host, way, 'GET', `/prompts/${made.id}/versions/${made.latestVersionId}`);
    expect([version.status, version.body]).toEqual([
      200,
      {
        id: made.latestVersionId,
        promptId: made.id,
        number: 1,
        promptText: 'Hello {{name}}',
        systemMessage: 'Be kind.',
        ...scripted,
        configuration: { temperature: 0.5, custom: [1] },
        variables: [{ name: 'name', description: null, defaultValue: 'you', sampleValue: null }],
        note: 'first',
        createdAt: time,
      },
    ]);
  });

  test('omitted fields are null, lists are empty', async () => {
    const { body } = await callJson(host, way, 'POST', '/prompts', { body: { name: 'Bare', promptText: 'Hi' } });
    const version = await callJson(host, way, 'GET', `/prompts/${body.id}/versions/${body.latestVersionId}`);
    expect([body, version.body]).toMatchObject([
      { folder: null, tags: [], description: null },
      { systemMessage: null, aiSystem: null, model: null, configuration: null, variables: [], note: null },
    ]);
  });

  test('a model without a provider uses the first one that has it; saving needs no key', async () => {
    const systems = [];
    for (const model of ['hl-gpt-4.1-mini', 'gpt-4o', 'llama3-70b-8192', 'scripted/anything']) {
      const { body } = await callJson(host, way, 'POST', '/prompts', { body: { name: 'M', promptText: 'Hi', model } });
      const version = await callJson(host, way, 'GET', `/prompts/${body.id}/versions/${body.latestVersionId}`);
      systems.push(version.body.aiSystem);
    }
    expect(systems).toEqual(['ServiceAi', 'OpenAi', 'Groq', 'OpenAiCompatible']);
  });

  test('a new version becomes the newest, and leaves earlier ones unchanged', async () => {
    const made = await create(way);
    const path = `/prompts/${made.id}/versions`;
    const first = await callJson(host, way, 'GET', `${path}/${made.latestVersionId}`);
    const added = await callJson(host, way, 'POST', path, { body: { promptText: 'Hello again', note: 'shorter' } });
    expect([added.status, added.body]).toMatchObject([201, { number: 2, promptText: 'Hello again', model: null }]);
    const { body } = await callJson(host, way, 'GET', `/prompts/${made.id}`);
    const latestVersion = { number: 2, aiSystem: null, model: null };
    expect(body).toEqual({ ...made, latestVersionId: added.body.id, latestVersion, updatedAt: time });
    const listed = await callJson(host, way, 'GET', path);
    expect([listed.status, listed.body]).toEqual([200, { data: [added.body, first.body], continuationToken: null }]);
  });

  test('a change affects only its fields; null clears one', async () => {
    const made = await create(way, { folder: 'a', tags: ['x'], description: 'about' });
    const change = async (body: unknown) => (await callJson(host, way, 'PATCH', `/prompts/${made.id}`, { body })).body;
    expect(await change({})).toEqual({ ...made, updatedAt: time });
    expect(await change({ name: 'Other', tags: [] })).toEqual({ ...made, name: 'Other', tags: [], updatedAt: time });
    expect(await change({ folder: null, description: null })).toMatchObject({
      name: 'Other',
      folder: null,
      description: null,
      latestVersionId: made.latestVersionId,
    });
  });

  test('a deleted prompt is 404 except for its versions, and its runs keep its ids', async () => {
    const made = await create(way);
    const ran = await run(way, { promptId: made.id, replacements: { name: 'Ada' } });
    const version = await callJson(host, way, 'GET', `/prompts/${made.id}/versions/${made.latestVersionId}`);
    const removed = await callJson(host, way, 'DELETE', `/prompts/${made.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    const afterwards = await Promise.all([
      callJson(host, way, 'GET', `/prompts/${made.id}`),
      callJson(host, way, 'PATCH', `/prompts/${made.id}`, { body: { name: 'x' } }),
      callJson(host, way, 'DELETE', `/prompts/${made.id}`),
      callJson(host, way, 'GET', `/prompts/${made.id}/versions`),
      callJson(host, way, 'POST', `/prompts/${made.id}/versions`, { body: { promptText: 'x' } }),
      callJson(host, way, 'POST', '/prompts/run', { body: { promptId: made.id } }),
    ]);
    for (const answer of afterwards) judgeError(answer, 404);
    expect((await walk(host, way, '/prompts', 100)).map(({ id }) => id)).not.toContain(made.id);
    const stored = await callJson(host, way, 'GET', `/prompts/${made.id}/versions/${made.latestVersionId}`);
    expect([stored.status, stored.body]).toEqual([200, version.body]);
    const report = JSON.parse((await askAudit(host, way, { promptVersionId: made.latestVersionId })).text);
    expect(report.conversations[0].runs[0]).toMatchObject({ conversationRunId: ran.body.runId, promptId: made.id });
  });

  test('lists are newest first, in pages that neither skip nor repeat while prompts change', async () => {
    const made = [];
    for (let index = 0; index < 5; index += 1) made.unshift((await create(way)).id);
    const page = async (query: string) => (await callJson(host, way, 'GET', `/prompts?${query}`)).body;
    const first = await page('pageSize=2');
    await create(way);
    await callJson(host, way, 'DELETE', `/prompts/${made[3]}`);
    const next = await page(`pageSize=3&continuationToken=${first.continuationToken}`);
    expect([...first.data, ...next.data].slice(0, 4).map(({ id }) => id)).toEqual([made[0], made[1], made[2], made[4]]);
    const versions = `/prompts/${made[0]}/versions`;
    for (let index = 0; index < 4; index += 1) {
      await callJson(host, way, 'POST', versions, { body: { promptText: String(index) } });
    }
    expect((await walk(host, way, versions, 2)).map(({ number }) => number)).toEqual([5, 4, 3, 2, 1]);
    expect((await callJson(host, way, 'GET', '/prompts')).body.data.length).toBeLessThanOrEqual(20);
  });
});

describe.each(ways)('%s: a run of a stored prompt', (way) => {
  test('returns its text and ids, and is recorded with prompt and version, which the audit finds', async () => {
    const made = await create(way, { systemMessage: 'Be kind.', configuration: { temperature: 0.5 } });
    const body = { promptId: made.id.toUpperCase(), replacements: { name: 'Ada' } };
    const answer = await run(way, body, { 'x-app-Team': 'red' });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        message: 'Good morning',
        messageId: expect.any(String),
        runId: expect.any(String),
        conversationId: expect.any(String),
        usage,
      },
    ]);
    expect(answer.headers).toMatchObject({
      'x-served-by': 'OpenAiCompatible/scripted/model',
      'x-credits-consumed': '1',
      'x-run-id': answer.body.runId,
      'x-conversation-id': answer.body.conversationId,
      'x-request-id': expect.any(String),
    });
    expect([lastMessages(), host.provider.calls.at(-1)?.body['temperature']]).toEqual([
      [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello Ada' },
      ],
      0.5,
    ]);
    const filters = [
      { promptRunId: answer.body.runId },
      { conversationRunId: answer.body.runId, promptId: made.id },
      { promptVersionId: made.latestVersionId },
      { conversationId: answer.body.conversationId },
    ];
    for (const filter of filters) {
      const report = JSON.parse((await askAudit(host, way, filter)).text);
      expect(report.conversations.map(({ runs }: { runs: unknown[] }) => runs)).toEqual([
        [
          expect.objectContaining({
            conversationRunId: answer.body.runId,
            promptRunId: answer.body.runId,
            promptId: made.id,
            promptVersionId: made.latestVersionId,
            status: 'Completed',
            appHeaders: { team: 'red' },
            input: expect.objectContaining({
              promptText: 'Hello {{name}}',
              renderedPrompt: 'Hello Ada',
              replacements: { name: 'Ada' },
            }),
          }),
        ],
      ]);
    }
  });

  test('uses the newest version unless another is named', async () => {
    const made = await create(way, { promptText: 'one' });
    await callJson(host, way, 'POST', `/prompts/${made.id}/versions`, { body: { promptText: 'two', ...scripted } });
    const requested = [];
    for (const promptVersionId of [undefined, null, made.latestVersionId, made.latestVersionId.toUpperCase()]) {
      expect((await run(way, { promptId: made.id, promptVersionId })).status).toBe(200);
      requested.push((lastMessages() as { content: string }[])[0]?.content);
    }
    expect(requested).toEqual(['two', 'two', 'one', 'one']);
  });

  test('replaces absent values with defaults, keeps empty texts, and lists unfilled variables', async () => {
    const made = await create(way, {
      promptText: '{{a}}|{{b}}|{{c}}|{{d.e}}',
      variables: [
        { name: 'a', defaultValue: 'A' },
        { name: 'b', defaultValue: 'B', sampleValue: 'x' },
        { name: 'c', sampleValue: 'never used' },
        { name: 'd.e', defaultValue: 'E' },
      ],
    });
    const { body } = await run(way, { promptId: made.id, replacements: { b: '' } });
    expect([lastMessages(), body.warnings]).toEqual([
      [{ role: 'user', content: 'A|||E' }],
      [{ code: 'variable-unfilled', message: expect.any(String), variable: 'c' }],
    ]);
    const report = JSON.parse((await askAudit(host, way, { promptRunId: body.runId })).text);
    expect(report.conversations[0].runs[0].input.replacements).toEqual({ a: 'A', b: '', 'd.e': 'E' });
  });

  test('takes files for {{media}}, and rejects other values that are no texts', async () => {
    const { id } = await create(way, { promptText: 'Sum up.{{media url=notes}}' });
    const data = Buffer.from(`notes by ${way}`).toString('base64');
    const notes = { mediaType: 'text/plain', data };
    for (const value of [notes, [notes, notes]]) {
      expect((await run(way, { promptId: id, replacements: { notes: value } })).status).toBe(200);
      expect(JSON.stringify(lastMessages())).toContain(`notes by ${way}`);
    }
    for (const value of [5, true, { text: 'x' }, ['x'], { ...notes, as: 'sound' }, { fileId: 'x' }]) {
      const answer = await run(way, { promptId: id, replacements: { notes: value } });
      expect(judgeError(answer, 400).details[0]?.field).toMatch(/^replacements\.notes/);
    }
  });

  test('without a model uses the first one of ServiceAi', async () => {
    host.host.storage.settings.update({
      serviceRoutes: {
        ...host.host.storage.settings.read().serviceRoutes,
        'hl-gpt-4o-mini': { kind: 'provider', ...scripted },
      },
    });
    const made = await create(way, { aiSystem: null, model: null });
    const { body } = await run(way, { promptId: made.id });
    const report = JSON.parse((await askAudit(host, way, { promptRunId: body.runId })).text);
    expect(report.conversations[0].runs[0]).toMatchObject({
      aiSystem: 'ServiceAi',
      model: 'hl-gpt-4o-mini',
      servedBy: 'OpenAiCompatible/scripted/model',
    });
  });

  test('rejects an unknown prompt or version with 404, a version of another prompt with 400', async () => {
    const [made, other] = [await create(way), await create(way)];
    judgeError(await run(way, { promptId: randomUUID() }), 404);
    judgeError(await run(way, { promptId: made.id, promptVersionId: randomUUID() }), 404);
    const foreign = await run(way, { promptId: made.id, promptVersionId: other.latestVersionId });
    expect(rejectionOf(foreign)).toEqual([
      400,
      'invalid_request',
      [{ field: 'promptVersionId', issue: 'is a version of another prompt' }],
    ]);
    judgeError(await callJson(host, way, 'GET', `/prompts/${made.id}/versions/${other.latestVersionId}`), 404);
    judgeError(await callJson(host, way, 'GET', `/prompts/${made.id}/versions/${randomUUID()}`), 404);
  });

  test('fails, costs and is recorded like a completion', async () => {
    const made = await create(way);
    const key = host.issueKey({ creditLimit: 1 });
    const call = { key, body: { promptId: made.id } };
    host.provider.answerWith((scriptedCall) => scriptedCall.fail(429, 'slow down', { 'retry-after': '7' }));
    const limited = await callJson(host, way, 'POST', '/prompts/run', call);
    expect([
      judgeError(limited, 429).code,
      limited.headers['retry-after'],
      limited.headers['x-credits-consumed'],
    ]).toEqual(['rate_limited', '7', '0']);
    host.provider.answerWith((scriptedCall) => scriptedCall.chatAnswer({ content: 'Hello' }));
    const answered = await callJson(host, way, 'POST', '/prompts/run', call);
    expect([answered.status, answered.headers['x-credits-remaining']]).toEqual([200, '0']);
    judgeError(await callJson(host, way, 'POST', '/prompts/run', call), 402);
    const report = JSON.parse((await askAudit(host, way, { promptId: made.id })).text);
    const statuses = report.conversations.map((one: { runs: { status: string }[] }) => one.runs[0]?.status);
    expect(statuses).toEqual(['Completed', 'Failed']);
  });

  test('ends at the provider when its caller leaves, and is recorded as Cancelled', async () => {
    const made = await create(way);
    host.provider.answerWith(null);
    const pending = host.begin(way, jsonRequest(host, 'POST', '/prompts/run', { body: { promptId: made.id } }));
    const call = await host.provider.nextCall();
    pending.leave();
    await call.closed;
    await expect
      .poll(async () => {
        const report = JSON.parse((await askAudit(host, way, { promptId: made.id })).text);
        return report.conversations[0]?.runs[0]?.status;
      })
      .toBe('Cancelled');
  });
});

const uuidIssue = 'must be a UUID';
const good = { name: 'P', promptText: 'Hi' };
const bad: [body: unknown, field: string, issue: string][] = [
  [{ promptText: 'Hi' }, 'name', 'is required'],
  [{ name: 'P' }, 'promptText', 'is required'],
  [{ ...good, name: '' }, 'name', 'must not be empty'],
  [{ ...good, promptText: '' }, 'promptText', 'must not be empty'],
  [{ ...good, promptText: 5 }, 'promptText', 'must be of type string'],
  [{ ...good, colour: 'red' }, 'colour', 'is not a known field'],
  [{ ...good, latestVersionId: randomUUID() }, 'latestVersionId', 'is not a known field'],
  [{ ...good, aiSystem: 'OpenAi' }, 'model', 'is required when aiSystem is given'],
  [{ ...good, aiSystem: 'OpenAi', model: null }, 'model', 'is required when aiSystem is given'],
  [{ ...good, model: '' }, 'model', 'must not be empty'],
  [{ ...good, tags: 'short' }, 'tags', 'must be of type array'],
  [{ ...good, tags: [''] }, 'tags[0]', 'must not be empty'],
  [
    { ...good, configuration: { stream: true } },
    'configuration.stream',
    'is set by the service and cannot be configured',
  ],
  [{ ...good, configuration: { temperature: 'hot' } }, 'configuration.temperature', 'must be of type number'],
  [{ ...good, variables: [{}] }, 'variables[0].name', 'is required'],
  [{ ...good, variables: [{ name: 'a', value: 'b' }] }, 'variables[0].value', 'is not a known field'],
  [{ ...good, variables: [{ name: 'a', defaultValue: 5 }] }, 'variables[0].defaultValue', 'must be of type string'],
  [{ ...good, variables: [{ name: 'a' }, { name: 'a' }] }, 'variables[1].name', 'is given more than once'],
];

describe.each(ways)('%s: rejections', (way) => {
  test.each(bad)('rejects %j and names %s', async (body, field, issue) => {
    const before = (await walk(host, way, '/prompts', 100)).length;
    const answer = await callJson(host, way, 'POST', '/prompts', { body });
    expect(rejectionOf(answer)).toEqual([400, 'invalid_request', [{ field, issue }]]);
    expect((await walk(host, way, '/prompts', 100)).length).toBe(before);
  });

  test('rejects a malformed template with line and column, for a prompt and for a version', async () => {
    const made = await create(way);
    for (const path of ['/prompts', `/prompts/${made.id}/versions`]) {
      const body = { ...(path === '/prompts' ? { name: 'P' } : {}), promptText: 'Hi\n  {{/if}}' };
      const answer = await callJson(host, way, 'POST', path, { body });
      const [detail] = judgeError(answer, 400).details;
      expect(detail).toMatchObject({ field: 'promptText', line: 2, column: 3 });
    }
    expect((await walk(host, way, `/prompts/${made.id}/versions`, 100)).length).toBe(1);
  });

  test("rejects an unknown model, or another provider's, and suggests the nearest", async () => {
    // A name in no list is looked for in the provider's current list.
    host.provider.answerWith((call) => call.models(['model']));
    const reject = async (model: Record<string, unknown>) => {
      const answer = await callJson(host, way, 'POST', '/prompts', { body: { ...good, ...model } });
      const error = judgeError(answer, 400);
      return [error.details[0]?.field, error.message];
    };
    expect(await reject({ model: 'gpt-4p' })).toEqual(['model', expect.stringContaining('gpt-4o')]);
    expect(await reject({ aiSystem: 'Anthropic', model: 'gpt-4o' })).toEqual([
      'model',
      expect.stringContaining('OpenAi'),
    ]);
    expect(await reject({ aiSystem: 'ServiceAi', model: 'gpt-4o' })).toEqual([
      'model',
      expect.stringContaining('hl-gpt'),
    ]);
    expect(await reject({ aiSystem: 'OpenAiCompatible', model: 'nowhere/x' })).toEqual(['model', expect.any(String)]);
  });

  test.each<[unknown, string, string]>([
    [{}, 'promptId', 'is required'],
    [{ promptId: null }, 'promptId', 'must be of type string'],
    [{ promptId: 'x' }, 'promptId', uuidIssue],
    [{ promptId: randomUUID(), promptVersionId: 'x' }, 'promptVersionId', uuidIssue],
    [
      { promptId: randomUUID(), replacements: { a: 5 } },
      'replacements.a',
      'must be a text, or a file or list of files for {{media}}',
    ],
    [
      { promptId: randomUUID(), replacements: { a: null } },
      'replacements.a',
      'must be a text, or a file or list of files for {{media}}',
    ],
    [{ promptId: randomUUID(), promptText: 'x' }, 'promptText', 'is not a known field'],
  ])('rejects a run of %j and names %s', async (body, field, issue) => {
    expect(rejectionOf(await callJson(host, way, 'POST', '/prompts/run', { body }))).toEqual([
      400,
      'invalid_request',
      [{ field, issue }],
    ]);
  });

  test("rejects a change of versions or of a name to null, and ids that aren't UUIDs", async () => {
    const made = await create(way);
    const reject = async (body: unknown) =>
      rejectionOf(await callJson(host, way, 'PATCH', `/prompts/${made.id}`, { body }));
    expect(await reject({ promptText: 'x' })).toMatchObject([400, 'invalid_request', [{ field: 'promptText' }]]);
    expect(await reject({ name: null })).toMatchObject([400, 'invalid_request', [{ field: 'name' }]]);
    expect(await reject({ tags: null })).toMatchObject([400, 'invalid_request', [{ field: 'tags' }]]);
    judgeError(await callJson(host, way, 'GET', '/prompts/x'), 400);
    for (const method of ['GET', 'DELETE']) {
      judgeError(await callJson(host, way, method, `/prompts/${randomUUID()}`), 404);
    }
  });

  test('rejects foreign pages and tokens', async () => {
    const made = await create(way);
    for (let index = 0; index < 2; index += 1) {
      await callJson(host, way, 'POST', `/prompts/${made.id}/versions`, { body: { promptText: 'x' } });
    }
    const token = (await callJson(host, way, 'GET', '/prompts?pageSize=1')).body.continuationToken;
    const versions = `/prompts/${made.id}/versions`;
    const other = (await callJson(host, way, 'GET', `${versions}?pageSize=1`)).body.continuationToken;
    const queries = [
      '/prompts?pageSize=0',
      '/prompts?pageSize=101',
      '/prompts?pageSize=x',
      '/prompts?pageSize=',
      '/prompts?page=2',
      '/prompts?continuationToken=',
      '/prompts?continuationToken=forged',
      `/prompts?continuationToken=${token.slice(0, -1)}`,
      `/prompts?continuationToken=${other}`,
      `${versions}?continuationToken=${token}`,
      `/prompts/${(await create(way)).id}/versions?continuationToken=${other}`,
    ];
    for (const query of queries) judgeError(await callJson(host, way, 'GET', query), 400);
    expect((await callJson(host, way, 'GET', `/prompts?pageSize=100&continuationToken=${token}`)).status).toBe(200);
  });

  test('a key with only `run` uses a stored prompt without reading its text, also through its runs', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    const variables = [{ name: 'name' }, { name: 'tone', defaultValue: 'Stored tone' }];
    const stored = {
      promptText: 'Stored text for {{name}} in {{tone}}.',
      configuration: { max_tokens: 77 },
      variables,
    };
    const made = await create(way, stored);
    const runs = host.issueKey({ scopes: ['run'] });
    const body = { promptId: made.id, replacements: { name: 'Ada' } };
    const answer = (await callJson(host, way, 'POST', '/prompts/run', { key: runs, body })).body;
    const path = `/conversations/${answer.conversationId}`;
    const own = (await callJson(host, way, 'GET', path, { key: runs })).body.runs[0];
    expect(own).toMatchObject({ promptId: made.id, output: { content: 'Hello' } });
    expect(own.input).toMatchObject({
      promptText: '',
      systemMessage: null,
      replacements: { name: 'Ada' },
      renderedPrompt: '',
      configuration: null,
    });
    expect(own.input.replacements).toEqual({ name: 'Ada' });
    for (const text of ['Stored t', '77']) expect(JSON.stringify(own.input)).not.toContain(text);
    const whole = (await callJson(host, way, 'GET', path)).body.runs[0];
    expect(whole.input).toMatchObject({
      promptText: stored.promptText,
      renderedPrompt: 'Stored text for Ada in Stored tone.',
    });
    expect(whole.input.replacements).toEqual({ name: 'Ada', tone: 'Stored tone' });
  });

  test('checks the scopes of a key before anything else; other methods are 405', async () => {
    const made = await create(way);
    const runs = host.issueKey({ scopes: ['run'] });
    const manages = host.issueKey({ scopes: ['manage'] });
    const status = async (method: string, path: string, key: string, body?: unknown) =>
      (await callJson(host, way, method, path, { key, ...(body === undefined ? {} : { body }) })).status;
    expect([
      await status('GET', '/prompts', runs),
      await status('POST', '/prompts', runs, {}),
      await status('GET', `/prompts/${randomUUID()}`, runs),
      await status('PATCH', `/prompts/${made.id}`, runs, {}),
      await status('DELETE', `/prompts/${made.id}`, runs),
      await status('GET', `/prompts/${made.id}/versions`, runs),
      await status('POST', '/prompts/run', manages, {}),
      await status('PUT', '/prompts', runs, {}),
      await status('GET', '/prompts/run', runs),
      await status('GET', '/prompts', 'ts_wrong'),
    ]).toEqual([403, 403, 403, 403, 403, 403, 403, 405, 405, 401]);
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    expect([
      await status('POST', '/prompts/run', runs, { promptId: made.id }),
      await status('GET', `/prompts/${made.id}`, manages),
    ]).toEqual([200, 200]);
    const wrongMethod = await callJson(host, way, 'PUT', `/prompts/${made.id}`, { body: {} });
    expect(wrongMethod.headers['allow']).toBe('GET, PATCH, DELETE');
  });
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
