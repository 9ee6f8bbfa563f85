import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHost } from '../../../../electron/create-host.ts';
import type { Client } from '../../../../renderer/host/client.ts';
import { completionSource, type CompletionOptions } from '../../../../renderer/stores/completion-runs.ts';
import { followRun, type RunProgress } from '../../../../renderer/stores/run-stream.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../../support/scripted-provider.ts';
import { windowClient } from '../../../support/window-client.ts';
import { createMemoryKeyStore } from '../../../../electron/key-store/key-store.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let provider: ScriptedProvider;
let client: Client;
let close: () => Promise<void>;

beforeEach(async () => {
  provider = await startScriptedProvider();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-run-'));
  const service = await createHost({
    dataDirectory,
    providerBases: {},
    endpoints: [{ name: 'test', baseAddress: provider.baseAddress }],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    log: () => {},
  });
  client = windowClient(service);
  close = async () => {
    await service.close();
    await provider.close();
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
  };
});
afterEach(() => close());

/** Starts a run and gives every state that it was in. */
function start({
  signal = new AbortController().signal,
  ...options
}: Partial<CompletionOptions> & { signal?: AbortSignal } = {}) {
  const states: RunProgress[] = [];
  const seen = new Set<() => void>();
  const source = completionSource({
    request: {
      promptText: 'Hello {{name}}',
      aiSystem: 'OpenAiCompatible',
      model: 'test/m',
      metadata: { draftId: 'draft' },
    },
    transport: 'sse',
    hasReasoning: false,
    ...options,
  });
  const ended = followRun(client, {
    details: {},
    source,
    signal,
    onChange: (run) => {
      states.push(run);
      for (const check of seen) check();
    },
  });
  const until = (condition: (run: RunProgress) => boolean): Promise<RunProgress> =>
    new Promise((resolve) => {
      const check = (): void => {
        const run = states.at(-1);
        if (run && condition(run)) resolve(run);
      };
      seen.add(check);
      check();
    });
  return { states, ended, until };
}

test.each(['sse', 'json-array'] as const)(
  'a run over %s streams its text and ends with its metrics',
  async (transport) => {
    const { states, ended } = start({ transport });
    const call = await provider.nextCall();
    await call.chatStream(['One ', 'two'], { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } });
    const run = await ended;
    expect(states.map(({ state }) => state)).toEqual(expect.arrayContaining(['connecting', 'streaming', 'completed']));
    expect(run).toMatchObject({
      state: 'completed',
      text: 'One two',
      finishReason: 'Stop',
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      warnings: [{ code: 'variable-unfilled', variable: 'name' }],
      servedBy: 'OpenAiCompatible/test/m',
      credits: 1,
      error: null,
      frameCount: 3,
      wire: { method: 'POST', status: 200 },
    });
    expect(JSON.parse(run.wire.body)).toEqual({
      promptText: 'Hello {{name}}',
      aiSystem: 'OpenAiCompatible',
      model: 'test/m',
      metadata: { draftId: 'draft' },
    });
  },
);

test('a synchronous run receives the whole answer in one frame', async () => {
  const { ended } = start({ transport: 'sync' });
  (await provider.nextCall()).chatAnswer({ content: 'All at once' });
  expect(await ended).toMatchObject({
    state: 'completed',
    text: 'All at once',
    frameCount: 1,
    wire: { path: '/api/completions/sync' },
  });
});

test('a stopped run keeps its text and has no error', async () => {
  const stop = new AbortController();
  const { ended, until } = start({ signal: stop.signal });
  const call = await provider.nextCall();
  call.openEventStream();
  await call.chatDelta({ content: 'As far as' });
  await until(({ text }) => text === 'As far as');
  stop.abort();
  expect(await ended).toMatchObject({ state: 'stopped', text: 'As far as', error: null });
  await call.closed;
});

test('a run that fails while it streams keeps its text and has the error', async () => {
  const { ended, until } = start();
  const call = await provider.nextCall();
  call.openEventStream();
  await call.chatDelta({ content: 'As far as' });
  await until(({ text }) => text !== '');
  call.cut();
  expect(await ended).toMatchObject({
    state: 'failed',
    text: 'As far as',
    error: { code: 'provider_failed' },
    wire: { status: 200 },
  });
});

test('a rejected run has its status, its error and the time of the next attempt', async () => {
  const { ended } = start();
  (await provider.nextCall()).fail(429, 'Slow down', { 'retry-after': '7' });
  expect(await ended).toMatchObject({
    state: 'failed',
    text: '',
    error: { code: 'rate_limited', retryAfterSeconds: 7 },
    frameCount: 1,
    wire: { status: 429 },
  });
});

test('reasoning streams beside the answer', async () => {
  const { ended, until } = start({ hasReasoning: true });
  const call = await provider.nextCall();
  call.openEventStream();
  await call.chatDelta({ reasoning_content: 'Thinking' });
  await call.chatDelta({ content: 'Text' });
  await until(({ reasoning }) => reasoning === 'Thinking');
  await call.chatEnd();
  expect(await ended).toMatchObject({
    state: 'completed',
    text: 'Text',
    reasoning: 'Thinking',
    isReasoningLive: false,
  });
});

test('the time to the first token ends with the first token of the reasoning', async () => {
  const { until, ended } = start({ hasReasoning: true });
  const call = await provider.nextCall();
  call.openEventStream();
  await call.chatDelta({ reasoning_content: 'Thinking' });
  const { firstTokenAt } = await until(({ reasoning }) => reasoning !== '');
  await call.chatDelta({ content: 'Text' });
  await call.chatEnd();
  expect(firstTokenAt).toBeGreaterThan(0);
  expect((await ended).firstTokenAt).toBe(firstTokenAt);
});
