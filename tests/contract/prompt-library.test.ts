import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Prompt, PromptInput } from '../../shared/contract/prompts.ts';
import { askAudit } from '../support/audit-runs.ts';
import { callJson, walk } from '../support/json-call.ts';
import { judgeError } from '../support/specification-judge.ts';
import { minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const scripted = { aiSystem: minimalRequest.aiSystem, model: minimalRequest.model };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function create(way: Way, input: Partial<PromptInput> = {}): Promise<Prompt> {
  const body = { name: 'Greeting', promptText: 'Hello {{name}}', ...scripted, ...input };
  return (await callJson(host, way, 'POST', '/prompts', { body })).body;
}

async function addVersion(way: Way, id: string, promptText: string, more: object = {}): Promise<{ id: string }> {
  return (await callJson(host, way, 'POST', `/prompts/${id}/versions`, { body: { promptText, ...scripted, ...more } }))
    .body;
}

describe.each(ways)('%s: the search of prompts', (way) => {
  beforeEach(async () => {
    for (const { id } of await walk(host, way, '/prompts', 100)) await callJson(host, way, 'DELETE', `/prompts/${id}`);
  });

  async function found(query: Record<string, string>): Promise<string[]> {
    const { status, body } = await callJson(host, way, 'GET', `/prompts?${new URLSearchParams(query)}`);
    expect([status, body]).toEqual([200, expect.objectContaining({ data: expect.any(Array) })]);
    return body.data.map(({ name }: Prompt) => name);
  }

  test('every term is searched in all texts of a prompt and its versions', async () => {
    const whole = await create(way, {
      name: 'Workshop reply',
      folder: 'support/mail',
      tags: ['velocipede'],
      description: 'First answer',
      promptText: 'About the bicycle of {{customerName}}',
      systemMessage: 'Stay kind.',
      note: 'As it went live',
      variables: [
        { name: 'customerName', description: 'As she signs', defaultValue: 'Mara', sampleValue: 'Lindqvist' },
      ],
    });
    await addVersion(way, whole.id, 'About the tricycle', { note: 'Warmer' });
    await create(way, { name: 'Invoice reader', promptText: 'Read {{invoice}}' });
    const parts = ['workshop', 'support/mail', 'velocipede', 'answer', 'bicycle', 'kind', 'live', 'signs', 'mara'];
    for (const search of [...parts, 'lindqvist', 'tricycle', 'warmer', 'NAME customer'])
      expect([search, await found({ search })]).toEqual([search, ['Workshop reply']]);
    expect(await found({ search: scripted.model })).toEqual(['Invoice reader', 'Workshop reply']);
    expect(await found({ search: 'bicycle tricycle' })).toEqual(['Workshop reply']);
    expect(await found({ search: 'bicycle invoice' })).toEqual([]);
  });

  test('finds parts of words, short words, other scripts, accents and phrases', async () => {
    await create(way, { name: 'Rechnungsnummer', promptText: 'Prüfe die Straße' });
    await create(way, { name: '客户回复', promptText: '请礼貌地回答客户的问题' });
    await create(way, { name: 'Café', promptText: 'a b: 100% "sure" _x' });
    await create(way, { name: 'Last', promptText: 'ends with qz' });
    const requested = [
      'nummer',
      'prufe',
      '客户',
      '礼',
      'cafe',
      'CAFÉ',
      '100%',
      '_x',
      '"b: 100%"',
      '"100% b:"',
      'qz',
      'z',
      "'",
      '*',
    ];
    const answers = await Promise.all(requested.map(async (search) => [search, await found({ search })]));
    expect(Object.fromEntries(answers)).toEqual({
      nummer: ['Rechnungsnummer'],
      prufe: ['Rechnungsnummer'],
      客户: ['客户回复'],
      礼: ['客户回复'],
      cafe: ['Café'],
      CAFÉ: ['Café'],
      '100%': ['Café'],
      _x: ['Café'],
      '"b: 100%"': ['Café'],
      '"100% b:"': [],
      qz: ['Last'],
      z: ['Last'],
      "'": [],
      '*': [],
    });
  });

  test('a renamed or deleted prompt is found by its current state; dropped text of a version is still found', async () => {
    const { id } = await create(way, { name: 'Older name', promptText: 'zeppelin' });
    await addVersion(way, id, 'balloon');
    await callJson(host, way, 'PATCH', `/prompts/${id}`, { body: { name: 'Newer name' } });
    expect([await found({ search: 'older' }), await found({ search: 'newer zeppelin' })]).toEqual([[], ['Newer name']]);
    await callJson(host, way, 'DELETE', `/prompts/${id}`);
    expect([await found({ search: 'newer' }), await found({ search: 'zep' })]).toEqual([[], []]);
  });

  test('a search of the details reads no version', async () => {
    await create(way, { name: 'Balloon', promptText: 'zeppelin' });
    await create(way, { name: 'Other', promptText: 'balloon' });
    const requested = ['balloon', 'ba', 'b', 'zeppelin', 'e'];
    const answers = await Promise.all(requested.map((search) => found({ search, searchIn: 'details' })));
    expect(answers).toEqual([['Balloon'], ['Balloon'], ['Balloon'], [], ['Other']]);
  });

  test('folders include subfolders, tags must all match, and both combine with a search', async () => {
    await create(way, { name: 'Mail', folder: 'support / mail', tags: ['kind', 'a, b'] });
    await create(way, { name: 'Support', folder: 'support', tags: ['kind'] });
    await create(way, { name: 'Supported', folder: 'supported' });
    await create(way, { name: 'Free' });
    expect(await found({ folder: 'support' })).toEqual(['Support', 'Mail']);
    expect(await found({ folder: 'support/mail/' })).toEqual(['Mail']);
    expect(await found({ folder: '' })).toEqual(['Free']);
    expect(await found({ tags: 'kind' })).toEqual(['Support', 'Mail']);
    expect(await found({ tags: 'kind,a\\, b' })).toEqual(['Mail']);
    expect(await found({ search: 'hello', folder: 'support', tags: 'kind' })).toEqual(['Support', 'Mail']);
    const outline = await callJson(host, way, 'GET', '/prompts/outline');
    expect([outline.status, outline.body]).toEqual([
      200,
      {
        prompts: 4,
        withoutFolder: 1,
        folders: [
          { folder: 'support', prompts: 2 },
          { folder: 'support/mail', prompts: 1 },
          { folder: 'supported', prompts: 1 },
        ],
        tags: [
          { tag: 'a, b', prompts: 1 },
          { tag: 'kind', prompts: 2 },
        ],
      },
    ]);
  });

  test('matches come in pages whose token is valid only for the same query', async () => {
    for (let index = 1; index <= 5; index += 1) await create(way, { name: `Page ${index}` });
    await create(way, { name: 'Other' });
    const page = async (query: string) => await callJson(host, way, 'GET', `/prompts?${query}`);
    const first = (await page('search=page&pageSize=3')).body;
    const token = encodeURIComponent(first.continuationToken);
    const second = (await page(`search=page&continuationToken=${token}`)).body;
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(
      [5, 4, 3, 2, 1].map((number) => `Page ${number}`),
    );
    expect(second.continuationToken).toBe(null);
    judgeError(await page(`search=other&continuationToken=${token}`), 400);
    judgeError(await page(`continuationToken=${token}`), 400);
    judgeError(await page(`search=${'a+'.repeat(21)}`), 400);
    judgeError(await page(`search=${'a'.repeat(501)}`), 400);
  });
});

describe.each(ways)('%s: labels', (way) => {
  const path = (id: string, label: string) => `/prompts/${id}/labels/${label}`;
  const put = (id: string, label: string, body: unknown) => callJson(host, way, 'PUT', path(id, label), { body });

  test('a label points at one version, is moved, run and removed, and its history stays', async () => {
    const { id, latestVersionId: first } = await create(way);
    const { id: second } = await addVersion(way, id, 'Hello again, {{name}}');
    const set = await put(id, 'production', { promptVersionId: first });
    const label = { label: 'production', promptId: id, promptVersionId: first, versionNumber: 1, updatedAt: time };
    expect([set.status, set.body]).toEqual([200, label]);
    expect((await callJson(host, way, 'GET', `/prompts/${id}`)).body.labels).toEqual([
      { label: 'production', promptVersionId: first },
    ]);

    host.provider.answerWith((call) => call.chatAnswer({ content: 'Good morning' }));
    const ran = await callJson(host, way, 'POST', '/prompts/run', { body: { promptId: id, label: 'production' } });
    expect(ran.status).toBe(200);
    const report = JSON.parse((await askAudit(host, way, { promptVersionId: first })).text);
    expect(report.conversations[0].runs[0]).toMatchObject({
      conversationRunId: ran.body.runId,
      promptVersionId: first,
    });

    expect((await put(id, 'production', { promptVersionId: second, previousVersionId: first })).status).toBe(200);
    expect((await callJson(host, way, 'GET', path(id, 'production'))).body).toMatchObject({ versionNumber: 2 });
    const removed = await callJson(host, way, 'DELETE', path(id, 'production'));
    expect([removed.status, removed.text]).toEqual([204, '']);
    judgeError(await callJson(host, way, 'GET', path(id, 'production')), 404);
    judgeError(await callJson(host, way, 'DELETE', path(id, 'production')), 404);
    judgeError(await callJson(host, way, 'POST', '/prompts/run', { body: { promptId: id, label: 'production' } }), 404);
    const changes = await walk(host, way, `/prompts/${id}/label-changes`, 2);
    expect(changes).toEqual([
      { label: 'production', previousVersionId: second, promptVersionId: null, changedAt: time },
      { label: 'production', previousVersionId: first, promptVersionId: second, changedAt: time },
      { label: 'production', previousVersionId: null, promptVersionId: first, changedAt: time },
    ]);
  });

  test('if many move a label from the same version, one succeeds, and the history is an unbroken chain', async () => {
    const { id, latestVersionId: first } = await create(way);
    await put(id, 'production', { promptVersionId: first, previousVersionId: null });
    const versions: { id: string }[] = [];
    for (let index = 0; index < 6; index += 1) versions.push(await addVersion(way, id, `Text ${index}`));
    const answers = await Promise.all(
      versions.map((version) => put(id, 'production', { promptVersionId: version.id, previousVersionId: first })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    judgeError(
      answers.find(({ status }) => status === 409)!,
      409,
    );
    await Promise.all(versions.map((version) => put(id, 'production', { promptVersionId: version.id })));
    const changes = await walk(host, way, `/prompts/${id}/label-changes`, 100);
    expect(changes.map(({ previousVersionId }) => previousVersionId)).toEqual([
      ...changes.slice(1).map(({ promptVersionId }) => promptVersionId),
      null,
    ]);
  });

  test('rejects invalid labels and records nothing', async () => {
    const { id } = await create(way);
    const other = await create(way);
    judgeError(await put(id, 'production', { promptVersionId: other.latestVersionId }), 400);
    judgeError(await put(id, 'production', { promptVersionId: randomUUID() }), 400);
    judgeError(await put(randomUUID(), 'production', { promptVersionId: other.latestVersionId }), 404);
    for (const label of ['Latest', 'a%20b', '.hidden', 'x'.repeat(101)])
      judgeError(await put(id, label, { promptVersionId: other.latestVersionId }), 400);
    const body = { promptId: id, promptVersionId: other.latestVersionId, label: 'production' };
    judgeError(await callJson(host, way, 'POST', '/prompts/run', { body }), 400);
    expect((await callJson(host, way, 'GET', `/prompts/${id}/label-changes`)).body).toEqual({
      data: [],
      continuationToken: null,
    });
  });
});

describe.each(ways)('%s: the usage of versions', (way) => {
  const usageOf = (id: string) => walk(host, way, `/prompts/${id}/usage`, 1);
  const unused = { runs: 0, lastRunAt: null, averageScore: null, scoredRuns: 0, averageCost: null, averageMs: null };

  async function run(path: string, body: object) {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Good morning' }));
    const answer = await callJson(host, way, 'POST', path, { body });
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ runId: expect.any(String) })]);
    return answer.body;
  }

  test('runs, feedback and times count only for the version that was run', async () => {
    const { id, latestVersionId: first } = await create(way);
    const { id: second } = await addVersion(way, id, 'Hello again, {{name}}');
    const { conversationId, runId } = await run('/prompts/run', { promptId: id, promptVersionId: first });
    await run('/prompts/run', { promptId: id, promptVersionId: first });
    const feedback = `/conversations/${conversationId}/runs/${runId}/feedback`;
    for (const score of [-3, null, 7]) await callJson(host, way, 'PUT', feedback, { body: { score } });
    expect(await usageOf(id)).toEqual([
      { promptVersionId: second, versionNumber: 2, ...unused },
      {
        promptVersionId: first,
        versionNumber: 1,
        runs: 2,
        lastRunAt: time,
        averageScore: 7,
        scoredRuns: 1,
        averageCost: null,
        averageMs: expect.any(Number),
      },
    ]);
    judgeError(await callJson(host, way, 'GET', `/prompts/${randomUUID()}/usage`), 404);
  });

  test('a completion from a version counts for it until it is edited, and then only names it', async () => {
    const configuration = { temperature: 0.5, seed: 3 };
    const { id, latestVersionId } = await create(way, { systemMessage: 'Be kind.', configuration });
    const same = {
      promptText: 'Hello {{name}}',
      systemMessage: 'Be kind.',
      configuration: { seed: 3, temperature: 0.5, top_p: null },
      ...scripted,
      metadata: { promptVersionId: latestVersionId.toUpperCase() },
    };
    const recorded = async (body: object) => {
      const { runId } = await run('/api/completions', body);
      const report = JSON.parse((await askAudit(host, way, { conversationRunId: runId })).text);
      const { promptId, promptVersionId, promptRunId, metadata } = report.conversations[0].runs[0];
      return [promptId, promptVersionId, promptRunId === runId, metadata.promptVersionId];
    };
    expect(await recorded({ ...same, replacements: { name: 'Ada' } })).toEqual([
      id,
      latestVersionId,
      true,
      latestVersionId.toUpperCase(),
    ]);
    const edits = [{ promptText: 'Hello' }, { systemMessage: null }, { configuration: { seed: 4, temperature: 0.5 } }];
    for (const edit of [...edits, { model: 'scripted/other' }]) {
      const named = latestVersionId.toUpperCase();
      expect([edit, await recorded({ ...same, ...edit })]).toEqual([edit, [null, null, false, named]]);
    }
    for (const promptVersionId of [randomUUID(), 'no uuid', 7])
      expect(await recorded({ ...same, metadata: { promptVersionId } })).toEqual([null, null, false, promptVersionId]);
    expect((await usageOf(id)).map(({ runs }) => runs)).toEqual([1]);
  });
});
