import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultModerationSettings } from '../../shared/contract/moderation.ts';
import type { ApiKeyInput } from '../../shared/contract/api-keys.ts';
import type { Source } from '../../shared/contract/dataspaces.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { judgeError } from '../support/specification-judge.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { completionCall, startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
afterEach(() => {
  host.provider.answerWith(null);
  host.host.storage.settings.update({
    moderation: defaultModerationSettings,
    guard: { prompts: 'off', answers: 'off' },
  });
});

/** Judges texts with the scripted model, as a provider that costs money would. */
function usePaidClassifier(): void {
  const classifier = { kind: 'model', aiSystem: 'OpenAiCompatible', model: 'scripted/judge', policy: null } as const;
  host.host.storage.settings.update({ moderation: { ...defaultModerationSettings, classifier } });
}

const verdict = (violence: number) =>
  JSON.stringify({ sexual: 0, hatred: 0, harassment: 0, selfHarm: 0, violence, passages: [] });

/** Answers as classifier and as model. */
const answerBoth =
  (violence = 0) =>
  (call: ScriptedCall) =>
    call.chatAnswer({ content: call.body['model'] === 'judge' ? verdict(violence) : 'Hello.' });

const moderate = (key: string) =>
  host.send('in memory', {
    method: 'POST',
    path: '/moderations',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: '{"input":"a text"}',
  });
const complete = (key: string) => host.send('in memory', completionCall({ key }, '/api/completions/sync'));

async function creditsOf(key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  return JSON.parse((await host.send('in memory', { path: '/credits', headers })).text);
}

/** What the database says, which counts after a restart. */
function storedUse(input: Partial<ApiKeyInput> & { name: string }): number {
  return host.host.storage.apiKeys.list().find(({ name }) => name === input.name)!.creditsUsed;
}

describe('credits', () => {
  test.each(['note', 'refuse'] as const)('a key without credits reaches no classifier: guard %s', async (prompts) => {
    usePaidClassifier();
    host.host.storage.settings.update({ guard: { prompts, answers: 'off' } });
    host.provider.answerWith(answerBoth());
    const key = host.issueKey({ creditLimit: 0 });
    const calls = host.provider.calls.length;
    expect(judgeError(await complete(key), 402).code).toBe('credits_exhausted');
    expect(judgeError(await moderate(key), 402).code).toBe('credits_exhausted');
    expect(host.provider.calls.length).toBe(calls);
  });

  test("a provider's verdict costs one, a failed one nothing", async () => {
    usePaidClassifier();
    host.provider.answerWith(answerBoth());
    const input = { name: 'judged', creditLimit: 2 };
    const key = host.issueKey(input);
    expect((await moderate(key)).status).toBe(200);
    host.provider.answerWith((call) => call.fail(500, 'down'));
    judgeError(await moderate(key), 502);
    expect(await creditsOf(key)).toMatchObject({ consumed: 1, remaining: 1 });
    expect(storedUse(input)).toBe(1);
  });

  test("simultaneous verdicts can't overspend", async () => {
    usePaidClassifier();
    host.provider.answerWith(answerBoth());
    const key = host.issueKey({ creditLimit: 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => moderate(key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test("a prompt that a provider's classifier blocked costs one, so that repeating it isn't free", async () => {
    usePaidClassifier();
    host.host.storage.settings.update({ guard: { prompts: 'refuse', answers: 'off' } });
    host.provider.answerWith(answerBoth(1));
    const input = { name: 'blocked', creditLimit: 1 };
    const key = host.issueKey(input);
    judgeError(await complete(key), 400);
    judgeError(await complete(key), 402);
    expect(storedUse(input)).toBe(1);
  });

  test('on-device moderation, and a prompt that it blocked, cost nothing', async () => {
    host.host.storage.settings.update({ guard: { prompts: 'refuse', answers: 'off' } });
    const key = host.issueKey({ creditLimit: 1 });
    expect((await moderate(key)).status).toBe(200);
    const threat = 'I will find you, break your fingers and kill you with a knife, you worthless idiot.';
    const call = completionCall({ key }, '/api/completions/sync', { promptText: threat });
    judgeError(await host.send('in memory', call), 400);
    expect(await creditsOf(key)).toMatchObject({ consumed: 0, remaining: 1 });
  });

  test("a provider's embeddings cost one per source and search, and need credits", async () => {
    host.host.storage.settings.update({
      embeddings: { kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'scripted/vectors' },
    });
    let isDown = false;
    const held = Promise.withResolvers<void>();
    host.provider.answerWith(async (call) => {
      await held.promise;
      if (isDown) return call.fail(400, 'down');
      const texts = call.body['input'] as string[];
      return call.json(200, {
        data: texts.map((_, index) => ({ index, embedding: [1, 0] })),
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    });
    const input = { name: 'embedded', scopes: ['manage' as const], creditLimit: 3 };
    const [key, withoutCredits] = [host.issueKey(input), host.issueKey({ ...input, name: 'none', creditLimit: 0 })];
    const form = formOf([
      { name: 'name', content: 'Gold' },
      { name: 'file', content: 'A touchstone tests gold.', fileName: 'gold.txt' },
    ]);
    const add = (by: string) => host.send('in memory', uploadRequest({ key: by }, form));
    const calls = host.provider.calls.length;
    expect(judgeError(await add(withoutCredits), 402).code).toBe('credits_exhausted');
    const added = await add(key);
    expect(added.status).toBe(201);
    const source = JSON.parse(added.text) as Source;
    const post = (by: string, path: string, body: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${by}` };
      return host.send('in memory', { method: 'POST', path, headers, body });
    };
    // While it is Processing, nothing is indexed again.
    expect((await post(key, `/sources/${source.id}/reindex`, '')).status).toBe(202);
    expect(await creditsOf(key)).toMatchObject({ consumed: 1, remaining: 2 });
    held.resolve();
    await expect.poll(() => host.host.storage.sources.read(source.id).status).toBe('Ready');
    const search = (by: string) => post(by, `/dataspaces/${source.dataspaceId}/search`, '{"query":"gold"}');
    const made = host.provider.calls.length;
    expect(made).toBeGreaterThan(calls);
    judgeError(await search(withoutCredits), 402);
    judgeError(await post(withoutCredits, `/sources/${source.id}/reindex`, ''), 402);
    expect(host.provider.calls.length).toBe(made);
    expect((await search(key)).status).toBe(200);
    expect(await creditsOf(key)).toMatchObject({ consumed: 2, remaining: 1 });
    isDown = true;
    expect((await search(key)).status).toBe(200);
    expect(await creditsOf(key)).toMatchObject({ consumed: 2, remaining: 1 });
    expect(storedUse(input)).toBe(2);
    host.host.storage.settings.update({ embeddings: { kind: 'on-device' } });
    expect((await search(withoutCredits)).status).toBe(200);
  });

  test('any key reads its own limits and usage', async () => {
    const limited = host.issueKey({ scopes: ['audit'], creditLimit: 5, requestsPerMinute: 100, tokensPerMinute: 9000 });
    expect(await creditsOf(limited)).toEqual({
      creditLimit: 5,
      consumed: 0,
      remaining: 5,
      requestsPerMinute: 100,
      tokensPerMinute: 9000,
    });
    expect(await creditsOf(host.issueKey())).toEqual({
      creditLimit: null,
      consumed: 0,
      remaining: null,
      requestsPerMinute: null,
      tokensPerMinute: null,
    });
    judgeError(await host.send('in memory', { path: '/credits' }), 401);
  });
});

describe('limits per minute', () => {
  test('requests above the limit get 429 with the time to wait, and every response has the headers', async () => {
    const key = host.issueKey({ requestsPerMinute: 2 });
    const call = { path: '/prompts', headers: { authorization: `Bearer ${key}` } };
    const { status, headers } = await host.send('HTTP/1.1', call);
    expect([status, headers['ratelimit-limit'], headers['ratelimit-remaining']]).toEqual([200, '2', '1']);
    // A failure is a request, too.
    expect((await host.send('HTTP/2', { ...call, path: '/prompts/x' })).headers['ratelimit-remaining']).toBe('0');
    const rejected = await host.send('HTTP/1.1', call);
    expect(judgeError(rejected, 429)).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('2 requests per minute') as string,
    });
    const seconds = Number(rejected.headers['retry-after']);
    expect(seconds > 0 && seconds <= 60).toBe(true);
    expect(rejected.headers['ratelimit-reset']).toBe(rejected.headers['retry-after']);
  });

  test("the provider's token count is deducted, and no run starts without tokens", async () => {
    host.provider.answerWith((call) =>
      call.chatAnswer({
        content: 'Hi.',
        usage: { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 },
      }),
    );
    const key = host.issueKey({ tokensPerMinute: 100, creditLimit: 9 });
    expect((await complete(key)).headers['ratelimit-limit']).toBe('100');
    const calls = host.provider.calls.length;
    expect(judgeError(await complete(key), 429).message).toContain('100 tokens per minute');
    expect(host.provider.calls.length).toBe(calls);
    expect(await creditsOf(key)).toMatchObject({ consumed: 1, remaining: 8 });
  });

  test('a key without limits, and the window, get no such headers', async () => {
    const answer = await host.send('in memory', { path: '/prompts', headers: { authorization: `Bearer ${host.key}` } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });

  test('changes in the window apply at once', async () => {
    const { id, key } = host.host.storage.apiKeys.issue({ name: 'changed', requestsPerMinute: 1 });
    const call = { path: '/prompts', headers: { authorization: `Bearer ${key}` } };
    await host.send('in memory', call);
    judgeError(await host.send('in memory', call), 429);
    const change = new Request(`http://127.0.0.1/window/api-keys/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"requestsPerMinute":null,"tokensPerMinute":7}',
    });
    const changed = await host.host.api.fetch(change, { access: 'window' });
    expect(await changed.json()).toMatchObject({ requestsPerMinute: null, tokensPerMinute: 7, creditLimit: null });
    expect((await host.send('in memory', call)).status).toBe(200);
  });
});
