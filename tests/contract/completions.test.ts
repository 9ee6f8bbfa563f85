import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import {
  judgeArray,
  judgeEvents,
  judgeSync,
  type JudgedAnswer,
  type JudgedRun,
} from '../support/specification-judge.ts';
import { completionCall, providerKey, startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const answerText = 'Grüße, {{name}}! 🌍\n\ndata: [DONE]\n\n"quoted" \u2028 \\';
const totals = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const details = { cached_tokens: 8, cache_write_tokens: null, reasoning_tokens: 0 };
const usage = { ...totals, details };
const providerUsage = {
  ...totals,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

function answerAny(call: ScriptedCall, finishReason = 'stop'): unknown {
  if (call.body['stream'] !== true) return call.chatAnswer({ content: answerText, usage: providerUsage, finishReason });
  return call.chatStream(answerText.split(/(?<=\W)/), { usage: providerUsage, finishReason });
}

beforeEach(() => host.provider.answerWith((call) => answerAny(call)));

interface Case {
  readonly path: string;
  readonly accept?: string;
  readonly judge: (answer: JudgedAnswer) => JudgedRun;
  readonly isStreamed: boolean;
}

const sync = { judge: judgeSync, isStreamed: false };
const events = { judge: judgeEvents, isStreamed: true };
const array = { judge: judgeArray, isStreamed: true };

const cases: Case[] = [
  { path: '/api/completions', ...sync },
  { path: '/api/completions?stream=false', ...sync },
  { path: '/api/completions?stream=false', accept: 'text/event-stream', ...sync },
  { path: '/api/completions?stream=true', ...events },
  { path: '/api/completions?stream=true', accept: '*/*', ...events },
  { path: '/api/completions?stream=true', accept: 'text/event-stream', ...events },
  { path: '/api/completions?stream=true', accept: 'application/json', ...array },
  { path: '/api/completions?stream=true', accept: 'text/event-stream;q=0.5, application/json;q=0.9', ...array },
  { path: '/api/completions?stream=true', accept: 'Application/JSON', ...array },
  { path: '/api/completions?stream=true', accept: 'application/*', ...array },
  { path: '/api/completions?stream=true', accept: '*/*, application/json;q=0.1', ...events },
  { path: '/api/completions?stream=true', accept: 'text/event-stream, application/json', ...events },
  { path: '/api/completions/sync', ...sync },
  { path: '/api/completions/sync', accept: 'text/event-stream', ...sync },
  { path: '/api/completions/stream', ...array },
  { path: '/api/completions/stream', accept: 'text/event-stream', ...array },
  { path: '/api/completions/sse', accept: 'text/event-stream', ...events },
  { path: '/api/completions/sse', accept: 'application/json', ...events },
  { path: '/api/completions/sse', ...events },
];

const endpoints = [
  { path: '/api/completions/sync', ...sync },
  { path: '/api/completions/stream', ...array },
  { path: '/api/completions/sse', ...events },
];

describe.each(ways)('%s', (way) => {
  test.each(cases)(
    'POST $path with Accept $accept returns exactly the documented response',
    async ({ path, accept, judge, isStreamed }) => {
      const answer = await host.send(way, completionCall(host, path, {}, accept === undefined ? {} : { accept }));
      const run = judge(answer);
      expect(run).toEqual({
        content: answerText,
        fragments: isStreamed ? answerText.split(/(?<=\W)/) : [answerText],
        finishReason: 'Stop',
        messageId: expect.any(String),
        runId: expect.any(String),
        usage,
        warnings: [],
        error: null,
      });
      expect([answer.headers['x-served-by'], answer.headers['x-credits-consumed']]).toEqual([
        'OpenAiCompatible/scripted/model',
        '1',
      ]);
      expect(host.host.storage.runs.read(run.runId)).toMatchObject({
        status: 'Completed',
        messageId: run.messageId,
        output: { content: answerText, finishReason: 'Stop', error: null },
        usage,
        rawUsage: providerUsage,
        credits: 1,
      });
    },
  );

  test.each([
    ['stop', 'Stop'],
    ['length', 'Length'],
    ['content_filter', 'ContentFilter'],
    ['tool_calls', 'ToolCalls'],
  ])('maps the finish reason %s to %s', async (theirs, ours) => {
    host.provider.answerWith((call) => answerAny(call, theirs));
    for (const { path, judge } of endpoints) {
      expect(judge(await host.send(way, completionCall(host, path))).finishReason).toBe(ours);
    }
  });

  test.each(endpoints)(
    '$path renders the template, warns of missing values and passes the configuration on',
    async ({ path, judge }) => {
      const body = {
        promptText: 'To {{customer.name}} & {{{who}}}:{{#each items}} {{@index}}={{this}}{{/each}} {{missing}}',
        systemMessage: 'Keep {{this}} as it is',
        replacements: { 'customer.name': 'Ada <b>', who: 'Bob', items: ['x', 'y'] },
        configuration: { temperature: 0.5, max_tokens: 9, something_new: { a: [1] } },
      };
      const run = judge(await host.send(way, completionCall(host, path, body)));
      expect(run.warnings).toEqual([{ code: 'variable-unfilled', message: expect.any(String), variable: 'missing' }]);
      const requested = host.provider.calls.at(-1)?.body;
      expect(requested).toMatchObject({
        model: 'model',
        temperature: 0.5,
        max_tokens: 9,
        something_new: { a: [1] },
        messages: [
          { role: 'system', content: 'Keep {{this}} as it is' },
          { role: 'user', content: 'To Ada <b> & Bob: 0=x 1=y ' },
        ],
      });
    },
  );

  test.each(endpoints)('$path accepts the key in either header, and in both', async ({ path, judge }) => {
    const forms: Record<string, string>[] = [
      { authorization: `Bearer ${host.key}` },
      { authorization: `bearer ${host.key}` },
      { 'x-hl-api-key': host.key },
      { authorization: `Bearer ${host.key}`, 'x-hl-api-key': host.key },
    ];
    for (const headers of forms) {
      const { authorization: _, ...rest } = completionCall(host, path).headers ?? {};
      judge(await host.send(way, { ...completionCall(host, path), headers: { ...rest, ...headers } }));
    }
  });

  test.each(endpoints)(
    '$path warns of unsupported parameters, and of a model that retires',
    async ({ path, judge }) => {
      const body = {
        aiSystem: 'Groq',
        model: 'llama3-70b-8192',
        configuration: { temperature: 0.5, reasoning_effort: 'high' },
      };
      const run = judge(await host.send(way, completionCall(host, path, body)));
      expect(run.warnings).toEqual([
        {
          code: 'parameter-dropped',
          message: expect.stringContaining('reasoning_effort'),
          parameter: 'reasoning_effort',
        },
        { code: 'model-ending', message: expect.stringContaining('2025-08-30') },
      ]);
      const requested = host.provider.calls.at(-1);
      expect([
        requested?.headers.authorization,
        requested?.body['temperature'],
        requested?.body['reasoning_effort'],
      ]).toEqual([`Bearer ${providerKey}`, 0.5, undefined]);
    },
  );

  test('null counts as absent for every optional field', async () => {
    const nothing = {
      systemMessage: null,
      configuration: null,
      replacements: null,
      dataspaceIds: null,
      metadata: null,
    };
    judgeSync(await host.send(way, completionCall(host, '/api/completions/sync', nothing)));
  });

  test("a run joins a conversation by its id, and stores the application's headers", async () => {
    const conversationId = crypto.randomUUID();
    const workspaceId = crypto.randomUUID();
    const request = completionCall(
      host,
      '/api/completions/sync',
      { metadata: { conversationId, workspaceId, ticket: 7 } },
      { 'x-app-Team': 'Blue', 'x-app-__proto__': 'odd' },
    );
    const [first, second] = [judgeSync(await host.send(way, request)), judgeSync(await host.send(way, request))];
    for (const { runId } of [first, second]) {
      expect(host.host.storage.runs.read(runId)).toMatchObject({
        conversationId,
        appHeaders: { team: 'Blue', ['__proto__']: 'odd' },
        metadata: { conversationId, workspaceId, ticket: 7 },
      });
    }
  });

  test('names a conversation by the first line of its prompt, with any line end, without splitting a character', async () => {
    const nameOf = async (promptText: string) => {
      const run = await host.send(way, completionCall(host, '/api/completions/sync', { promptText }));
      const id = run.headers['x-conversation-id'] as string;
      const answer = await host.send(way, {
        path: `/conversations/${id}`,
        headers: { authorization: `Bearer ${host.key}` },
      });
      return JSON.parse(answer.text).name as string;
    };
    expect([await nameOf('\r\nName one\r\nof two'), await nameOf(`${'a'.repeat(119)}🌍`)]).toEqual([
      'Name one',
      'a'.repeat(119),
    ]);
  });

  test('a key with a limit gets its remaining credits, and is rejected without any', async () => {
    const limited = { key: host.issueKey({ creditLimit: 2 }) };
    const left: unknown[] = [];
    for (const { path, judge } of [endpoints[0]!, endpoints[2]!]) {
      const answer = await host.send(way, completionCall(limited, path));
      judge(answer);
      left.push([answer.headers['x-credits-consumed'], answer.headers['x-credits-remaining']]);
    }
    const rejected = await host.send(way, completionCall(limited, '/api/completions/stream'));
    expect([left, rejected.status, JSON.parse(rejected.text).error.code]).toEqual([
      [
        ['1', '1'],
        ['1', '0'],
      ],
      402,
      'credits_exhausted',
    ]);
  });

  test('the OpenAPI document needs no key', async () => {
    const answer = await host.send(way, { path: '/openapi.json' });
    expect([answer.status, JSON.parse(answer.text).openapi]).toEqual([200, '3.1.0']);
  });
});
