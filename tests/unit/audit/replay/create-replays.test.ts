// @module-tag slow
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import {
  createReplay,
  deleteReplay,
  followReplays,
  listReplays,
  readReplayResults,
  resumeReplay,
  retryReplay,
  stopReplay,
  type Replay,
  type ReplayInput,
} from '../../../../shared/contract/audit-replay.ts';
import { createCompletionSync, type CompletionRequest } from '../../../../shared/contract/completions.ts';
import { readRun } from '../../../../shared/contract/runs.ts';
import type { ScriptedCall } from '../../../support/scripted-provider.ts';
import { minimalRequest, startTestHost, type TestHost } from '../../../support/test-host.ts';
import { windowClient } from '../../../support/window-client.ts';

let world: TestHost;
let client: Client;

beforeEach(async () => {
  world = await startTestHost();
  onTestFinished(() => world.close());
  client = windowClient(world.host);
  world.provider.answerWith((call) => answerOf(call));
});

/** Answers with what it was asked, and by which model. */
function answerOf(call: ScriptedCall): unknown {
  const { model, stream, messages } = call.body as { model: string; stream?: boolean; messages: { content: string }[] };
  const content = `${model}: ${messages.at(-1)!.content}`;
  return stream ? call.chatStream([content]) : call.chatAnswer({ content });
}

/** Records runs that were answered; resolves with their ids. */
async function recordRuns(count: number, change: Partial<CompletionRequest> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { ...minimalRequest, promptText: 'Say {{word}}', replacements: { word: `word ${index}` }, ...change };
    const answer = await client.call(createCompletionSync, { body, headers: { 'x-app-team': 'red' } });
    ids.push(answer.runId);
  }
  return ids;
}

function create(runIds: string[], target: ReplayInput['target'], more: Partial<ReplayInput> = {}): Promise<Replay> {
  return client.call(createReplay, { body: { selection: { runIds }, target, ...more } });
}

/** Resolves with the replay as soon as it fits, by what the host tells. */
async function replayThat(id: string, fits: (replay: Replay) => boolean): Promise<Replay> {
  const { parts } = await client.stream(followReplays);
  for await (const { data } of parts) {
    const replay = data.find((one) => one.id === id);
    if (replay && fits(replay)) return replay;
  }
  throw new Error('The replay was never so.');
}

const ended = (id: string) => replayThat(id, ({ state }) => state !== 'running');
const results = (id: string, query = {}) => client.call(readReplayResults, { parameters: { id }, query });

describe('a replay', () => {
  test('records each run again on the target, in a separate conversation', async () => {
    const runIds = await recordRuns(3, { configuration: { temperature: 0.5, seed: 7 } });
    const target = {
      aiSystem: 'Groq',
      model: 'llama3-70b-8192',
      configuration: { seed: null, max_tokens: 99 },
    } as const;
    const { id } = await create(runIds, target, { name: 'Other model' });
    expect(await ended(id)).toMatchObject({
      name: 'Other model',
      state: 'completed',
      total: 3,
      completed: 3,
      failed: 0,
      target,
    });

    const { data } = await results(id);
    expect(data.map(({ original }) => original!.runId)).toEqual(runIds);
    const originals = await Promise.all(runIds.map((runId) => client.call(readRun, { parameters: { id: runId } })));
    const replayed = await Promise.all(
      data.map((pair) => client.call(readRun, { parameters: { id: pair.replayed!.runId } })),
    );
    for (const [index, run] of replayed.entries()) {
      expect(run).toMatchObject({
        status: 'Completed',
        aiSystem: 'Groq',
        model: 'llama3-70b-8192',
        callerId: world.host.storage.windowCallerId,
        metadata: { replayOf: runIds[index] },
        appHeaders: { team: 'red' },
        input: { ...originals[index]!.input, configuration: { temperature: 0.5, max_tokens: 99 } },
        output: { content: `llama3-70b-8192: Say word ${index}` },
      });
    }
    const conversations = [...originals, ...replayed].map(({ conversationId }) => conversationId);
    expect(new Set(conversations).size).toBe(6);
  });

  test('shows before and after with their totals, page by page', async () => {
    const runIds = await recordRuns(3);
    const { id } = await create(runIds, {});
    await ended(id);
    const all = await results(id);
    expect(all).toMatchObject({
      offset: 0,
      total: 3,
      sameAnswers: 3,
      before: { runs: 3, totalTokens: 36 },
      after: { runs: 3, totalTokens: 36 },
    });
    expect(all.after.averageTotalMs).toBeGreaterThan(0);
    expect(all.data[1]).toMatchObject({
      position: 1,
      state: 'completed',
      failure: null,
      original: { renderedPrompt: 'Say word 1', content: 'model: Say word 1' },
      replayed: { renderedPrompt: 'Say word 1', content: 'model: Say word 1', usage: { total_tokens: 12 } },
    });
    expect([all.before.runsWithoutCost, all.before.runsWithoutTokens]).toEqual([3, 0]);
    const page = await results(id, { offset: 1, limit: 1 });
    expect(page).toEqual({ ...all, offset: 1, data: [all.data[1]] });
  });

  test('counts the runs with unknown cost or tokens separately from the sums', async () => {
    const runIds = await recordRuns(2);
    const { id } = await create(runIds, { aiSystem: 'Groq', model: 'openai/gpt-oss-20b' });
    await ended(id);
    const { before, after } = await results(id);
    expect(before).toMatchObject({ runs: 2, cost: 0, runsWithoutCost: 2, runsWithoutTokens: 0 });
    expect(after).toMatchObject({ runs: 2, runsWithoutCost: 0, runsWithoutTokens: 0 });
  });

  test('runs another version of the prompt with the same replacements', async () => {
    const runIds = await recordRuns(1);
    const { id } = await create(runIds, { promptText: 'Shout {{word}}!', systemMessage: 'Loud.' });
    await ended(id);
    const { data } = await results(id);
    expect(data[0]!.replayed!.renderedPrompt).toBe('Shout word 0!');
    expect((world.provider.calls.at(-1)!.body as { messages: unknown[] }).messages[0]).toMatchObject({
      content: 'Loud.',
    });
  });

  test('replays the runs of a filter, newest first', async () => {
    await recordRuns(2);
    const chosen = await recordRuns(2, { promptText: 'needle' });
    const filter = { text: 'needle' };
    const { id } = await client.call(createReplay, { body: { selection: { filter }, target: {} } });
    await ended(id);
    expect((await results(id)).data.map(({ original }) => original!.runId)).toEqual(chosen.toReversed());
  });

  test('limits the number of simultaneous runs', async () => {
    const runIds = await recordRuns(5);
    const before = world.provider.calls.length;
    world.provider.answerWith(null);
    const { id } = await create(runIds, {}, { parallel: 2 });
    const [first, second] = [await world.provider.nextCall(), await world.provider.nextCall()];
    expect(await replayThat(id, ({ running }) => running === 2)).toMatchObject({ waiting: 3, running: 2 });
    expect(world.provider.calls.length - before).toBe(2);
    await answerOf(first);
    const third = await world.provider.nextCall();
    expect(world.provider.calls.length - before).toBe(3);
    world.provider.answerWith((call) => answerOf(call));
    await Promise.all([answerOf(second), answerOf(third)]);
    expect(await ended(id)).toMatchObject({ state: 'completed', completed: 5 });
  });

  test('is stopped at the provider too, and resumes with the rest', async () => {
    const runIds = await recordRuns(3);
    world.provider.answerWith(null);
    const { id } = await create(runIds, {}, { parallel: 1 });
    await answerOf(await world.provider.nextCall());
    const second = await world.provider.nextCall();
    expect(await client.call(stopReplay, { parameters: { id } })).toMatchObject({
      state: 'stopped',
      completed: 1,
      waiting: 2,
      running: 0,
    });
    await second.closed;
    const stopped = (await results(id)).data[1]!;
    expect(stopped).toMatchObject({ state: 'waiting', replayed: { status: 'Cancelled' } });
    world.provider.answerWith((call) => answerOf(call));
    expect(await client.call(resumeReplay, { parameters: { id } })).toMatchObject({ state: 'running' });
    expect(await ended(id)).toMatchObject({ state: 'completed', completed: 3 });
    expect((await results(id)).data[1]!.replayed!.runId).not.toBe(stopped.replayed!.runId);
  });

  test('retries failed runs, and only these', async () => {
    const runIds = await recordRuns(3);
    world.provider.answerWith((call) => (call.bodyText.includes('word 1') ? call.fail(500, 'broken') : answerOf(call)));
    const { id } = await create(runIds, {});
    expect(await ended(id)).toMatchObject({ state: 'completed', completed: 2, failed: 1 });
    const { data, before, after } = await results(id);
    expect(data[1]).toMatchObject({ state: 'failed', failure: expect.any(String), replayed: { status: 'Failed' } });
    expect([before.runs, after.runs]).toEqual([2, 2]);
    world.provider.answerWith((call) => answerOf(call));
    const calls = world.provider.calls.length;
    await client.call(retryReplay, { parameters: { id } });
    expect(await replayThat(id, ({ completed }) => completed === 3)).toMatchObject({ failed: 0 });
    expect(world.provider.calls.length - calls).toBe(1);
  });

  test('can be deleted, and its runs stay', async () => {
    const { id } = await create(await recordRuns(1), {});
    await ended(id);
    const { data } = await results(id);
    await client.call(deleteReplay, { parameters: { id } });
    expect(await client.call(listReplays)).toEqual({ data: [] });
    const replayed = await client.call(readRun, { parameters: { id: data[0]!.replayed!.runId } });
    expect(replayed.status).toBe('Completed');
  });
});

describe('rejects a replay', () => {
  test.each([
    [
      'an unknown run',
      { selection: { runIds: ['11111111-1111-4111-8111-111111111111'] }, target: {} },
      'selection.runIds[0]',
    ],
    [
      'a filter that finds nothing',
      { selection: { filter: { text: 'nothing like it' } }, target: {} },
      'selection.filter',
    ],
    ['no run', { selection: { runIds: [] }, target: {} }, 'selection.runIds'],
    ['an unknown model', { target: { aiSystem: 'Groq', model: 'no-such-model' } }, 'target.model'],
    ['a provider without a model', { target: { aiSystem: 'Groq' } }, 'target.model'],
    ['too many at once', { target: {}, parallel: 17 }, 'parallel'],
  ])('for %s, by name', async (_, change, field) => {
    const runIds = await recordRuns(1);
    const body = { selection: { runIds }, ...change } as ReplayInput;
    await expect(client.call(createReplay, { body })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [expect.objectContaining({ field })],
    });
    expect(await client.call(listReplays)).toEqual({ data: [] });
  });
});
