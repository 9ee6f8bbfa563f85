// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAuditExport,
  exportColumns,
  followAuditExports,
  type AuditExportInput,
} from '../../shared/contract/audit-exports.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import { escapedText, foundRuns, guardOf, threat } from '../support/guarded-host.ts';
import { callJson } from '../support/json-call.ts';
import { pngOf } from '../support/image-files.ts';
import { longTest } from '../support/patience.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, minimalRequest, startTestHost, type TestHost } from '../support/test-host.ts';
import { answerCalls } from '../support/tool-calls.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);

const post = (text: string, id = 'call_1'): ToolCall => ({ id, name: 'post', arguments: text });
const tool = (change: object = {}) => ({
  type: 'function',
  function: { name: 'post', description: 'Posts a text', parameters: { type: 'object', properties: {} }, ...change },
});

function send(path: string, body: Record<string, unknown>, key = host.key) {
  return callJson(host, 'in memory', 'POST', path, { key, body });
}

async function callTools(called: readonly ToolCall[], body: object = {}, key = host.key) {
  host.provider.answerWith((call) => void answerCalls(call, called));
  const configuration = { tools: [tool()] };
  const answer = await send('/api/completions/sync', { ...minimalRequest, configuration, ...body }, key);
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Done.' }));
  return answer;
}

const paths = ['/api/completions', '/api/completions/sync', '/api/completions/stream', '/api/completions/sse'];

describe('with the guard blocking prompts', () => {
  test.each([
    ['plain', threat],
    ['escaped in JSON', `{"page":"${escapedText(threat)}"}`],
  ])('rejects a flagged result (%s) with 400 and its name in all transports, and sends nothing', async (_, content) => {
    const { body } = await callTools([post('{}'), post('{}', 'call_2')]);
    setGuard({ prompts: 'refuse', answers: 'off' });
    const calls = host.provider.calls.length;
    const toolResults = [
      { toolCallId: 'call_2', content: 'The bread is in the oven.' },
      { toolCallId: 'call_1', content },
    ];
    for (const path of paths) {
      const rejected = await send(path, { continueRunId: body.runId, toolResults });
      judgeError(rejected, 400);
      expect(rejected.body.error.details).toEqual([
        { field: 'toolResults[1].content', issue: expect.stringContaining('violence') },
      ]);
    }
    expect(host.provider.calls.length).toBe(calls);
    const harmless = [toolResults[0]!, { toolCallId: 'call_1', content: 'Posted.' }];
    expect((await send(paths[0]!, { continueRunId: body.runId, toolResults: harmless })).status).toBe(200);
  });

  test("doesn't send flagged arguments from before the guard back", async () => {
    const { body } = await callTools([post(JSON.stringify({ text: threat }))]);
    setGuard({ prompts: 'refuse', answers: 'off' });
    const calls = host.provider.calls.length;
    const toolResults = [{ toolCallId: 'call_1', content: 'Posted.' }];
    const rejected = await send(paths[1]!, { continueRunId: body.runId, toolResults });
    expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, 'continueRunId']);
    expect(host.provider.calls.length).toBe(calls);
  });

  test.each([
    ['description', tool({ description: threat })],
    ['name', tool({ name: 'I_will_kill_you_with_a_knife_you_worthless_idiot' })],
    ['parameters', tool({ parameters: { type: 'object', properties: { a: { type: 'string', enum: [threat] } } } })],
    ['field name', tool({ parameters: { type: 'object', properties: { [threat]: { type: 'string' } } } })],
  ])('rejects a tool with a flagged %s with 400 and names the tools', async (_, flagged) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const calls = host.provider.calls.length;
    const configuration = { tools: [tool({ name: 'bake', description: 'Bakes bread' }), flagged] };
    const rejected = await send(paths[1]!, { ...minimalRequest, configuration });
    expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, 'configuration.tools']);
    expect(host.provider.calls.length).toBe(calls);
  });
});

describe('with the guard blocking answers', () => {
  test.each(paths.flatMap((path) => [false, true].map((isEscaped) => [path, isEscaped] as const)))(
    '%s withholds flagged arguments (escaped: %s), also from GET /conversations/{id}',
    async (path, isEscaped) => {
      setGuard({ prompts: 'off', answers: 'refuse' });
      const text = `{"text":"${isEscaped ? escapedText(threat) : threat}"}`;
      host.provider.answerWith((call) => void answerCalls(call, [post(text)]));
      const key = host.issueKey({ scopes: ['run'] });
      const configuration = { tools: [tool()] };
      const call = completionCall({ key }, path, { ...minimalRequest, configuration });
      const answer = await host.send('in memory', call);
      const hidden = isEscaped ? escapedText('knife') : 'knife';
      expect([answer.status, answer.text.includes('ContentFilter')]).toEqual([200, true]);
      expect(answer.text).not.toContain(hidden.slice(1));
      const conversation = `/conversations/${answer.headers['x-conversation-id']}`;
      const own = await callJson(host, 'in memory', 'GET', conversation, { key });
      expect(own.body.runs[0]).toMatchObject({ output: { content: '', finishReason: 'ContentFilter' } });
      expect(own.body.runs[0].output).not.toHaveProperty('toolCalls');
      expect(own.body.runs[0].moderation.answer.withheld).toBeNull();
      expect(own.text).not.toContain(hidden.slice(1));
      const runId = String(answer.headers['x-run-id']);
      expect(host.host.storage.runs.read(runId)?.moderation?.answer?.withheld).toBe(`post ${text}`);
      const rejected = await send(paths[1]!, { continueRunId: runId, toolResults: [] }, key);
      expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, 'continueRunId']);
    },
  );

  test('a stream contains the calls before the flagged one, and nothing after it', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    const called = [post('{"text":"Bread"}', 'a'), post(JSON.stringify({ text: threat }), 'b'), post('{}', 'c')];
    host.provider.answerWith((call) => void answerCalls(call, called));
    const configuration = { tools: [tool()] };
    const { text } = await host.send('in memory', completionCall(host, '/api/completions/stream', { configuration }));
    const parts = JSON.parse(text) as { runId: string; choice: { message: { toolCalls?: { id?: string }[] } } }[];
    const ids = parts.flatMap(({ choice }) => choice.message.toolCalls ?? []).flatMap(({ id }) => id ?? []);
    expect([ids, text.includes('knife')]).toEqual([['a'], false]);
    expect(host.host.storage.runs.read(parts[0]!.runId)?.output).toMatchObject({
      finishReason: 'ContentFilter',
      toolCalls: [called[0]],
    });
  });
});

async function evidence(change: Partial<AuditExportInput>): Promise<Record<string, string>> {
  const client = windowClient(host.host);
  const { id } = await client.call(createAuditExport, {
    body: {
      selection: { filter: {} },
      columns: [...exportColumns],
      rules: [],
      formats: ['html', 'jsonl', 'csv'],
      form: 'folder',
      ...change,
    },
  });
  const { parts } = await client.stream(followAuditExports);
  for await (const { data } of parts) {
    const pack = data.find((one) => one.id === id);
    if (!pack || pack.state === 'running') continue;
    expect(pack).toMatchObject({ state: 'completed', failure: null });
    const folder = join(host.dataDirectory, 'exports', id, 'pack');
    return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  }
  throw new Error('The pack never ended.');
}

test(
  'evidence hides what rules find in arguments, results and file names, and never has base64',
  longTest,
  async () => {
    const image = pngOf({ width: 7, height: 7 });
    const form = formOf([{ name: 'file', content: image, fileName: 'ada@example.com.png' }]);
    const uploaded = await host.send('in memory', { ...uploadRequest(host, form), path: '/files' });
    expect(uploaded.status).toBe(201);
    const called = [
      post('{"to":"bob@example.com"}'),
      post(`{"to":"${escapedText('eve@example.com')}","text":"Call me\\n+49 30 1234567"}`, 'call_2'),
    ];
    const photo = { fileId: JSON.parse(uploaded.text).id };
    const { body } = await callTools(called, { promptText: '{{media url=photo}}', replacements: { photo } });
    const toolResults = [
      { toolCallId: 'call_1', content: 'Sent to mallory@example.com' },
      { toolCallId: 'call_2', content: `{"by":"\\nDE89 3704 0044 0532 0130 00"}` },
    ];
    const continued = await send(paths[1]!, { continueRunId: body.runId, toolResults });
    expect(continued.status).toBe(200);
    const conversationIds = [String(continued.headers['x-conversation-id'])];
    const secrets = ['ada@', 'bob@', 'mallory@', 'u0040', '1234567', '0532 0130'];
    const plain = await evidence({ selection: { conversationIds } });
    const redacted = await evidence({
      selection: { conversationIds },
      rules: [{ kind: 'email' }, { kind: 'phone' }, { kind: 'account' }],
    });
    for (const name of ['evidence.html', 'evidence.jsonl', 'evidence.csv']) {
      for (const secret of secrets) {
        // JSON in JSON has its escapes escaped.
        expect([name, secret, plain[name]!.includes(secret)]).toEqual([name, secret, true]);
        expect([name, secret, redacted[name]!.includes(secret)]).toEqual([name, secret, false]);
      }
      expect(plain[name]).not.toContain(image.toString('base64').slice(0, 40));
      expect(redacted[name]).toContain(photo.fileId);
    }
  },
);

test.each([
  ['arguments', { filter: 'zanzibar' }],
  ['escaped arguments', { filter: 'zürich' }],
  ['words after an escaped line end', { filter: 'wanderlust' }],
  ['the name of a tool', { filter: 'post' }],
  ['results', { filter: 'xylophone' }],
])('the audit finds %s by their words', async (_, { filter: text }) => {
  const called = [post('{"to":"Zanzibar","from":"Z\\u00fcrich\\nwanderlust"}')];
  const { body } = await callTools(called);
  const toolResults = [{ toolCallId: 'call_1', content: '{"sound":"xylophone"}' }];
  const continued = await send(paths[1]!, { continueRunId: body.runId, toolResults });
  const expected = text === 'xylophone' ? continued.body.runId : body.runId;
  expect(await foundRuns(host, { text })).toContain(expected);
});
