import { afterEach, beforeEach, expect, test } from 'vitest';
import { jsonRequest } from '../support/json-call.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
let listed: string[];

beforeEach(async () => {
  listed = ['brand-new'];
  host = await startTestHost();
  host.provider.answerWith((call) =>
    call.method === 'GET' ? call.models(listed) : call.chatAnswer({ content: 'Hi' }),
  );
});
afterEach(() => host.close());

const ask = (model: string) =>
  host.send('HTTP/1.1', completionCall(host, '/api/completions/sync', { aiSystem: 'Groq', model }));
const questions = () => host.provider.calls.filter(({ method }) => method === 'GET').length;

test('runs a model that only the provider lists; an unknown name is fetched once and then 400 at once', async () => {
  const taken = await Promise.all([ask('brand-new'), ask('brand-new')]);
  expect([...taken.map(({ status }) => status), questions()]).toEqual([200, 200, 1]);

  listed = ['brand-new', 'too-late'];
  expect(judgeError(await ask('too-late'), 400).details[0]?.issue).toContain('brand-new');
  expect(questions()).toBe(1);
});

test('the header with the model spells it as requested, in any letters', async () => {
  listed = ['模型 2'];
  const answer = await ask('模型 2');
  expect([answer.status, answer.headers['x-served-by']]).toEqual([200, 'Groq/%E6%A8%A1%E5%9E%8B 2']);
});

test.each([
  ['/v1/agents', { name: 'Guide', prompt: 'Be short.' }],
  ['/prompts', { name: 'Greeting', promptText: 'Hi' }],
])('%s accepts a model that only the provider lists, without its provider', async (path, body) => {
  const create = (model: string) =>
    host.send('HTTP/1.1', jsonRequest(host, 'POST', path, { body: { ...body, model } }));
  expect((await create('brand-new')).status).toBe(201);
  judgeError(await create('unheard-of'), 400);
});
