import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  createBatch,
  exportBatch,
  listBatches,
  readBatchResults,
  readBatchText,
  type BatchInput,
} from '../../shared/contract/moderation-window.ts';
import type { AppError } from '../../shared/app-error.ts';
import type { Client } from '../../renderer/host/client.ts';
import { patience } from '../support/patience.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

const threat = 'I will find you, break your fingers and kill you with a knife, you worthless idiot.';
const onDevice = { kind: 'on-device' } as const;

let host: TestHost;
let client: Client;
/** One conversation of two runs, beside a run of another model. */
const conversationId = randomUUID();
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
  const run = async (promptText: string, content: string, body: Record<string, unknown> = {}) => {
    host.provider.answerWith((call) => call.chatAnswer({ content }));
    const answer = await host.send('in memory', completionCall(host, '/api/completions/sync', { promptText, ...body }));
    expect(answer.status).toBe(200);
  };
  await run('How do I kill a Python process?', threat, { metadata: { conversationId } });
  await run(threat, 'I cannot help with that.', { metadata: { conversationId } });
  await run('Where is the torque table?', 'On page 4.', { aiSystem: 'Groq', model: 'llama3-70b-8192' });
});
afterAll(() => host.close());

type Selection = Omit<Extract<BatchInput['source'], { kind: 'audit' }>, 'kind'>;

/** The texts of an audit selection and the ones of them that are flagged for violence, once every one is judged. */
async function judged(selection: Selection) {
  const body: BatchInput = { name: 'audit', classifiers: [onDevice], source: { kind: 'audit', ...selection } };
  const { id, total } = await client.call(createBatch, { body });
  const batch = await vi.waitFor(async () => {
    const found = (await client.call(listBatches)).data.find((each) => each.id === id)!;
    expect(found).toMatchObject({ state: 'completed', classifiers: [{ done: total, failed: 0 }] });
    return found;
  }, patience);
  const query = { offset: '0', limit: '100' };
  const { results } = await client.call(readBatchResults, { parameters: { id }, query });
  const limit = batch.classifiers[0]!.defaultThresholds.violence;
  const texts = results.map(({ title }) => title);
  return { id, texts, flagged: texts.filter((_, index) => results[index]!.scores[0]![4]! >= limit) };
}

test('classifies the prompts of every run, the conversation with the newest run first', async () => {
  const { texts, flagged } = await judged({ side: 'prompts' });
  expect([texts[0], texts.slice(1).toSorted(), flagged]).toEqual([
    'Where is the torque table?',
    ['How do I kill a Python process?', threat],
    [threat],
  ]);
});

test('classifies the answers of the matches of a filter', async () => {
  expect(await judged({ side: 'answers', filter: { conversationId } })).toMatchObject({
    texts: expect.arrayContaining([threat, 'I cannot help with that.']) as string[],
    flagged: [threat],
  });
  expect(await judged({ side: 'answers', filter: { models: ['llama3-70b-8192'] } })).toMatchObject({
    texts: ['On page 4.'],
    flagged: [],
  });
});

test('classifies the selected conversations, whose texts can be read and exported', async () => {
  const { id, texts } = await judged({ side: 'prompts', conversationIds: [conversationId] });
  expect(texts.toSorted()).toEqual(['How do I kill a Python process?', threat].toSorted());
  const index = texts.indexOf(threat);
  const read = await client.call(readBatchText, { parameters: { id, index: String(index) } });
  expect(read).toEqual({ text: threat });
  const half = { sexual: 0.5, hatred: 0.5, harassment: 0.5, selfHarm: 0.5, violence: 0.5 };
  const { content } = await client.call(exportBatch, {
    parameters: { id },
    body: { format: 'csv', thresholds: [half] },
  });
  expect(content).toContain(threat.split(',')[0]);
});

test('rejects a selection without a text, naming the source', async () => {
  const nobody: Selection = { side: 'prompts', conversationIds: [randomUUID()] };
  const refusal = await judged(nobody).catch((error: unknown) => error as AppError);
  expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ field: 'source' }] });
});

test('no API key can reach batches', async () => {
  const path = '/window/moderation/batches';
  judgeError(await host.send('HTTP/1.1', { path, headers: { authorization: `Bearer ${host.key}` } }), 404);
});
